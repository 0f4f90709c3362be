// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/session/engine_session.h"
#include "engine/session/worker/decoder_slot.h"
#include "engine/session/worker/events/event_outlet.h"
#include "engine/session/worker/session_channels.h"
#include "engine/text/chat_prompt.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

/// The engine's thread of a session: takes commands, sends events. Its loop holds the one `try` of
/// the engine. Thread: engine.
class SessionWorker {
public:
    /// Both must outlive the worker.
    SessionWorker(const SessionOptions& options, SessionChannels& channels);

    /// Works until the commands' queue is closed.
    void run();

private:
    /// The current task, for failures.
    struct Task {
        std::uint64_t number = 0; ///< of its command
        std::string_view name;
        std::uint64_t promptId = 0;
        std::uint64_t requestId = 0;
        std::optional<PromptCount> tooLong = {}; ///< of a prompt that does not fit
    };

    /// Restores the task at its end, so that a later exception counts as the running prompt's
    /// failure.
    class TaskKeeper {
    public:
        explicit TaskKeeper(Task& task)
            : m_task(task)
            , m_kept(task) {}

        ~TaskKeeper() { m_task = m_kept; }

        TaskKeeper(const TaskKeeper&) = delete;
        TaskKeeper& operator=(const TaskKeeper&) = delete;

    private:
        Task& m_task;
        const Task m_kept;
    };

    bool nextCommand(NumberedCommand& command);
    bool workInPause();
    bool useDecoderInPause();
    void takeWaiting();
    void workOn(const NumberedCommand& command);
    void guard(const std::function<void()>& work);
    void attempt(const NumberedCommand& command);
    void fail(Error error);
    void tellRemarks();
    void tellSpan();

    Result<void> handle(const LoadModel& command);
    Result<void> handle(const StopLoading& command);
    Result<void> handle(const UnloadModel& command);
    Result<void> handle(const InspectModel& command);
    Result<void> handle(const CountTokens& command);
    Result<void> handle(const ChooseDecoder& command);
    Result<void> handle(const ChangeSettings& command);
    Result<void> handle(const ChangeSampling& command);
    Result<void> handle(const SubmitPrompt& command);
    Result<void> handle(const StopGeneration& command);
    Result<void> handle(const StartRecording& command);
    Result<void> handle(const StopRecording& command);

    void useModel(SessionModel model, const std::string& path);
    void unload();
    DecoderGround ground();
    double applyWhileRunning();

    const SessionOptions& m_options;
    SessionChannels& m_channels;
    EventOutlet m_outlet;
    DecoderRegistry m_registry;
    ModelLoader m_loader;
    std::optional<SessionModel> m_model;
    std::unique_ptr<SkipSetMemory> m_memory; // of the model; null = no skip sets are kept
    DecoderSlot m_slot;                      // refers to the three above
    std::deque<NumberedCommand> m_waiting;   // taken while a prompt ran, for later
    Task m_task;
    std::int64_t m_promptsFinished = 0;
    std::optional<std::stop_token> m_pause; // behind an answer; ends when the decoder has no work
    double m_searchMsBetween = 0.0;         // for commands between two steps of the running prompt
};

} // namespace engine
