// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QList>
#include <QWidget>

#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

/// Says what was just removed from a list and can restore it, the newest first. Hidden while there
/// is nothing to restore. Thread: UI.
class RemovalBar : public QWidget {
    Q_OBJECT

public:
    struct Removal {
        QString text;     ///< "Chat deleted"
        QString full;     ///< the same with the title, for the tip and for screen readers
        QString undoName; ///< of the button, for screen readers
        std::function<void()> undo;
    };

    explicit RemovalBar(const Theme& theme, QWidget* parent = nullptr);

    void add(Removal removal);

    /// Restores the newest one; does nothing if there is none.
    void undo();

    /// The same with its key, before the window's own undo; false for any other event, and if there
    /// is none.
    bool takesUndoKey(QEvent& event);

    bool isEmpty() const { return m_removals.isEmpty(); }

signals:
    /// By its button or by undo().
    void undone();

private:
    void showNewest();
    void restyle();

    const Theme& m_theme;
    QList<Removal> m_removals; ///< oldest first
    QLabel* m_text;
    QPushButton* m_undo;
    QToolButton* m_close;
};

} // namespace ui
