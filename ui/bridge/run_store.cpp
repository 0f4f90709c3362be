// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/run_store.h"

#include "ui/language/engine_words.h"

namespace ui {

using namespace engine;

namespace {

constexpr std::size_t kNotesKept = 200;

} // namespace

Topics RunStore::apply(const EngineEvent& event) {
    Topics topics = applyModel(event) | applyDecoder(event) | applyRest(event);
    if (m_answers.apply(event))
        topics |= Topic::Answers;
    m_rounds.apply(event);
    if (m_search.apply(event))
        topics |= Topic::Search;
    if (m_speed.apply(event))
        topics |= Topic::Speed;
    return topics;
}

/// Views follow the speed log by point numbers, so these go on counting.
void RunStore::rewind() {
    SpeedLog speed = std::move(m_speed);
    speed.clear();
    *this = RunStore();
    m_speed = std::move(speed);
}

Topics RunStore::applyModel(const EngineEvent& event) {
    if (const auto* loaded = event.as<ModelLoaded>()) {
        m_model = *loaded;
        for (DecoderInfo& decoder : m_model->decoders)
            decoder = inWindowLanguage(std::move(decoder));
        m_loading.reset();
        m_statistics = {};
        m_statistics.contextLength = loaded->model.contextLength;
        m_phase = DecoderPhase::Plain;
        return Topic::Model | Topic::Loading | Topic::Context;
    }
    if (const auto* progress = event.as<ModelLoadProgress>()) {
        m_loading = *progress;
        return Topic::Loading;
    }
    if (event.as<ModelUnloaded>() != nullptr) {
        m_model.reset();
        m_statistics = {};
        return Topic::Model | Topic::Context;
    }
    if (const auto* failed = event.as<EngineFailed>(); failed && failed->task == "load_model") {
        m_loading.reset();
        return Topic::Loading;
    }
    return {};
}

Topics RunStore::applyDecoder(const EngineEvent& event) {
    if (const auto* chosen = event.as<DecoderChosen>()) {
        m_decoder = inWindowLanguage(chosen->info);
        m_settings = chosen->settings;
        m_phase = DecoderPhase::Plain;
        return Topic::Decoder;
    }
    if (const auto* changed = event.as<SettingsChanged>()) {
        m_settings = changed->settings;
        return Topic::Decoder;
    }
    if (const auto* changed = event.as<SamplingChanged>()) {
        m_sampling = changed->sampling;
        return Topic::Decoder;
    }
    if (const auto* changed = event.as<PhaseChanged>()) {
        m_phase = changed->phase;
        return Topic::Search;
    }
    return {};
}

std::vector<int> RunStore::lockedLayers(int layerCount) const {
    std::vector<int> locked;
    for (int layer = 0; m_decoder && layer < layerCount; ++layer)
        if (m_decoder->isLocked(layer, layerCount))
            locked.push_back(layer);
    return locked;
}

Topics RunStore::applyRest(const EngineEvent& event) {
    if (const auto* statistics = event.as<Statistics>()) {
        m_statistics = *statistics;
        return Topic::Context;
    }
    if (const auto* note = event.as<Note>()) {
        if (m_notes.size() >= kNotesKept)
            m_notes.erase(m_notes.begin());
        m_notes.push_back(note->text);
        return Topic::Notes;
    }
    if (const auto* started = event.as<RecordingStarted>()) {
        m_recordingPath = started->path;
        return Topic::Recording;
    }
    if (event.as<RecordingStopped>() != nullptr) {
        m_recordingPath.clear();
        return Topic::Recording;
    }
    return {};
}

} // namespace ui
