// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/learnt/step_costs.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/auto/auto_settings.h"
#include "plugins/auto/plan_drafter.h"
#include "plugins/auto/plan_search.h"
#include "plugins/auto/round_rates.h"

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace automatic {

/// Drafts as much, and only where, the measured milliseconds say that it pays: what has been seen
/// before, which costs no pass, or a chain of passes that leave layers out. What a free draft
/// promises is learnt from every token, also from those that were not drafted; drafters by passes
/// are tried rarely, in a small share of the time. Verified by the rule Match: vanilla's own
/// tokens, sampling too. How it decides is told in plugins/auto/README.md.
class AutoDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> endAnswer() override;

    std::vector<std::string> storeLearnt() override { return m_free.storeAll(); }

    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;
    engine::Result<void> changeSampling(const engine::SamplingOptions& sampling) override;

private:
    /// A drafter by passes, and when it may be tried again while it does not pay.
    struct Entry {
        PlanDrafter drafter;
        double probeAt = 0.0; // plain steps' time
        double interval = 0.0;
    };

    /// What the next round is drafted with.
    struct Choice {
        engine::Draft free;
        double freeProbability = 0.0; // of its likeliest token
        double freeRate = 1.0;        // of the best round without passes
        Entry* entry = nullptr;       // null: no passes
        engine::DraftChoice reported; // see DecodeStep::choice
    };

    AutoDecoder(engine::Target target, const engine::DecoderContext& context);

    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::DecodeStep> plainRound() override;
    Promise bestFree(const engine::Draft& free) const;
    engine::Result<Choice> choose();
    void considerPasses(Choice& choice);
    bool mayProbe(const Entry& entry, const Promise& promise) const;
    engine::Result<engine::Draft> draft(Choice& choice);
    engine::DraftEnd endOfFree(const Choice& choice, int nodes) const;
    void learnRound(const Choice& choice, const engine::DecodeStep& step);
    void learnProbe(Entry& entry, const Choice& choice, double cost);
    void observe(const engine::DecodeStep& step, double verifyShare = 1.0);

    engine::Result<void> tryPlans();
    bool isSearching() const;
    void judge();
    int windowLength() const;
    double trialCost() const;
    bool hasPrices() const;
    bool hasRowPrice() const;
    engine::Result<void> measurePrice();
    void spend(double ms);
    engine::Result<void> tryCandidate(const Candidate& candidate);
    void adopt(const Candidate& candidate, double score);
    void recall(std::string_view task);
    void remember();

    bool isEnabled(const Entry& entry) const;

    DraftersWanted wanted() const { return {m_settings.skipsLayers, m_settings.exitsEarly}; }

    Entry& skip() { return m_entries.front(); }

    const Entry& skip() const { return m_entries.front(); }

    Entry& exit() { return m_entries.back(); }

    engine::FreeDrafter m_free;
    engine::StepCosts m_costs;
    AutoSettings m_settings;
    engine::SkipSetMemory* m_memory;

    std::array<Entry, 2> m_entries; // skip set, early exit
    PlanSearch m_search;
    RoundRates m_rounds;
    Promise m_recent;          // decayed tokens and cost of all rounds
    double m_elapsed = 0.0;    // the time of all rounds, plain steps
    double m_purse = 0.0;      // what may be spent on trying, plain steps
    double m_rowPriceMs = 0.0; // of the first pass made for its time; 0 = none was made
    double m_trialCost = 0.0;  // of the newest one, plain steps; 0 before the first
    double m_probeAt = 0.0;    // when a plan may be tried that is not believed to pay
    long m_steps = 0;
    int m_trials = 0;
    std::uint64_t m_lastPlanId = 0;
    std::string m_task;
    engine::LayerPlan m_stored; // what the memory holds for the task, as far as we know
};

} // namespace automatic
