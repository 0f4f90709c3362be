// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/stream/stream_report.h"
#include "app/streams/console.h"
#include "engine/session/engine_session.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace app {

/// A session's set-up before the first prompt.
struct StreamSetup {
    engine::LoadModel model;
    engine::ChooseDecoder decoder;
    engine::ChangeSampling sampling;
    engine::StartRecording recording; ///< a .swiftrun file; its path is empty for none
};

/// How prompts are sent.
struct StreamAsking {
    int maxTokens = 0;
    bool isRaw = false;
};

/// Sends the records of a stream through one session, one at a time, and collects its events.
/// Thread: one.
class StreamRun {
public:
    StreamRun(engine::EngineSession& session,
              StreamReport& report,
              const Console& console,
              std::stop_token stop);

    /// Loads the model and chooses the decoder. Errors: those that the session reports; Cancelled.
    engine::Result<void> prepare(StreamSetup setup);

    /// Sends all turns of a record; false if the user has stopped it. A record that fails is
    /// reported and skipped. Errors: NoMemory; a session that no longer answers (Internal).
    engine::Result<bool> ask(const DataPrompt& prompt, const StreamAsking& asking);

    /// Ends the recording and frees the model. Errors: Io if the recording is incomplete.
    engine::Result<void> finish();

private:
    /// Waits until `isDone` returns true for an event; every event is also collected.
    engine::Result<void> await(const std::function<bool(const engine::EngineEvent&)>& isDone);
    void collect(const engine::EngineEvent& event);
    engine::Result<void> send(engine::EngineCommand command);
    template <typename Event> engine::Result<void> perform(engine::EngineCommand command);
    engine::Result<std::optional<engine::PromptFinished>> answer(engine::SubmitPrompt prompt);
    void tell(const std::string& remark);

    engine::EngineSession& m_session;
    StreamReport& m_report;
    const Console& m_console;
    std::stop_token m_stop;
    StatusLine m_status;
    std::optional<engine::Error> m_recordingError;
    std::uint64_t m_promptId = 0;
    bool m_isRecording = false;
};

} // namespace app
