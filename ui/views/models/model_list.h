// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QListWidget>

namespace ui {

/// Models below each other, two lines each: Enter or a click opens one, Delete takes it off the
/// list; both are in the context menu, too. Thread: UI.
class ModelList : public QListWidget {
    Q_OBJECT

public:
    /// As high as `rowsShown` rows at most.
    ModelList(const Theme& theme, int rowsShown, QWidget* parent);

    /// Takes the current row off the list.
    virtual void removeCurrent() = 0;

    QSize sizeHint() const override;

signals:
    void opened(const QString& path);

protected:
    void keyPressEvent(QKeyEvent* event) override;

    /// Rows that are dim, or heads, cannot be opened unless the list says otherwise.
    virtual bool canOpen(const QListWidgetItem& item) const;

    /// What the menu says of removeCurrent(), with its letter.
    virtual QString removeText(const QListWidgetItem& item) const;

private:
    void open(const QListWidgetItem* item);
    void showMenu(const QPoint& position);

    const Theme& m_theme;
    int m_rowsShown;
};

} // namespace ui
