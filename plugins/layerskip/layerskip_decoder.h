// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/exit_drafter.h"
#include "engine/decoding/round/numbered_plan.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/layerskip/finite_state_rule.h"
#include "plugins/layerskip/layerskip_settings.h"

namespace layerskip {

/// LayerSkip: drafts with the first layers, verifies with the others. Three decoders that differ in
/// how long their drafts are. The adaptive threshold is carried over from answer to answer.
/// Source: arXiv 2404.16710; its variants FS and DV: arXiv 2504.05598.
class LayerSkipDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(LengthMethod method, const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;

private:
    LayerSkipDecoder(LengthMethod method, engine::Target target, const LayerSkipSettings& settings);

    engine::Result<engine::DecodeStep> round() override;

    int layerCount() { return m_target.transformer().config().layerCount; }

    engine::DraftStopRule& stopRule();
    void useExit();
    engine::StepTable exitTable() const;

    LengthMethod m_method;
    engine::ExitDrafter m_drafter;
    LayerSkipSettings m_settings;
    engine::ConfidenceStopRule m_fixedRule;
    FiniteStateRule m_finiteStateRule;
    engine::AdaptiveStopRule m_adaptiveRule;
    engine::NumberedPlan m_plan;
};

} // namespace layerskip
