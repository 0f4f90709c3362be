// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/links/recording_link.h"

#include "ui/language/tr.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

using RealClock = std::chrono::steady_clock;

/// Events given out at a time, so that the window stays responsive during a long recording at full
/// speed.
constexpr std::size_t kEventsAtATime = 512;

/// Time per tick that reading ahead may take.
constexpr auto kLookAheadTime = std::chrono::milliseconds(5);
constexpr int kLookAheadEvents = 16; ///< between two looks at the clock

/// No recording holds more events from before its beginning: its context and the answers at work.
constexpr int kMostCarried = 16384;

/// Between the beginning of the first picture and the first question.
constexpr double kLeadSeconds = 1.0;

/// Where a recording begins, in seconds.
struct Beginning {
    double origin = 0.0; ///< time of the event with which it began; carried events come before that
    double show = 0.0;   ///< seconds after it where playing begins
    std::uint64_t conversation = 0; ///< the first that was asked something
};

/// For a file without the time of its beginning, this is the first event's time. Playing begins
/// shortly before the first question, because nothing moves before that.
Beginning beginningOf(const std::filesystem::path& path) {
    auto reader = RunReader::open(path);
    std::optional<double> first;
    std::optional<double> origin;
    std::optional<std::uint64_t> asked;
    bool wasAnswering = false; // when the recording began
    for (int count = 0; reader && count < kMostCarried; ++count) {
        const auto event = reader.value().next();
        if (!event || !event.value())
            break;
        const EngineEvent& found = *event.value();
        if (!first)
            first = found.time;
        if (found.as<RecordingStarted>() != nullptr)
            origin = found.time;
        const bool isQuestion = found.as<PromptStarted>() != nullptr;
        if (isQuestion && !asked)
            asked = found.conversation;
        wasAnswering = wasAnswering || (isQuestion && !origin);
        if (origin && wasAnswering)
            break;
        if (origin && isQuestion)
            return {*origin, std::max(found.time - *origin - kLeadSeconds, 0.0), *asked};
    }
    return {origin.value_or(first.value_or(0.0)), 0.0, asked.value_or(0)};
}

Result<RunReader> openAt(const std::filesystem::path& path, std::uint64_t conversation) {
    ENGINE_TRY(RunReader reader, RunReader::open(path));
    reader.follow(conversation);
    return reader;
}

} // namespace

Result<std::unique_ptr<RecordingLink>>
RecordingLink::open(const std::filesystem::path& path, double speed, Playback::Clock clock) {
    const Beginning beginning = beginningOf(path);
    ENGINE_TRY(RunReader reader, openAt(path, beginning.conversation));
    std::optional<RunReader> scan;
    if (speed > Playback::kAllAtOnce) {
        ENGINE_TRY(RunReader ahead, openAt(path, beginning.conversation));
        scan.emplace(std::move(ahead));
    }
    return std::unique_ptr<RecordingLink>(
        new RecordingLink(path,
                          std::move(reader),
                          std::move(scan),
                          Playback(beginning.origin, speed, std::move(clock), beginning.show),
                          beginning.conversation));
}

/// Reads a little further ahead in the recording, so that nobody waits for a long one. If it is
/// shown all at once, showing it replaces reading ahead.
void RecordingLink::lookAhead() {
    const auto began = RealClock::now();
    for (int count = 1; m_scan; ++count) {
        const auto event = m_scan->next();
        if (!event || !event.value()) {
            m_scan.reset();
            m_playback.endLearning();
            return;
        }
        m_playback.learn(*event.value());
        if (count % kLookAheadEvents == 0 && RealClock::now() - began >= kLookAheadTime)
            return;
    }
}

/// Going back means playing from the beginning: only then are all totals what they were.
bool RecordingLink::takeRewind() {
    if (m_playback.position() >= m_shown)
        return false;
    auto reader = openAt(m_path, m_conversation);
    if (!reader) {
        m_playback.seek(m_shown); // the file is gone; what is on the screen stays
        return false;
    }
    m_reader.emplace(std::move(reader).value());
    m_next.reset();
    m_hasReportedOthers = false;
    m_shown = 0.0;
    m_isAtEnd = false;
    return true;
}

std::vector<EngineEvent> RecordingLink::takeEvents() {
    lookAhead();
    const double until = m_playback.position();
    std::vector<EngineEvent> events;
    while (!m_isAtEnd && events.size() < kEventsAtATime) {
        if (!m_next && !readNext(events))
            break;
        const double time = m_playback.timeOf(*m_next);
        if (time > until)
            break;
        m_shown = std::max(m_shown, time);
        events.push_back(std::move(*m_next));
        m_next.reset();
    }
    tellOthers(events);
    return events;
}

void RecordingLink::tellOthers(std::vector<EngineEvent>& events) {
    if (m_hasReportedOthers || m_reader->otherEvents() == 0)
        return;
    m_hasReportedOthers = true;
    events.push_back({0.0,
                      Note{tr("This recording holds several conversations; the first one is shown. "
                              "swift-run replay lists all of them.")
                               .toStdString()},
                      m_conversation});
}

/// Whether there is a next event: not at the end, nor at a damaged place.
bool RecordingLink::readNext(std::vector<EngineEvent>& events) {
    auto next = m_reader->next();
    const bool isThere = next && next.value();
    if (!next)
        events.push_back({0.0, EngineFailed{next.error(), "replay", 0}});
    if (isThere)
        m_next = std::move(next).value();
    m_isAtEnd = !isThere;
    const bool learnsHere = !m_scan && !m_playback.isLengthKnown();
    if (learnsHere && isThere)
        m_playback.learn(*m_next);
    else if (learnsHere)
        m_playback.endLearning();
    return isThere;
}

} // namespace ui
