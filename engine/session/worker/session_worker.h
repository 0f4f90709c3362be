// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/locks/turn_lock.h"
#include "engine/decoding/statistics/task_memory.h"
#include "engine/session/engine_session.h"
#include "engine/session/worker/conversations.h"
#include "engine/session/worker/events/event_outlet.h"
#include "engine/session/worker/session_channels.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

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
    bool takeCommands();
    void takeWaiting();
    void workOnWaiting();
    void workOn(const NumberedCommand& command);
    void serve(Conversation& conversation);
    void workInPause(Conversation& conversation);
    void endPause(Conversation& conversation, const std::optional<std::string>& interrupted);
    void workOnLens();
    Result<bool> useDecoderInPause(Conversation& conversation);
    Result<std::optional<TurnLock::Turn>> takeTurn(const std::stop_token& stop);
    bool attempt(const SessionTask& task, const std::function<Result<void>()>& work);
    void giveUp(const SessionTask& task, Error error);
    void fail(const SessionTask& task, Error error);
    void tellNotes();
    void tellSpan(Conversation& conversation);

    Result<void> handle(const LoadModel& command);
    Result<void> handle(const StopLoading& command);
    Result<void> handle(const UnloadModel& command);
    Result<void> handle(const InspectModel& command);
    Result<void> handle(const CountTokens& command);
    Result<void> handle(const ListTasks& command);
    Result<void> handle(const RenameTask& command);
    Result<void> handle(const ForgetTask& command);
    Result<void> handle(const ListSkipSets& command);
    Result<void> handle(const ChangeSkipSets& command);
    Result<void> handle(const RenameSkipSet& command);
    Result<void> handle(const ImportSkipSets& command);
    Result<void> handle(const ExportSkipSets& command);
    Result<void> handle(const ReadLens& command);
    Result<void> handle(const ReadAttention& command);
    Result<void> handle(const StopLens& command);
    Result<void> handle(const ChooseDecoder& command);
    Result<void> handle(const ChangeSettings& command);
    Result<void> handle(const ChangeSampling& command);
    Result<void> handle(const SubmitPrompt& command);
    Result<void> handle(const CloseConversation& command);
    Result<void> handle(const StopGeneration& command);
    Result<void> handle(const StartRecording& command);
    Result<void> handle(const StopRecording& command);
    Result<void> handle(const TakeTurns& command);

    template <typename Command> Result<void> beginLens(const Command& command);
    Result<TaskMemory> taskMemory() const;
    void tellTasks(std::uint64_t requestId, const TaskLibrary& known, std::string note);
    Result<void> changeTasks(std::uint64_t requestId,
                             const std::function<Result<std::string>(TaskMemory&)>& change);
    Result<SkipSetMemory*> skipSetMemory() const;
    Result<SkipSetMemory> skipSetMemoryOf(const SkipSetOwner& owner) const;
    void tellSkipSets(SkipSetsListed listed);
    void useModel(SessionModel model, const std::string& path);
    void unload();
    void leaveModel();
    DecoderGround ground(std::uint64_t conversation);
    void forgetMemory();
    Result<Conversation*> begun(std::uint64_t id);
    Result<void> makeRoom(Conversation& conversation);
    Result<void> beginPrompt(Conversation& conversation, const SubmitPrompt& command);

    const SessionOptions& m_options;
    SessionChannels& m_channels;
    EventOutlet m_outlet;
    DecoderRegistry m_registry;
    ModelLoader m_loader;
    std::optional<SessionModel> m_model;
    std::unique_ptr<SkipSetMemory> m_memory;      // of the model; null = no skip sets are kept
    std::unique_ptr<SkipSetMemory> m_asideMemory; // the same to read only, for asides
    Conversations m_conversations;                // refers to those above
    LensDesk m_lens;                              // refers to the outlet, and to the model
    std::optional<TurnLock> m_turns;              // none: other processes are not waited for
    std::deque<NumberedCommand> m_waiting;        // taken, but not worked on yet
    SessionTask m_task;                           // of the current command
    std::int64_t m_promptsFinished = 0;
};

} // namespace engine
