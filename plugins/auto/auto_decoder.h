// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/statistics/step_costs.h"
#include "engine/decoding/target_decoder.h"
#include "engine/search/matchness.h"
#include "plugins/auto/auto_settings.h"
#include "plugins/auto/drafters/adapter_drafter.h"
#include "plugins/auto/drafters/plan_drafter.h"
#include "plugins/auto/search/beside_search.h"
#include "plugins/auto/search/plan_search.h"
#include "plugins/auto/search/round_rates.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace automatic {

/// Drafts only when the measured milliseconds say that it pays, and as much as pays: tokens that
/// were seen before, which take no pass, or a chain of passes that leave layers out or run a draft
/// adapter. It learns from every token, drafted or not, what free drafts would give. Drafters that
/// make passes are tried rarely, in a small share of the time. The verify rule is Match, so it
/// emits vanilla's own tokens, also when sampling. plugins/auto/README.md explains how it decides.
class AutoDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<bool> readAhead(const engine::Prompt& prompt,
                                   const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> endAnswer() override;

    std::vector<std::string> storeStatistics() override;

    engine::Result<std::optional<engine::SearchReport>> idle(const std::stop_token& stop) override;

    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;
    engine::Result<void> changeSampling(const engine::SamplingOptions& sampling) override;

private:
    /// A drafter that makes passes, and when it may be tried again if it did not pay.
    struct Entry {
        ChainDrafter* drafter;
        double probeAt = 0.0;  // in m_elapsed
        double interval = 0.0; // between probes
    };

    /// The first pass of so many rows that was made to measure it.
    struct RowPrice {
        int rows = 0;
        double ms = 0.0;
    };

    /// What the next round is drafted with.
    struct Choice {
        engine::Draft free;
        double freeProbability = 0.0; // of the likeliest first token of `free`
        double freeRate = 1.0;        // tokens for the time of a plain step, without draft passes
        Entry* entry = nullptr;       // makes the passes; null: none are made
        engine::DraftChoice reported; // see DecodeStep::choice
    };

    AutoDecoder(engine::Target target, const engine::DecoderContext& context);

    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::DecodeStep> plainRound() override;
    double plainRoundPrice() const;
    bool wantsPlainRound() const;
    engine::Result<engine::DecodeStep> pricingRound();
    engine::Result<engine::DecodeStep> verify(engine::Draft draft);
    Promise bestFree(const engine::Draft& free) const;
    engine::Result<Choice> choose();
    void considerPasses(Choice& choice);
    bool mayProbe(const Entry& entry, const Promise& promise) const;
    engine::Result<engine::Draft> draft(Choice& choice);
    engine::DraftEnd endOfFree(const Choice& choice, int nodes) const;
    void learnRound(const Choice& choice, const engine::DecodeStep& step);
    void learnProbe(Entry& entry, const Choice& choice, double cost);
    void observe(const engine::DecodeStep& step) override;

    engine::Result<void> useAdapter(engine::DraftModel& model, int contextLength);
    engine::Result<void> readPrompt(const engine::Prompt& prompt, const engine::PromptWork& work);
    engine::PromptWork watched(const engine::Prompt& prompt, const engine::PromptWork& work);
    bool adapterPays() const;
    void restOrWakeAdapter();

    bool growsCopy() const;
    void useCopy();
    double makeCopyPiece();
    engine::Result<void> tryCopy();
    engine::Result<void> countCopy();

    engine::Result<void> tryPlans();
    bool isSearching() const;
    bool searchesItself() const;
    void judge();
    int windowLength() const;
    engine::MatchnessWindow newestWindow() const;
    static double believedScore(const engine::Matchness& matchness);
    double trialCost() const;
    double streamCost(int layers);
    engine::Result<void> followStream(int layers);
    bool hasPrices() const;
    bool hasRowPrice() const;
    engine::Result<void> measurePrice();
    engine::Result<double> passMs(const engine::LayerPlan& plan, int rowCount);
    int treeRows();
    double headPart() const;
    PassShares sharesOf(const engine::LayerPlan& plan) const;
    void useHead();
    engine::Result<void> priceOne(double slowdown);
    void spend(double ms);
    void pay(double plainSteps);
    engine::Result<void> tryCandidate(const Candidate& candidate);
    void adopt(const Candidate& candidate, double score);
    void recall(std::string_view task);
    bool grantsTrial(const engine::LayerPlan& plan);
    void remember();

    bool searchesBeside() const;
    engine::Result<void> searchBeside();
    engine::Result<bool> usePause(const std::stop_token& stop);
    engine::Result<void> measureInPause();
    engine::DecoderPhase phaseAtRest() const;
    void forecast();

    bool isEnabled(const Entry& entry) const;

    DraftersWanted wanted() const { return {m_settings.skipsLayers, m_settings.exitsEarly}; }

    engine::FreeDrafter m_free;
    engine::StepCosts m_costs;
    AutoSettings m_settings;
    engine::SkipSetMemory* m_memory;

    PlanDrafter m_skip{"skip"};
    PlanDrafter m_exit{"exit"};
    PlanDrafter m_copy{"copy"};
    std::optional<engine::CopyUse> m_copyUse;  // while the copy is wanted
    std::unique_ptr<AdapterDrafter> m_adapter; // null: the model has none
    std::vector<Entry> m_entries;              // of these four, in this order
    PlanSearch m_search;
    BesideSearch m_beside;
    engine::DraftForecast m_forecast; // the newest that was told
    RoundRates m_rounds;
    // Times are in plain steps unless the name says otherwise.
    Promise m_recent;       // tokens and cost of all rounds, decayed
    double m_elapsed = 0.0; // all rounds together
    double m_purse = 0.0;   // may be spent on trying
    RowPrice m_rowPrice;
    double m_trialCost = 0.0; // of the newest trial; 0 before the first
    double m_copyPurse = 0.0; // may be spent on making the copy
    double m_copyTryAt = 0.0; // when its agreement may be counted again
    bool m_isCopyMade = false;
    bool m_isCopyRefused = false;
    bool m_isCopyLater = false; // it was refused for want of memory
    double m_probeAt = 0.0;     // when a plan may be tried that is not expected to pay
    long m_steps = 0;
    int m_sincePlain = 0; // full passes of several rows behind the newest one of one row
    int m_trials = 0;
    int m_pausePasses = 0;       // made in pauses only to measure them
    double m_pausePlainMs = 0.0; // the fastest plain one of this pause; 0 before it
    bool m_isInPause = false;    // the newest report said that a search goes on in it
    std::uint64_t m_lastPlanId = 0;
    std::string m_task;
    engine::LayerPlan m_stored;               // the task's plan in the memory, as far as we know
    bool m_hasSkipped = false;                // this task has drafted with the skip set in use
    std::vector<engine::LayerPlan> m_granted; // stored plans whose trial was paid for
};

} // namespace automatic
