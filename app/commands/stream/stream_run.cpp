// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stream/stream_run.h"

#include <chrono>
#include <utility>

namespace app {

using namespace engine;

namespace {

constexpr std::chrono::milliseconds kPollInterval(100);

/// A prompt's messages without a template.
std::string rawText(const std::vector<PromptMessage>& messages) {
    std::string text;
    for (const PromptMessage& message : messages)
        text += (text.empty() ? "" : "\n") + message.content;
    return text;
}

} // namespace

StreamRun::StreamRun(EngineSession& session,
                     StreamReport& report,
                     const Console& console,
                     std::stop_token stop)
    : m_session(session)
    , m_report(report)
    , m_console(console)
    , m_stop(std::move(stop)) {}

/// Waits for the event of the command's success, or for one of its failure.
template <typename Event> Result<void> StreamRun::perform(EngineCommand command) {
    std::optional<Error> failure;
    ENGINE_TRY_DO(send(std::move(command)));
    ENGINE_TRY_DO(await([&failure](const EngineEvent& event) {
        if (const auto* failed = event.as<EngineFailed>())
            failure = failed->error;
        // A recording that cannot be written may end before it has begun.
        if (const auto* stopped = event.as<RecordingStopped>(); stopped && stopped->error)
            failure = stopped->error;
        return failure.has_value() || event.as<Event>() != nullptr;
    }));
    if (failure)
        return *failure;
    return {};
}

Result<void> StreamRun::prepare(StreamSetup setup) {
    ENGINE_TRY_DO(perform<ModelLoaded>(std::move(setup.model)));
    ENGINE_TRY_DO(perform<SamplingChanged>(std::move(setup.sampling)));
    ENGINE_TRY_DO(perform<DecoderChosen>(std::move(setup.decoder)));
    if (setup.recording.path.empty())
        return {};
    // Last, so that no other fault destroys an earlier recording.
    ENGINE_TRY_DO(perform<RecordingStarted>(std::move(setup.recording)));
    m_isRecording = true;
    return {};
}

Result<void> StreamRun::send(EngineCommand command) {
    if (!m_session.send(std::move(command)))
        return Error{
            ErrorCode::Internal, "The engine accepts no more commands.", "Please report it."};
    return {};
}

Result<void> StreamRun::await(const std::function<bool(const EngineEvent&)>& isDone) {
    bool isStopped = false;
    while (true) {
        if (m_stop.stop_requested() && !isStopped) {
            isStopped = true;
            m_session.send(StopLoading{});
            m_session.send(StopGeneration{});
        }
        m_session.waitForEvents(kPollInterval);
        bool done = false;
        for (const EngineEvent& event : m_session.takeEvents()) {
            collect(event);
            done = isDone(event) || done;
        }
        if (done)
            return {};
    }
}

void StreamRun::collect(const EngineEvent& event) {
    if (const auto* progress = event.as<ModelLoadProgress>())
        m_status.show(fmt::format("Loading: {} {:.0f} %", progress->stage, progress->part * 100.0));
    else if (const auto* trial = event.as<TrialFinished>())
        m_report.add(*trial);
    else if (const auto* change = event.as<PlanChanged>())
        m_report.add(*change);
    else if (const auto* remark = event.as<Remark>())
        tell(remark->text);
    else if (const auto* stopped = event.as<RecordingStopped>(); stopped && stopped->error) {
        m_recordingError = stopped->error;
        m_isRecording = false;
        tell(stopped->error->message);
    } else if (const auto* loaded = event.as<ModelLoaded>())
        for (const std::string& text : loaded->remarks)
            tell(text);
}

void StreamRun::tell(const std::string& remark) {
    m_status.clear();
    Console::note(remark);
}

/// Nothing if the user has stopped it. Errors: those of the prompt.
Result<std::optional<PromptFinished>> StreamRun::answer(SubmitPrompt prompt) {
    const std::uint64_t id = prompt.promptId = ++m_promptId;
    std::optional<PromptFinished> finished;
    std::optional<Error> failure;
    if (m_stop.stop_requested())
        return finished;
    ENGINE_TRY_DO(send(std::move(prompt)));
    ENGINE_TRY_DO(await([&](const EngineEvent& event) {
        if (const auto* answer = event.as<PromptFinished>(); answer && answer->promptId == id)
            finished = *answer;
        if (const auto* failed = event.as<EngineFailed>(); failed && failed->promptId == id)
            failure = failed->error;
        return finished || failure;
    }));
    if (failure && failure->code != ErrorCode::Cancelled)
        return *failure;
    if (failure || finished->reason == FinishReason::Cancelled)
        return std::optional<PromptFinished>();
    return finished;
}

Result<bool> StreamRun::ask(const DataPrompt& prompt, const StreamAsking& asking) {
    m_report.beginPrompt(prompt);
    m_status.show(fmt::format(
        "prompt {}: {} {}", m_report.prompts() + 1, prompt.record.task, prompt.record.id));
    std::vector<PromptMessage> messages;
    bool isAnswered = false;
    for (const std::string& turn : prompt.record.turns) {
        messages.push_back({"user", turn, {}});
        SubmitPrompt command;
        command.task = prompt.record.task;
        command.maxTokens = asking.maxTokens;
        if (asking.isRaw)
            command.text = rawText(messages);
        else
            command.messages = messages;
        auto answered = answer(std::move(command));
        if (!answered && isAnswered && answered.error().code == ErrorCode::InvalidInput)
            break; // the conversation has outgrown the context
        if (!answered && answered.error().code == ErrorCode::NoMemory)
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
    if (m_isRecording)
        ENGINE_TRY_DO(perform<RecordingStopped>(StopRecording{}));
    // When its model is unloaded, the session reports which statistics could not be stored.
    ENGINE_TRY_DO(perform<ModelUnloaded>(UnloadModel{}));
    if (m_recordingError)
        return *m_recordingError;
    return {};
}

} // namespace app
