// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/view.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace ui {

class Badge;
class LiveLabel;

/// The title of a dock or of a page's part: name, badge, which data this is, the legend, Freeze and
/// More, always at the same place.
class DockTitle : public QWidget {
    Q_OBJECT

public:
    /// `view` may be null: then there is a name only.
    DockTitle(const Theme& theme, const QString& title, View* view, QWidget* parent = nullptr);

    /// Adds a button in front of Freeze.
    void addButton(QToolButton* button);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user asked for what can be done with this view; show it there.
    void menuAsked(const QPoint& globalPlace);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addViewButtons();
    void restyle();
    void showWords();
    void showFreeze();
    void arrangeWords();
    void cutWords();

    const Theme& m_theme;
    View* m_view;
    QHBoxLayout* m_row;
    QLabel* m_name;
    Badge* m_badge;
    LiveLabel* m_subtitle;
    QWidget* m_legend = nullptr;
    QToolButton* m_freeze = nullptr;
    QToolButton* m_more = nullptr;
};

} // namespace ui
