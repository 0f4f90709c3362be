// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stream/stream_run.h"

#include <utility>

namespace app {

using namespace engine;

namespace {

/// A prompt's messages without a template.
std::string rawText(const std::vector<PromptMessage>& messages) {
    std::string text;
    for (const PromptMessage& message : messages)
        text += (text.empty() ? "" : "\n") + message.content;
    return text;
}

} // namespace

void StreamRun::collect(const EngineEvent& event) {
    if (const auto* trial = event.as<TrialFinished>())
        m_report.add(*trial);
    else if (const auto* change = event.as<PlanChanged>())
        m_report.add(*change);
    else if (const auto* note = event.as<Note>())
        tell(fmt::format("[{}]", note->text));
    else if (const auto* stopped = event.as<RecordingStopped>(); stopped && stopped->error) {
        m_recordingError = stopped->error;
        tell(stopped->error->message);
    }
}

void StreamRun::tell(const std::string& line) {
    m_status.clear();
    Console::note(line);
}

/// Nothing if the user has stopped it. Errors: those of the prompt.
Result<std::optional<PromptFinished>> StreamRun::answer(SubmitPrompt prompt) {
    auto answered = m_session.ask(
        std::move(prompt), m_asking.stop, [this](const EngineEvent& event) { collect(event); });
    if (!answered && answered.error().code != ErrorCode::Cancelled)
        return std::move(answered).error();
    if (!answered || answered.value().reason == FinishReason::Cancelled)
        return std::optional<PromptFinished>();
    return std::optional(std::move(answered).value());
}

Result<bool> StreamRun::ask(const DataPrompt& prompt) {
    m_report.beginPrompt(prompt);
    m_status.show(fmt::format(
        "prompt {}: {} {}", m_report.prompts() + 1, prompt.record.task, prompt.record.id));
    std::vector<PromptMessage> messages;
    bool isAnswered = false;
    for (const std::string& turn : prompt.record.turns) {
        messages.push_back({"user", turn, {}});
        SubmitPrompt command;
        command.task = prompt.record.task;
        command.taskUse = TaskUse::Learned;
        command.maxTokens = m_asking.maxTokens;
        if (m_asking.isRaw)
            command.text = rawText(messages);
        else
            command.messages = messages;
        auto answered = answer(std::move(command));
        if (!answered && isAnswered && answered.error().code == ErrorCode::InvalidInput)
            break; // the conversation has outgrown the context
        if (!answered && answered.error().code != ErrorCode::InvalidInput)
            return answered.error(); // the other prompts would fail as well
        if (!answered) {
            m_report.addLeftOut();
            tell(fmt::format("{}: line {} was skipped: {}",
                             prompt.file,
                             prompt.record.line,
                             answered.error().message));
            return true;
        }
        if (!answered.value())
            return false;
        m_report.add(*answered.value());
        isAnswered = true;
        messages.push_back({"assistant", answered.value()->text, answered.value()->tokens});
    }
    m_console.jsonLine(m_report.endPrompt());
    return true;
}

Result<void> StreamRun::finish() {
    m_status.clear();
    if (m_recordingError)
        return *m_recordingError;
    return {};
}

} // namespace app
