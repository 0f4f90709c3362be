// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ui {

/// An answer of a recording, in seconds of the recording. A plain value.
struct RecordedAnswer {
    std::uint64_t promptId = 0;
    std::string question; ///< empty in older recordings
    double begin = 0.0;
    double end = 0.0;
};

/// The position in a recording and what is known of its course. All times are seconds since the
/// recording began; events from before that count as its beginning. Thread: UI.
class Playback {
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    static constexpr double kAllAtOnce = 0.0; ///< a speed

    /// Starts playing at once, `begin` seconds after the recording's beginning. `origin` is the
    /// time of the event with which the recording began.
    Playback(double origin, double speed, Clock clock, double begin = 0.0);

    /// The events up to this time have been shown, or are about to be.
    double position() const;

    double length() const { return m_length; }

    /// False while the file is still being read: the length grows.
    bool isLengthKnown() const { return m_isLengthKnown; }

    bool isPlaying() const { return m_isPlaying && !isAtEnd(); }

    bool isAtEnd() const { return m_isLengthKnown && position() >= m_length; }

    double speed() const { return m_speed; }

    /// Starts again from the beginning if the end was reached.
    void play();
    void pause();
    void setSpeed(double speed);

    /// Goes to a time within the recording. From the end, playing does not go on.
    void seek(double seconds);

    /// Goes to the end of the next or an earlier round and pauses there; without such a round, goes
    /// to the recording's end or beginning.
    void seekRound(int direction);

    /// Those of the chat, oldest first.
    const std::vector<RecordedAnswer>& answers() const { return m_answers; }

    /// The rounds' ends, ascending.
    const std::vector<double>& rounds() const { return m_rounds; }

    /// When an event happened.
    double timeOf(const engine::EngineEvent& event) const;

    /// Adds the recording's next event to what is known of its course.
    void learn(const engine::EngineEvent& event);

    /// All events have been added.
    void endLearning() { m_isLengthKnown = true; }

private:
    void hold();

    double m_origin;
    double m_speed;
    Clock m_clock;
    bool m_isPlaying = true;
    double m_from = 0.0; ///< the position at m_since
    std::chrono::steady_clock::time_point m_since;
    double m_length = 0.0;
    bool m_isLengthKnown = false;
    std::vector<RecordedAnswer> m_answers;
    std::vector<double> m_rounds;
};

} // namespace ui
