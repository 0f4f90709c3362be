// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/bridge/links/playback.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <array>

namespace ui {

class AnswerBars;
class LiveLabel;
class SegmentedControl;
class TransportButton;

/// Controls a recording: pause, go to a time or by rounds, at one of four speeds. Space plays or
/// pauses, Left and Right move by a round, with Shift by a second, Home and End go to the ends.
/// Thread: UI.
class ReplayTransport : public QWidget {
    Q_OBJECT

public:
    static constexpr std::array kSpeeds = {0.1, 1.0, 4.0, 16.0};
    static constexpr double kSecondsOfShift = 1.0;

    /// The bridge must play a recording; bridge and theme must live longer.
    ReplayTransport(const Theme& theme, EngineBridge& bridge, QWidget* parent = nullptr);

    /// "04:36.4 / 05:38.2".
    QString timeText() const;

    AnswerBars& bars() { return *m_bars; }

    /// Handles the key if it is one of its own; returns whether it was.
    bool takesKey(const QKeyEvent& event);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void togglePlaying();
    void moveBy(double seconds);
    void refresh();
    void restyle();

    const Theme& m_theme;
    Playback& m_playback;
    TransportButton* m_play = nullptr;
    AnswerBars* m_bars;
    LiveLabel* m_time;
    SegmentedControl* m_speeds;
};

} // namespace ui
