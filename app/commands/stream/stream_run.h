// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/stream/stream_report.h"
#include "app/data/text_session.h"

#include <optional>
#include <stop_token>
#include <string>

namespace app {

/// How prompts are sent.
struct StreamAsking {
    int maxTokens = 0;
    bool isRaw = false;
    std::stop_token stop = {};
};

/// Sends the records of a stream through one session, one at a time, and collects its events.
/// Thread: one.
class StreamRun {
public:
    StreamRun(TextSession& session,
              StreamReport& report,
              const Console& console,
              StreamAsking asking)
        : m_session(session)
        , m_report(report)
        , m_console(console)
        , m_asking(std::move(asking)) {}

    /// Sends all turns of a record; false if the user has stopped it. A record that no decoder can
    /// take (InvalidInput) is reported and skipped. Errors: the others of a prompt.
    engine::Result<bool> ask(const DataPrompt& prompt);

    /// Clears the status line. Errors: the one with which the recording has ended too early.
    engine::Result<void> finish();

private:
    void collect(const engine::EngineEvent& event);
    engine::Result<std::optional<engine::PromptFinished>> answer(engine::SubmitPrompt prompt);
    void tell(const std::string& line);

    TextSession& m_session;
    StreamReport& m_report;
    const Console& m_console;
    StreamAsking m_asking;
    StatusLine m_status;
    std::optional<engine::Error> m_recordingError;
};

} // namespace app
