// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/event_outlet.h"

namespace engine {

namespace {

bool isPicture(const EventContent& content) {
    return std::holds_alternative<ModelLoadProgress>(content) ||
           std::holds_alternative<PromptProgress>(content) ||
           std::holds_alternative<Statistics>(content);
}

bool isContext(const EventContent& content) {
    return std::holds_alternative<ModelLoaded>(content) ||
           std::holds_alternative<DecoderChosen>(content) ||
           std::holds_alternative<SettingsChanged>(content) ||
           std::holds_alternative<SamplingChanged>(content) ||
           std::holds_alternative<PlanChanged>(content) ||
           std::holds_alternative<PhaseChanged>(content);
}

/// Whether what an earlier event said no longer holds.
bool makesVoid(const EngineEvent& newer, const EngineEvent& earlier) {
    const bool isOfDecoder =
        earlier.as<PlanChanged>() != nullptr || earlier.as<PhaseChanged>() != nullptr;
    if (newer.as<ModelLoaded>() != nullptr)
        return isOfDecoder;
    if (newer.as<ModelUnloaded>() != nullptr)
        return isOfDecoder || earlier.as<ModelLoaded>() != nullptr;
    if (newer.as<DecoderChosen>() != nullptr)
        return isOfDecoder || earlier.as<SettingsChanged>() != nullptr;
    return false;
}

} // namespace

void EventOutlet::emit(EventContent content) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - m_start;
    EngineEvent event{time.count(), std::move(content)};
    noteContext(event);
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

Result<void> EventOutlet::startRecording(const std::filesystem::path& path) {
    endRecording(std::nullopt);
    ENGINE_TRY(RunRecorder recorder, RunRecorder::start(path));
    m_recorder.emplace(std::move(recorder));
    for (const auto& known : m_context)
        if (known)
            record(*known);
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
