// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QToolButton>

namespace ui {

/// A small button with a drawn sign, sharp at any scale. Thread: UI.
class TransportButton : public QToolButton {
    Q_OBJECT

public:
    enum class Sign { Previous, Play, Pause, Next };

    TransportButton(const Theme& theme, Sign sign, const QString& name, QWidget* parent = nullptr);

    void setSign(Sign sign, const QString& name);

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme& m_theme;
    Sign m_sign;
};

} // namespace ui
