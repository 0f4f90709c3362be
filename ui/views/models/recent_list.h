// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/models/recent_models.h"

#include <QListWidget>

namespace ui {

/// The list of recent models: Enter or a click opens one, Delete removes it from the list. A model
/// whose file is missing says so and can only be removed. Thread: UI.
class RecentList : public QListWidget {
    Q_OBJECT

public:
    RecentList(const Theme& theme, RecentModels& recent, QWidget* parent = nullptr);

    /// Removes the current one from the list.
    void removeCurrent();

    QSize sizeHint() const override;

signals:
    void opened(const QString& path);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fill();
    void showMenu(const QPoint& position);

    const Theme& m_theme;
    RecentModels& m_recent;
};

} // namespace ui
