// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <array>

class QGridLayout;
class QHBoxLayout;
class QSlider;

namespace ui {

class LiveLabel;
class StopCaret;
class TransportButton;

/// Walks through the stops of a round: first, back, play, forward, last, all stops, the speed.
/// Large in front of an audience. Thread: UI.
class WalkTransport : public QWidget {
    Q_OBJECT

public:
    static constexpr std::array kSpeeds = {0.1, 0.25, 0.5, 1.0, 2.0, 4.0};

    explicit WalkTransport(const Theme& theme, QWidget* parent = nullptr);

    void show(const QStringList& stops, int current, bool isPlaying);

    double speed() const;

    /// One step quicker or slower.
    void changeSpeed(int direction);

    StopCaret& caret() { return *m_caret; }

signals:
    void firstAsked();
    void backAsked();
    void playAsked();
    void forwardAsked();
    void lastAsked();
    void stopAsked(int stop);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();
    void showSpeed();

    const Theme& m_theme;
    QGridLayout* m_grid;
    QHBoxLayout* m_buttons;
    TransportButton* m_play = nullptr;
    StopCaret* m_caret;
    QSlider* m_speed;
    LiveLabel* m_speedText;
};

} // namespace ui
