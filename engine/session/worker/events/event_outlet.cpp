// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/events/event_outlet.h"

#include <algorithm>

namespace engine {

namespace {

/// A recording that starts within a longer answer does not include it.
constexpr std::size_t kAnswerEventsKept = 8192;

bool isPicture(const EventContent& content) {
    return std::holds_alternative<ModelLoadProgress>(content) ||
           std::holds_alternative<PromptProgress>(content) ||
           std::holds_alternative<LensProgress>(content);
}

bool isContext(const EventContent& content) {
    return std::holds_alternative<ModelLoaded>(content) ||
           std::holds_alternative<DecoderChosen>(content) ||
           std::holds_alternative<SettingsChanged>(content) ||
           std::holds_alternative<SamplingChanged>(content) ||
           std::holds_alternative<SpanStarted>(content) ||
           std::holds_alternative<PlanChanged>(content) ||
           std::holds_alternative<ForecastMade>(content) ||
           std::holds_alternative<PhaseChanged>(content) ||
           std::holds_alternative<Statistics>(content);
}

/// Whether this event makes an earlier one obsolete.
bool makesVoid(const EngineEvent& newer, const EngineEvent& earlier) {
    const bool isOfDecoder =
        earlier.as<PlanChanged>() != nullptr || earlier.as<PhaseChanged>() != nullptr;
    const bool isOfModel =
        isOfDecoder || earlier.as<Statistics>() != nullptr || earlier.as<ForecastMade>() != nullptr;
    if (newer.as<ModelLoaded>() != nullptr)
        return isOfModel;
    if (newer.as<ModelUnloaded>() != nullptr)
        return isOfModel || earlier.as<ModelLoaded>() != nullptr;
    if (newer.as<SpanStarted>() != nullptr)
        return earlier.as<Statistics>() != nullptr;
    if (newer.as<DecoderChosen>() != nullptr)
        return isOfDecoder || earlier.as<SettingsChanged>() != nullptr;
    return false;
}

} // namespace

/// The failure of a recording comes behind the event that it could not write.
void EventOutlet::emit(EventContent content, std::uint64_t conversation) {
    const std::chrono::duration<double> time = ForwardClock::now() - m_start;
    EngineEvent event{std::max(0.0, time.count()), std::move(content), conversation};
    note(event);
    const auto recorded = m_recorder ? m_recorder->write(event) : Result<void>();
    if (isPicture(event.content)) {
        const std::size_t kind = event.content.index();
        m_queue.pushReplacing(std::move(event), [=](const EngineEvent& waiting) {
            return waiting.content.index() == kind && waiting.conversation == conversation;
        });
    } else {
        m_queue.push(std::move(event));
    }
    if (!recorded)
        endRecording(recorded.error());
}

/// A model that comes or goes concerns all conversations.
void EventOutlet::note(const EngineEvent& event) {
    Reported& own = m_reported[event.conversation];
    for (auto& [conversation, told] : m_reported)
        if (&told == &own || event.as<ModelLoaded>() != nullptr ||
            event.as<ModelUnloaded>() != nullptr)
            told.noteContext(event);
    if (isContext(event.content))
        own.context.at(event.content.index()) = event;
    own.noteAnswer(event);
}

void EventOutlet::Reported::noteContext(const EngineEvent& event) {
    for (auto& known : context)
        if (known && makesVoid(event, *known))
            known.reset();
}

void EventOutlet::Reported::noteAnswer(const EngineEvent& event) {
    const auto* failed = event.as<EngineFailed>();
    const bool isFailure = failed != nullptr && failed->task == "submit_prompt";
    if (event.as<PromptStarted>() != nullptr)
        answer = {event};
    else if (event.as<PromptFinished>() != nullptr || isFailure)
        answer.clear();
    else if (!answer.empty() &&
             (event.as<TaskRecognised>() != nullptr || event.as<StepFinished>() != nullptr ||
              event.as<TextReleased>() != nullptr || event.as<Statistics>() != nullptr))
        answer.push_back(event);
    if (answer.size() > kAnswerEventsKept)
        answer.clear();
}

Result<void> EventOutlet::startRecording(const std::filesystem::path& path, bool mayOverwrite) {
    endRecording(std::nullopt);
    ENGINE_TRY(RunRecorder recorder, RunRecorder::start(path, mayOverwrite));
    for (const auto& [conversation, told] : m_reported) {
        for (const auto& known : told.context)
            if (known)
                ENGINE_TRY_DO(recorder.write(*known));
        for (const EngineEvent& event : told.answer)
            ENGINE_TRY_DO(recorder.write(event));
    }
    m_recorder.emplace(std::move(recorder));
    emit(RecordingStarted{path.string()});
    return {};
}

void EventOutlet::stopRecording() { endRecording(std::nullopt); }

void EventOutlet::endRecording(std::optional<Error> error) {
    if (!m_recorder)
        return;
    const std::string path = m_recorder->path().string();
    const auto finished = m_recorder->finish();
    m_recorder.reset();
    if (!finished && !error)
        error = finished.error();
    emit(RecordingStopped{path, std::move(error)});
}

} // namespace engine
