// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/events/event_outlet.h"

#include <algorithm>

namespace engine {

namespace {

/// A recording that starts within a longer answer does not include it.
constexpr std::size_t kAnswerEventsKept = 8192;

bool isPicture(const EventContent& content) {
    return std::holds_alternative<ModelLoadProgress>(content) ||
           std::holds_alternative<PromptProgress>(content);
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

void EventOutlet::emit(EventContent content) {
    const std::chrono::duration<double> time = ForwardClock::now() - m_start;
    EngineEvent event{std::max(0.0, time.count()), std::move(content)};
    noteContext(event);
    noteAnswer(event);
    record(event);
    if (!isPicture(event.content)) {
        m_queue.push(std::move(event));
        return;
    }
    const std::size_t kind = event.content.index();
    m_queue.pushReplacing(std::move(event), [kind](const EngineEvent& waiting) {
        return waiting.content.index() == kind;
    });
}

void EventOutlet::noteContext(const EngineEvent& event) {
    for (auto& known : m_context)
        if (known && makesVoid(event, *known))
            known.reset();
    if (isContext(event.content))
        m_context.at(event.content.index()) = event;
}

void EventOutlet::noteAnswer(const EngineEvent& event) {
    const auto* failed = event.as<EngineFailed>();
    const bool isFailure = failed != nullptr && failed->task == "submit_prompt";
    if (event.as<PromptStarted>() != nullptr)
        m_answer = {event};
    else if (event.as<PromptFinished>() != nullptr || isFailure)
        m_answer.clear();
    else if (!m_answer.empty() &&
             (event.as<StepFinished>() != nullptr || event.as<TextReleased>() != nullptr ||
              event.as<Statistics>() != nullptr))
        m_answer.push_back(event);
    if (m_answer.size() > kAnswerEventsKept)
        m_answer.clear();
}

Result<void> EventOutlet::startRecording(const std::filesystem::path& path, bool mayOverwrite) {
    endRecording(std::nullopt);
    ENGINE_TRY(RunRecorder recorder, RunRecorder::start(path, mayOverwrite));
    m_recorder.emplace(std::move(recorder));
    for (const auto& known : m_context)
        if (known)
            record(*known);
    for (const EngineEvent& event : m_answer)
        record(event);
    if (m_recorder)
        emit(RecordingStarted{path.string()});
    return {};
}

void EventOutlet::stopRecording() { endRecording(std::nullopt); }

void EventOutlet::record(const EngineEvent& event) {
    if (!m_recorder)
        return;
    const auto written = m_recorder->write(event);
    if (!written)
        endRecording(written.error());
}

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
