// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/bounded_queue.h"
#include "engine/base/forward_clock.h"
#include "engine/session/engine_event.h"
#include "engine/session/recording/run_recording.h"

#include <array>
#include <chrono>
#include <filesystem>
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

    void emit(EventContent content);

    /// Starts a recording with the current model, decoder, plan and totals, and with the answer in
    /// progress, so that it can be understood on its own. These events have their original times
    /// and come before RecordingStarted. Ends an earlier one. Errors: those of RunRecorder.
    Result<void> startRecording(const std::filesystem::path& path, bool mayOverwrite);

    void stopRecording();

private:
    void record(const EngineEvent& event);
    void noteContext(const EngineEvent& event);
    void noteAnswer(const EngineEvent& event);
    void endRecording(std::optional<Error> error);

    BoundedQueue<EngineEvent>& m_queue;
    const ForwardClock::time_point m_start = ForwardClock::now();
    std::optional<RunRecorder> m_recorder;
    /// The newest model, decoder, settings, sampling, span, plan, forecast, phase and statistics,
    /// by the variant's index.
    std::array<std::optional<EngineEvent>, std::variant_size_v<EventContent>> m_context;
    std::vector<EngineEvent> m_answer; // the answer in progress, from its PromptStarted on
};

} // namespace engine
