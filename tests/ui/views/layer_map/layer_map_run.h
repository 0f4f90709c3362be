// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/run_events.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/shell/docks/view.h"

#include <QUndoStack>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace support {

/// A decoder that takes a skip set and searches for one.
inline engine::DecoderInfo searchingDecoderInfo() {
    engine::DecoderInfo info;
    info.name = "swift";
    info.title = "SWIFT";
    info.lockedLayers = {0, -1};
    engine::SettingInfo start;
    start.name = "start";
    start.kind = engine::SettingKind::Choice;
    start.initial = std::string("uniform");
    engine::SettingInfo set;
    set.name = "skip_set";
    set.kind = engine::SettingKind::Text;
    set.initial = std::string();
    engine::SettingInfo optimise;
    optimise.name = "optimise";
    optimise.kind = engine::SettingKind::Flag;
    optimise.initial = 1.0;
    engine::SettingInfo gamma;
    gamma.name = "gamma";
    gamma.kind = engine::SettingKind::Integer;
    gamma.initial = 32.0;
    info.settings = {start, set, optimise, gamma};
    return info;
}

inline engine::SettingValues searchingSettings() {
    return {{"start", std::string("uniform")},
            {"skip_set", std::string()},
            {"optimise", 1.0},
            {"gamma", 32.0}};
}

/// The window's memory and bridge with a scripted engine behind it.
struct LayerMapRun {
    ui::Theme theme;
    ui::RunStore store;
    ui::Selection selection;
    QUndoStack undo;
    ScriptedLink* engine = nullptr;
    std::unique_ptr<ui::EngineBridge> bridge;
    int layers = 6;
    std::uint64_t plans = 0;
    int trials = 0;

    explicit LayerMapRun(int layerCount = 6)
        : layers(layerCount) {
        auto link = std::make_unique<ScriptedLink>();
        engine = link.get();
        bridge = std::make_unique<ui::EngineBridge>(std::move(link), store);
        QObject::connect(&selection, &ui::Selection::changed, bridge.get(), [this] {
            bridge->markChanged(ui::Topic::Selection);
        });
    }

    ui::ViewContext context() { return {theme, store, *bridge, selection, undo}; }

    /// Loads a model and chooses the searching decoder.
    void begin() {
        engine::ModelLoaded loaded = loadedModel(layers);
        loaded.decoders = {searchingDecoderInfo()};
        engine->say(loaded);
        engine->say(engine::DecoderChosen{searchingDecoderInfo(), searchingSettings()});
        bridge->tick();
    }

    engine::PlanOutline plan(std::vector<int> attention, std::vector<int> mlp) const {
        return {layers, {std::move(attention), std::move(mlp)}, layers - 1};
    }

    /// A trial of 32 tokens, of which `matches` were predicted.
    void tryPlan(const engine::PlanOutline& candidate,
                 const std::string& kind,
                 int matches,
                 bool isBest) {
        engine::TrialFinished finished = trial(kind, ++trials, matches / 32.0, 1.0, candidate);
        finished.isBest = isBest;
        for (int i = 0; i < 32; ++i)
            finished.ticks.push_back(i < matches ? 1 : 0);
        engine->say(finished);
        if (isBest)
            install(candidate, "better");
    }

    void install(const engine::PlanOutline& outline, const std::string& reason) {
        engine->say(engine::PlanChanged{++plans, outline, 0.45, reason});
    }
};

/// A replay: it takes no commands.
class DeafLink : public ui::EngineLink {
public:
    bool send(engine::EngineCommand) override { return false; }

    std::vector<engine::EngineEvent> takeEvents() override { return std::exchange(waiting, {}); }

    ui::Playback* playback() override { return &m_recording; }

    std::vector<engine::EngineEvent> waiting;

private:
    ui::Playback m_recording{
        0.0, ui::Playback::kAllAtOnce, [] { return std::chrono::steady_clock::time_point{}; }};
};

} // namespace support
