// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/rounds/round_log.h"
#include "engine/session/engine_event.h"
#include "ui/bridge/logs/answer_log.h"
#include "ui/bridge/logs/search_log.h"
#include "ui/bridge/logs/speed_log.h"

#include <QFlags>

#include <optional>
#include <string>
#include <vector>

namespace ui {

/// The parts of a run that can change; a view names those that it shows.
enum class Topic {
    Model = 1,       ///< loaded, unloaded, inspected
    Loading = 2,     ///< progress of loading
    Decoder = 4,     ///< chosen, settings, sampling
    Answers = 8,     ///< prompts and their steps
    Search = 16,     ///< trials, best sets, phases
    Speed = 32,      ///< times of steps
    Context = 64,    ///< how full it is
    Notes = 128,     ///< sentences for the user
    Recording = 256, ///< begun or ended
    Selection = 512, ///< what the user points at (Selection, not RunStore)
};
Q_DECLARE_FLAGS(Topics, Topic)
Q_DECLARE_OPERATORS_FOR_FLAGS(Topics)

/// Everything that happened so far in this run, for all views. Only apply() changes it. Thread: UI.
class RunStore {
public:
    /// Applies an event and returns what it changed.
    Topics apply(const engine::EngineEvent& event);

    /// Forgets everything, because a replay starts again.
    void rewind();

    /// Null while none is loaded.
    const engine::ModelLoaded* model() const { return m_model ? &*m_model : nullptr; }

    /// Null while nothing is being loaded.
    const engine::ModelLoadProgress* loading() const { return m_loading ? &*m_loading : nullptr; }

    /// Null until one was chosen.
    const engine::DecoderInfo* decoder() const { return m_decoder ? &*m_decoder : nullptr; }

    const engine::SettingValues& settings() const { return m_settings; }

    const engine::SamplingOptions& sampling() const { return m_sampling; }

    engine::DecoderPhase phase() const { return m_phase; }

    const AnswerLog& answers() const { return m_answers; }

    /// What belongs to the rounds of these answers besides their steps.
    const engine::RoundLog& rounds() const { return m_rounds; }

    const SearchLog& search() const { return m_search; }

    const SpeedLog& speed() const { return m_speed; }

    /// The layers of a model that the chosen decoder's skip sets never name, ascending.
    std::vector<int> lockedLayers(int layerCount) const;

    const engine::Statistics& statistics() const { return m_statistics; }

    /// The newest sentences, oldest first; at most 200.
    const std::vector<std::string>& notes() const { return m_notes; }

    /// Path of the recording being written; empty when there is none.
    const std::string& recordingPath() const { return m_recordingPath; }

private:
    Topics applyModel(const engine::EngineEvent& event);
    Topics applyDecoder(const engine::EngineEvent& event);
    Topics applyRest(const engine::EngineEvent& event);

    std::optional<engine::ModelLoaded> m_model;
    std::optional<engine::ModelLoadProgress> m_loading;
    std::optional<engine::DecoderInfo> m_decoder;
    engine::SettingValues m_settings;
    engine::SamplingOptions m_sampling;
    engine::DecoderPhase m_phase = engine::DecoderPhase::Plain;
    AnswerLog m_answers;
    engine::RoundLog m_rounds;
    SearchLog m_search;
    SpeedLog m_speed;
    engine::Statistics m_statistics;
    std::vector<std::string> m_notes;
    std::string m_recordingPath;
};

} // namespace ui
