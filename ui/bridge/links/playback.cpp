// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/links/playback.h"

#include "ui/bridge/logs/answer_log.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ui {

using namespace engine;

Playback::Playback(double origin, double speed, Clock clock, double begin)
    : m_origin(origin)
    , m_speed(speed)
    , m_clock(std::move(clock))
    , m_from(begin)
    , m_since(m_clock()) {}

double Playback::position() const {
    double position = m_from;
    if (m_isPlaying && m_speed <= kAllAtOnce)
        position = std::numeric_limits<double>::infinity();
    else if (m_isPlaying)
        position += m_speed * std::chrono::duration<double>(m_clock() - m_since).count();
    return m_isLengthKnown ? std::min(position, m_length) : position;
}

/// From here on the position counts from now.
void Playback::hold() {
    m_from = position();
    m_since = m_clock();
}

void Playback::play() {
    if (isAtEnd())
        seek(0.0);
    hold();
    m_isPlaying = true;
}

void Playback::pause() {
    hold();
    m_isPlaying = false;
}

void Playback::setSpeed(double speed) {
    hold();
    m_speed = speed;
}

void Playback::seek(double seconds) {
    if (isAtEnd())
        m_isPlaying = false;
    m_from = std::clamp(seconds, 0.0, m_length);
    m_since = m_clock();
}

void Playback::seekRound(int direction) {
    pause();
    if (direction > 0) {
        const auto next = std::ranges::upper_bound(m_rounds, m_from);
        seek(next == m_rounds.end() ? m_length : *next);
    } else {
        const auto next = std::ranges::lower_bound(m_rounds, m_from);
        seek(next == m_rounds.begin() ? 0.0 : *(next - 1));
    }
}

double Playback::timeOf(const EngineEvent& event) const {
    return std::max(event.time - m_origin, 0.0);
}

void Playback::learn(const EngineEvent& event) {
    const double time = timeOf(event);
    m_length = std::max(m_length, time);
    const auto* started = event.as<PromptStarted>();
    if (started != nullptr && started->promptId < kFirstHiddenPrompt)
        m_answers.push_back({started->promptId, started->question, time, time});
    if (event.as<StepFinished>() != nullptr)
        m_rounds.push_back(m_rounds.empty() ? time : std::max(time, m_rounds.back()));
    if (m_answers.empty())
        return;
    std::uint64_t promptId = 0;
    if (const auto* step = event.as<StepFinished>())
        promptId = step->promptId;
    else if (const auto* finished = event.as<PromptFinished>())
        promptId = finished->promptId;
    else
        return;
    if (promptId == m_answers.back().promptId)
        m_answers.back().end = time;
}

} // namespace ui
