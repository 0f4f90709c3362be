// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/bounded_queue.h"
#include "engine/base/forward_clock.h"
#include "engine/session/engine_event.h"
#include "engine/session/recording/run_recording.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace engine {

/// The exit of the engine's events: each gets its time, goes into the recording if there is one,
/// then into the queue; if the queue is full, the engine waits. A failed recording ends, and the
/// run goes on. Thread: engine.
class EventOutlet {
public:
    explicit EventOutlet(BoundedQueue<EngineEvent>& queue)
        : m_queue(queue) {}

    /// `conversation` is the one that the event belongs to; 0 also for the whole session.
    void emit(EventContent content, std::uint64_t conversation = 0);

    /// Recordings that start later say nothing of this conversation.
    void forget(std::uint64_t conversation) { m_reported.erase(conversation); }

    /// Starts a recording with the current model and, for each conversation, its decoder, plan and
    /// totals and the answer in progress, so that it can be understood on its own. These events
    /// have their original times and come before RecordingStarted. Ends an earlier one. Errors:
    /// those of RunRecorder; then nothing is recorded.
    Result<void> startRecording(const std::filesystem::path& path, bool mayOverwrite);

    void stopRecording();

private:
    /// What a recording that starts now has to begin with.
    struct Reported {
        /// The newest model, decoder, settings, sampling, span, plan, forecast, phase and
        /// statistics, by the variant's index.
        std::array<std::optional<EngineEvent>, std::variant_size_v<EventContent>> context;
        std::vector<EngineEvent> answer; // the answer in progress, from its PromptStarted on

        void noteContext(const EngineEvent& event);
        void noteAnswer(const EngineEvent& event);
    };

    void note(const EngineEvent& event);
    void endRecording(std::optional<Error> error);

    BoundedQueue<EngineEvent>& m_queue;
    const ForwardClock::time_point m_start = ForwardClock::now();
    std::optional<RunRecorder> m_recorder;
    std::map<std::uint64_t, Reported> m_reported; // by conversation
};

} // namespace engine
