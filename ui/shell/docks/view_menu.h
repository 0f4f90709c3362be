// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/bars/message_bar.h"
#include "ui/shell/docks/view.h"

class QMenu;

namespace ui {

/// The actions of any view: copy, save, show as table, explain. Files are chosen in a dialog that
/// does not block the window; the message bar says when a file cannot be written.
class ViewMenu : public QObject {
    Q_OBJECT

public:
    /// Both outlive it.
    ViewMenu(const Theme& theme, MessageBar& messages, QWidget* window);

    void popup(View* view, const QPoint& place);

    /// The view below its title, which shows this menu: a part of a page.
    QWidget* titled(View* view, QWidget* parent = nullptr);

    /// The actions of a view, as the menu shows them; for menus elsewhere and for tests.
    void fill(QMenu& menu, View* view);

private:
    enum class Format { Svg, Png, Csv };

    void copyImage(View* view);
    void askToSave(View* view, Format format);
    void showTable(View* view);
    void explain(View* view);

    const Theme& m_theme;
    MessageBar& m_messages;
    QWidget* m_window;
};

/// Writes a view's picture ("svg", "png") or numbers ("csv") by the path's ending, or as
/// `otherwise` says where it has none of these; a sentence for the user on an error, empty when the
/// file is there.
QString saveView(View& view, const QString& path, const QString& otherwise = QStringLiteral("png"));

} // namespace ui
