// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/phases/accumulation.h"
#include "engine/adaptation/task_search.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/draft_worth.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/swift/swift_settings.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace swift {

/// SWIFT: drafts with some sublayers skipped, verifies with all, and searches for the skip set on
/// the tokens it has just made. The search state belongs to a task and outlives answers; windows
/// belong to an answer. Source: arXiv 2410.06916.
class SwiftDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> endAnswer() override;
    std::vector<std::string> storeStatistics() override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;
    engine::Result<void> changeSampling(const engine::SamplingOptions& sampling) override;

private:
    SwiftDecoder(engine::Target target,
                 SwiftSettings settings,
                 const engine::DecoderContext& context);

    engine::Result<void> prepareSearch();
    const engine::LayerPlan* provenPlan(double ratio) const;
    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::DecodeStep> plainRound() override;
    engine::Result<void> search();
    engine::Result<engine::Draft> draft();
    void usePlan();
    double passShare() const;
    void observe(const engine::DecodeStep& step);
    void learn(const engine::DecodeStep& step);

    bool draftsFreely() const { return m_learnsFreely && m_settings.draftsFreely; }

    void beginFreely(const engine::Prompt& prompt);

    /// A trial may begin as soon as the one before is paid for.
    bool isTrialAffordable() const {
        return m_settings.searchShare == 0.0 || m_trialCreditMs >= 0.0;
    }

    int outputs() const { return static_cast<int>(m_target.output().size()); }

    engine::Result<void> optimise(int comparisons);
    engine::Result<void> scoreManualSet();
    engine::MatchnessWindow window(int comparisons) const;
    void numberPlans();
    engine::DecoderPhase phase() const;
    void remember();
    engine::SearchReport takeReport() override;

    engine::SelfDrafter m_drafter;
    engine::DraftWorth m_worth;
    engine::StepCosts m_costs;
    std::unique_ptr<engine::FreeDrafter> m_freeDrafter; // null until it is asked for
    engine::SettingValues m_values;                     // what the settings below were made from
    SwiftSettings m_settings;
    engine::SkipSetMemory* m_memory;

    struct TaskState {
        engine::TaskSearch search;
        std::uint64_t planId = 0;
        engine::LayerPlan stored; // what we have stored in the memory
    };

    void rememberOne(const std::string& task, TaskState& state);

    std::map<std::string, TaskState, std::less<>> m_tasks;
    TaskState* m_state = nullptr; // of the present task; null until its start set can be made
    std::string m_task;
    std::uint64_t m_lastPlanId = 0;
    double m_trialCreditMs = 0.0; // below 0: the newest trial is not paid for yet
    std::uint64_t m_answer = 0;
    engine::Accumulation m_accumulation; // of this answer
    bool m_learnsFreely = false;         // in this answer
};

} // namespace swift
