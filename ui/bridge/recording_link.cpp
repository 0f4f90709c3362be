// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/recording_link.h"

namespace ui {

namespace {

/// Events handed over at a time, so that a long recording at full speed leaves the window alive.
constexpr std::size_t kEventsAtATime = 512;

} // namespace

engine::Result<std::unique_ptr<RecordingLink>>
RecordingLink::open(const std::filesystem::path& path, double speed, Clock clock) {
    ENGINE_TRY(engine::RunReader reader, engine::RunReader::open(path));
    return std::unique_ptr<RecordingLink>(
        new RecordingLink(std::move(reader), speed, std::move(clock)));
}

std::vector<engine::EngineEvent> RecordingLink::takeEvents() {
    std::vector<engine::EngineEvent> events;
    while (!m_isOver && events.size() < kEventsAtATime) {
        if (!m_next && !readNext(events))
            break;
        if (!isDue(m_next->time))
            break;
        events.push_back(std::move(*m_next));
        m_next.reset();
    }
    return events;
}

/// Whether there is a next event; at the end or at a damaged place there is none.
bool RecordingLink::readNext(std::vector<engine::EngineEvent>& events) {
    auto next = m_reader.next();
    if (!next) {
        events.push_back({0.0, engine::EngineFailed{next.error(), "replay", 0}});
        m_isOver = true;
        return false;
    }
    if (!next.value()) {
        m_isOver = true;
        return false;
    }
    m_next = std::move(next).value();
    return true;
}

bool RecordingLink::isDue(double time) {
    const auto now = m_clock();
    if (!m_start) {
        m_start = now;
        m_firstTime = time;
    }
    if (m_speed <= 0.0)
        return true;
    const double elapsed = std::chrono::duration<double>(now - *m_start).count();
    return elapsed * m_speed >= time - m_firstTime;
}

} // namespace ui
