// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/icons/icons.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QToolButton;
class QVBoxLayout;

namespace ui {

/// The bar at the left: one button for each workspace, and the settings at the bottom.
class ModeBar : public QWidget {
    Q_OBJECT

public:
    explicit ModeBar(const Theme& theme, QWidget* parent = nullptr);

    /// Adds a workspace's button; they are numbered from 0 in this order.
    void addMode(const QString& title, IconName icon);

    void setCurrent(int index);

    int current() const { return m_current; }

signals:
    void chosen(int index);
    void settingsAsked();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Mode {
        QToolButton* button;
        IconName icon;
    };

    QToolButton* makeButton(const QString& title);
    void restyle();

    const Theme& m_theme;
    QVBoxLayout* m_column;
    int widestName() const;

    std::vector<Mode> m_modes;
    Mode m_settings;
    int m_current = 0;
};

} // namespace ui
