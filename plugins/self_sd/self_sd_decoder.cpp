// SPDX-License-Identifier: Apache-2.0
#include "plugins/self_sd/self_sd_decoder.h"

namespace self_sd {

using namespace engine;

namespace {

/// Slots behind the context: for the longest draft and the largest tree that can be set.
constexpr int kScratchRows = 1025;

/// Share of all sublayers that a plan leaves out.
double skipRatioOf(const LayerPlan& plan) {
    const SkipSet set = skipSetOf(plan);
    return static_cast<double>(set.attention.size() + set.mlp.size()) / (2.0 * plan.layerCount());
}

} // namespace

Result<std::unique_ptr<Decoder>> SelfSdDecoder::make(const DecoderContext& context) {
    ENGINE_TRY(const SelfSdSettings settings, SelfSdSettings::make(context.settings));
    // A plan that does not fit is refused now; each answer's task decides which one is used.
    ENGINE_TRY_DO(choosePlan(settings.plan, context.transformer.config(), nullptr, {}));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kScratchRows));
    target.useClock(context.clock);
    return std::unique_ptr<Decoder>(new SelfSdDecoder(std::move(target), settings, context.memory));
}

SelfSdDecoder::SelfSdDecoder(Target target, const SelfSdSettings& settings, SkipSetMemory* memory)
    : TargetDecoder(std::move(target))
    , m_settings(settings)
    , m_adaptiveRule(settings.threshold)
    , m_fixedRule(settings.epsilon, settings.threshold.maxSteps)
    , m_memory(memory) {}

Result<void> SelfSdDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    const std::string task(prompt.task);
    ENGINE_TRY(ChosenPlan chosen, choosePlan(m_settings.plan, config(), m_memory, task));
    ENGINE_TRY_DO(m_target.begin(prompt, work));
    m_task = task;
    use(std::move(chosen));
    m_adaptiveRule.beginAnswer();
    return {};
}

/// One round: draft until the threshold says stop, verify, move the threshold.
Result<DecodeStep> SelfSdDecoder::round() {
    ENGINE_TRY(Draft draft, m_drafter.draft(m_target, terms()));
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(draft), m_settings.draft.rule));
    stopRule().learn(static_cast<int>(step.path.size()), step.draft.draftSteps());
    return step;
}

Result<SearchReport> SelfSdDecoder::configure(const SettingValues& values,
                                              const SettingValues& /*given*/) {
    ENGINE_TRY(const SelfSdSettings next, SelfSdSettings::make(values));
    ENGINE_TRY(ChosenPlan chosen, choosePlan(next.plan, config(), m_memory, m_task));
    if (next.plan != m_settings.plan && m_target.pending() != kNoToken)
        use(std::move(chosen));
    m_adaptiveRule.adopt(next.threshold);
    m_fixedRule = ConfidenceStopRule(next.epsilon, next.threshold.maxSteps);
    m_settings = next;
    return takeReport();
}

DraftStopRule& SelfSdDecoder::stopRule() {
    if (m_settings.isDynamic)
        return m_fixedRule;
    return m_adaptiveRule;
}

DraftTerms SelfSdDecoder::terms() {
    DraftTerms made = m_settings.draft;
    if (made.maxNodes == 0)
        made.maxNodes = m_target.preferredNodes();
    made.stopRule = &stopRule();
    return made;
}

void SelfSdDecoder::use(ChosenPlan chosen) {
    if (chosen.note != m_lastNote)
        note(chosen.note);
    m_lastNote = std::move(chosen.note);
    const double ratio = skipRatioOf(chosen.plan);
    m_plan.use(std::move(chosen.plan), ratio, std::move(chosen.source), m_report);
    if (m_drafter.planId() != m_plan.id())
        m_drafter.use(m_plan.plan(), m_plan.id());
}

} // namespace self_sd

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(self_sd::selfSdInfo(), &self_sd::SelfSdDecoder::make);
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
