// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QLabel>

namespace ui {

/// A short outlined text beside a title: "live", "next trial". Thread: UI.
class Badge : public QLabel {
    Q_OBJECT

public:
    enum class Tone {
        Quiet,   ///< muted
        Live,    ///< green: at work now
        Current, ///< accent
    };

    Badge(const Theme& theme, const QString& text, Tone tone, QWidget* parent = nullptr);

    Tone tone() const { return m_tone; }

    void setTone(Tone tone);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme& m_theme;
    Tone m_tone;
};

} // namespace ui
