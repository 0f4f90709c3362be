// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QToolButton>

namespace ui {

/// A small button with a drawn sign, sharp at any scale. Thread: UI.
class TransportButton : public QToolButton {
    Q_OBJECT

public:
    enum class Sign { First, Previous, Play, Pause, Next, Last };

    TransportButton(const Theme& theme, Sign sign, const QString& name, QWidget* parent = nullptr);

    void setSign(Sign sign, const QString& name);

    /// Filled, and larger: the one that is used most.
    void setPrimary(bool isPrimary);

    /// Much larger in front of an audience, see Theme::isForAudience().
    void setGrowing(bool isGrowing);

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    bool isLarge() const { return m_isGrowing && m_theme.isForAudience(); }

    const Theme& m_theme;
    Sign m_sign;
    bool m_isPrimary = false;
    bool m_isGrowing = false;
};

} // namespace ui
