// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/round/numbered_plan.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/self_sd/plan_choice.h"

#include <string>

namespace self_sd {

/// Self-SD: drafts with a plan that an offline search has found, verifies with all layers. The
/// confidence threshold that ends a draft is carried over from answer to answer.
/// Source: arXiv 2309.08168; differs: the threshold stays within 0 and 1.
class SelfSdDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;

private:
    SelfSdDecoder(engine::Target target,
                  const SelfSdSettings& settings,
                  engine::SkipSetMemory* memory);

    engine::Result<engine::DecodeStep> round() override;

    const engine::ModelConfig& config() { return m_target.transformer().config(); }

    engine::DraftStopRule& stopRule();
    engine::DraftTerms terms();
    void use(ChosenPlan chosen);

    engine::SelfDrafter m_drafter;
    SelfSdSettings m_settings;
    engine::AdaptiveStopRule m_adaptiveRule;
    engine::ConfidenceStopRule m_fixedRule;
    engine::SkipSetMemory* m_memory;
    std::string m_task;
    engine::NumberedPlan m_plan;
    std::string m_lastNote;
};

} // namespace self_sd
