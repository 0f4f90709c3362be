// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/task_search.h"
#include "engine/decoding/statistics/step_costs.h"
#include "engine/decoding/target.h"
#include "plugins/auto/search/round_replay.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace automatic {

/// Who found a set that has never been drafted with, in the memory of skip sets.
inline constexpr std::string_view kBesideFinder = "auto, beside";

/// SWIFT's search, run beside Auto's own drafts where these do not skip layers: it shows which
/// layers the model could do without, and SWIFT can begin with what it finds. Its trials are paid
/// from a purse that fills with kShare of the decoding time, and from which Auto's own trying is
/// paid as well; in the pause behind an answer they are free, one pass at a time, until the search
/// is over. It belongs to a task and outlives answers.
/// Thread: engine.
class BesideSearch {
public:
    static constexpr double kShare = 0.02; ///< of the decoding time

    explicit BesideSearch(const engine::ModelConfig& config)
        : m_config(config) {}

    /// An answer begins; its window is a new one. `memory` outlives it; null: nothing is recalled
    /// or stored.
    void begin(std::string_view task, engine::SkipSetMemory* memory);

    /// A round took so long.
    void earn(double ms) { m_purseMs += kShare * ms; }

    /// Auto has spent so much on trying plans of its own.
    void pay(double ms) { m_purseMs -= ms; }

    /// A trial if the purse pays for it; `costs` say what it will take. Errors: those of a pass.
    engine::Result<void>
    advance(engine::Target& target, const engine::StepCosts& costs, engine::SearchReport& report);

    /// One pass of the search on this answer, whatever the purse holds. Returns whether there was
    /// one to make. Errors: those of a pass; Cancelled.
    engine::Result<bool> usePause(engine::Target& target,
                                  const engine::StepCosts& costs,
                                  const std::stop_token& stop,
                                  engine::SearchReport& report);

    /// Whether the answer is long enough for a window.
    static bool hasWindow(const engine::Target& target);

    /// Nothing more will be tried for this task.
    bool isOver() const { return m_state != nullptr && m_state->search.isOver(); }

    /// The best set so far of this task, once it was scored; null before.
    const engine::LayerPlan* best() const;

    /// What best() drafts on tokens that it was not chosen by; null before such were seen.
    const Replay* replay() const;

    /// Stores the sets of all tasks that this run has found, SWIFT's as well as Auto's to begin
    /// with. Returns sentences for the user about what could not be stored.
    std::vector<std::string> store();

private:
    struct TaskState {
        engine::TaskSearch search;
        engine::LayerPlan stored;        // what the memory holds, as far as we know
        engine::LayerPlan replayed = {}; // that `replay` is of
        Replay replay = {};
        engine::DraftWorth worth = {}; // of these rounds
        std::uint64_t lastReplay = 0;  // the answer of the newest one
    };

    engine::Result<void> prepare(engine::Target& target, engine::SearchReport& report);
    engine::Result<void> tryOne(engine::Target& target,
                                int comparisons,
                                const std::stop_token& stop,
                                engine::SearchReport& report);
    bool mustReplay(engine::Target& target) const;
    engine::Result<void> replayBest(engine::Target& target, const engine::StepCosts& costs);
    double expectedMs(const engine::StepCosts& costs, int rows) const;
    std::string storeOne(const std::string& task, TaskState& state);

    const engine::ModelConfig& m_config;
    engine::SkipSetMemory* m_memory = nullptr;
    std::map<std::string, TaskState, std::less<>> m_tasks;
    TaskState* m_state = nullptr; // of the present task; null until the first influence is known
    std::string m_task;
    double m_purseMs = 0.0;
    double m_msPerRow = 0.0; // of the dearest trial beside an answer
    std::uint64_t m_answer = 0;
};

} // namespace automatic
