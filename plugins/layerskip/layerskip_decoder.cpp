// SPDX-License-Identifier: Apache-2.0
#include "plugins/layerskip/layerskip_decoder.h"

#include <utility>

namespace layerskip {

using namespace engine;

namespace {

/// A draft never reaches beyond the context, so nothing is needed behind it.
constexpr int kScratchRows = 0;

} // namespace

Result<std::unique_ptr<Decoder>> LayerSkipDecoder::make(LengthMethod method,
                                                        const DecoderContext& context) {
    ENGINE_TRY(const LayerSkipSettings settings,
               LayerSkipSettings::make(method, context.settings, context.transformer.config()));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kScratchRows));
    return std::unique_ptr<Decoder>(new LayerSkipDecoder(method, std::move(target), settings));
}

LayerSkipDecoder::LayerSkipDecoder(LengthMethod method,
                                   Target target,
                                   const LayerSkipSettings& settings)
    : TargetDecoder(std::move(target))
    , m_method(method)
    , m_settings(settings)
    , m_fixedRule(0.0, settings.length)
    , m_finiteStateRule(settings.length, settings.maxLength)
    , m_adaptiveRule(settings.threshold) {}

Result<void> LayerSkipDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(m_target.begin(prompt, work, m_settings.startsFromPrompt ? kPrefillRows : 0));
    stopRule().beginAnswer();
    useExit();
    return {};
}

/// One round: draft in the first layers, verify in the others, learn how long drafts should be.
Result<DecodeStep> LayerSkipDecoder::round() {
    ENGINE_TRY(Draft draft,
               m_drafter.draft(m_target,
                               {.rule = m_settings.rule,
                                .sharesNoise = m_settings.sharesNoise,
                                .maxDepth = m_settings.maxLength,
                                .vocabularyShare = m_settings.vocabularyShare,
                                .stopRule = &stopRule()}));
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(draft), m_settings.rule));
    step.tables.push_back(exitTable());
    stopRule().learn(static_cast<int>(step.path.size()), step.draft.draftSteps());
    return step;
}

Result<SearchReport> LayerSkipDecoder::configure(const SettingValues& values,
                                                 const SettingValues& /*given*/) {
    ENGINE_TRY(m_settings,
               LayerSkipSettings::make(m_method, values, m_target.transformer().config()));
    m_fixedRule = ConfidenceStopRule(0.0, m_settings.length);
    m_finiteStateRule.adopt(m_settings.length, m_settings.maxLength);
    m_adaptiveRule.adopt(m_settings.threshold);
    if (m_target.pending() != kNoToken)
        useExit();
    return takeReport();
}

DraftStopRule& LayerSkipDecoder::stopRule() {
    switch (m_method) {
    case LengthMethod::Fixed:
        return m_fixedRule;
    case LengthMethod::FiniteState:
        return m_finiteStateRule;
    case LengthMethod::Adaptive:
        return m_adaptiveRule;
    }
    return m_fixedRule;
}

void LayerSkipDecoder::useExit() {
    const double leftOut = 1.0 - static_cast<double>(m_settings.exitLayers) / layerCount();
    m_plan.use(exitPlan(layerCount(), m_settings.exitLayers),
               leftOut,
               m_plan.id() == 0 ? "start" : "setting",
               m_report);
    m_drafter.use({.exitLayers = m_settings.exitLayers, .planId = m_plan.id()});
}

/// What the round was drafted with.
StepTable LayerSkipDecoder::exitTable() const {
    StepTable table;
    table.name = "exit";
    table.title = "Early exit";
    table.columns = {"What", "Value"};
    const auto add = [&](const char* what, double value) {
        table.rows.push_back({TableCell(std::string(what)), TableCell(value)});
    };
    add("Exit layer E", m_settings.exitLayers);
    switch (m_method) {
    case LengthMethod::Fixed:
        add("Draft length", m_settings.length);
        break;
    case LengthMethod::FiniteState:
        add("Draft length", m_finiteStateRule.length());
        break;
    case LengthMethod::Adaptive:
        add("Confidence threshold", m_adaptiveRule.threshold());
        add("Smoothed acceptance", m_adaptiveRule.acceptance());
        break;
    }
    return table;
}

} // namespace layerskip

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    using layerskip::LengthMethod;
    for (const LengthMethod method :
         {LengthMethod::Fixed, LengthMethod::FiniteState, LengthMethod::Adaptive})
        registry.add(layerskip::layerSkipInfo(method),
                     [method](const engine::DecoderContext& context) {
                         return layerskip::LayerSkipDecoder::make(method, context);
                     });
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
