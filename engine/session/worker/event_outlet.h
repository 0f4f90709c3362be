// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/bounded_queue.h"
#include "engine/base/forward_clock.h"
#include "engine/session/engine_event.h"
#include "engine/session/run_recording.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

namespace engine {

/// Where the engine's events leave: each gets its time, goes into the recording if there is one,
/// then to the queue; a full queue lets the engine wait. A recording that fails ends, the run goes
/// on. Thread: engine.
class EventOutlet {
public:
    explicit EventOutlet(BoundedQueue<EngineEvent>& queue)
        : m_queue(queue) {}

    void emit(EventContent content);

    /// Begins a recording with what is known of model, decoder, plan and sums, and with the answer
    /// that is being made, so that it can be understood without what came before; these carry the
    /// times at which they happened and stand before RecordingStarted. Ends an earlier one.
    /// Errors: those of RunRecorder.
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
    /// The newest model, decoder, settings, sampling, span, plan, phase and statistics, by the
    /// variant's index.
    std::array<std::optional<EngineEvent>, std::variant_size_v<EventContent>> m_context;
    std::vector<EngineEvent> m_answer; // the one being made, from its PromptStarted on
};

} // namespace engine
