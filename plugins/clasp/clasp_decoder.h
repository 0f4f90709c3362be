// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/phases/settlement.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/round/numbered_plan.h"
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/decoding/target_decoder.h"
#include "engine/search/matchness.h"
#include "plugins/clasp/clasp_settings.h"
#include "plugins/clasp/plan_choice.h"
#include "plugins/clasp/sublayer_costs.h"

#include <optional>
#include <string>
#include <vector>

namespace clasp {

/// CLaSp and KnapSpec: draft without the parts of the network that change the newest token's stream
/// least, which a dynamic programme finds anew every so many rounds. CLaSp leaves out so many whole
/// layers and never asks a clock; KnapSpec leaves out sublayers and chooses the set that promises
/// the most speed by measured costs. plugins/clasp/README.md shows the rounds.
/// Source: arXiv 2505.24196, 2602.20217; differs: first and last layer always run, and a set is
/// checked on tokens that the programme did not see before it replaces another.
class ClaspDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(Method method, const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> endAnswer() override;
    std::vector<std::string> storeStatistics() override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;

private:
    /// The set in use.
    struct Present {
        Promising set;
        double score = 0.0;     ///< matchness; 0 before it was checked
        bool isChecked = false; ///< in this task
    };

    ClaspDecoder(Method method,
                 engine::Target target,
                 const ClaspSettings& settings,
                 const engine::DecoderContext& context);

    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::Draft> draft();
    void observe(const engine::DecodeStep& step) override;
    engine::SearchReport takeReport() override;

    bool isDue() const;
    engine::Result<void> update();
    engine::Result<std::vector<engine::StreamPoint>> front();
    Promising promising(const engine::StreamPoint& point) const;
    engine::Result<void> check(std::vector<Promising> sets);
    engine::Result<engine::Matchness> score(const engine::LayerPlan& plan);
    void reportTrial(const Promising& set, engine::Matchness matchness, double ms, bool isNew);
    void adopt(Promising set, std::optional<double> score);
    void usePresent(std::string reason);
    void watch(const engine::DecodeStep& step);
    void remember(bool mayCount);
    bool countsMoreThan(const engine::StoredSkipSet& stored);
    engine::StepTable frontTable(const std::vector<Promising>& sets) const;

    int windowLength() const;

    const engine::ModelConfig& config() { return m_target.transformer().config(); }

    Method m_method;
    ClaspSettings m_settings;
    engine::SkipSetMemory* m_memory;
    std::string m_task;
    engine::SelfDrafter m_drafter;
    engine::NumberedPlan m_plan;
    std::optional<Present> m_present;
    std::optional<Present> m_before; // the one before it
    SublayerCosts m_sublayers;
    engine::StepCosts m_costs;
    AcceptanceByLoss m_byLoss;
    engine::AcceptanceWatch m_watch;
    std::vector<engine::StepTable> m_tables; // for the next step
    long m_rounds = 0;
    long m_updateAt = 0;                   // in rounds
    engine::Position m_lengthAtUpdate = 0; // tokens that were cached
    int m_trials = 0;
    engine::LayerPlan m_settled; // stored for this task, or found to be no better than what is
};

} // namespace clasp
