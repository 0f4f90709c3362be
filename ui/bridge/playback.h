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

/// Where a recording is being played and what is known of its course. All times are seconds since
/// the recording began; what happened before that counts as its beginning. Thread: UI.
class Playback {
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    static constexpr double kAllAtOnce = 0.0; ///< a speed

    /// Plays at once. `origin` is the time of the event with which the recording began.
    Playback(double origin, double speed, Clock clock);

    /// The events up to here have been shown, or are about to be.
    double position() const;

    double length() const { return m_length; }

    /// False while the file is still being looked through: the length grows.
    bool isLengthKnown() const { return m_isLengthKnown; }

    bool isPlaying() const { return m_isPlaying && !isAtEnd(); }

    bool isAtEnd() const { return m_isLengthKnown && position() >= m_length; }

    double speed() const { return m_speed; }

    /// Begins again from the beginning where the end was reached.
    void play();
    void pause();
    void setSpeed(double speed);

    /// Goes to a moment, within the recording; from its end, without playing on.
    void seek(double seconds);

    /// To the end of the next or an earlier round, and stays there; to the recording's end or
    /// beginning where there is no such round.
    void seekRound(int direction);

    /// Oldest first.
    const std::vector<RecordedAnswer>& answers() const { return m_answers; }

    /// The rounds' ends, ascending.
    const std::vector<double>& rounds() const { return m_rounds; }

    /// When an event happened.
    double timeOf(const engine::EngineEvent& event) const;

    /// Takes the recording's next event into what is known of its course.
    void learn(const engine::EngineEvent& event);

    /// All events are learnt.
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
