// SPDX-License-Identifier: Apache-2.0
#include "engine/base/setting_makers.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/draft_worth.h"
#include "engine/decoding/statistics/step_costs.h"
#include "engine/decoding/target_decoder.h"
#include "engine/decoding/trained/feature_drafter.h"

#include <optional>
#include <utility>

namespace tuned {

using namespace engine;

namespace {

/// The longest draft that can be set.
constexpr int kLongestDraft = 16;

/// Slots behind the context, and the largest draft.
constexpr int kMostNodes = 64;

/// Drafts with the draft adapter alone; without one every step is plain. Verified by the rule
/// Match, so that sampling, too, gives vanilla's own tokens. Source: arXiv 2401.15077.
class TunedDecoder final : public TargetDecoder {
public:
    TunedDecoder(Target target, std::optional<FeatureDrafter> drafter)
        : TargetDecoder(std::move(target))
        , m_drafter(std::move(drafter)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        if (!m_drafter) {
            noteOnce("No draft adapter belongs to this model, so nothing is drafted: tokens come "
                     "one by one.");
            return m_target.begin(prompt, work);
        }
        m_wasOff = false;
        m_drafter->forget();
        const PromptWork watched = m_drafter->watch(m_target, prompt.tokens, work);
        const auto begun = m_target.begin(prompt, watched);
        ENGINE_TRY_DO(m_drafter->take());
        ENGINE_TRY_DO(begun);
        return m_drafter->begin(m_target);
    }

    Result<bool> readAhead(const Prompt& prompt, const PromptWork& work) override {
        if (!m_drafter)
            return m_target.readAhead(prompt, work);
        m_drafter->forget();
        const PromptWork watched = m_drafter->watch(m_target, prompt.tokens, work);
        const auto isRead = m_target.readAhead(prompt, watched);
        ENGINE_TRY_DO(m_drafter->take());
        return isRead;
    }

    Result<SearchReport> configure(const SettingValues& values,
                                   const SettingValues& /*given*/) override {
        ENGINE_TRY_DO(use(values));
        return SearchReport();
    }

    Result<void> use(const SettingValues& values) {
        ENGINE_TRY(m_siblings, SiblingSchedule::parse(textOf(values, "siblings")));
        m_rule = ConfidenceStopRule(numberOf(values, "th"), integerOf(values, "max_draft"));
        return {};
    }

private:
    /// One round: draft, verify, hand over the streams.
    Result<DecodeStep> round() override {
        if (!m_drafter)
            return m_target.verify(Draft::empty({DraftEndReason::Nothing}));
        ENGINE_TRY(Draft drafted, draft());
        const DraftChoice choice = choiceOf("tuned", drafted, m_costs, m_drafter->share(m_target));
        ENGINE_TRY(DecodeStep step, verify(std::move(drafted)));
        step.choice = choice;
        return step;
    }

    Result<DecodeStep> plainRound() override {
        return m_drafter ? verify(Draft()) : m_target.plainStep();
    }

    Result<Draft> draft() {
        ENGINE_TRY(
            Draft made,
            m_drafter->draft(
                m_target, {.siblings = m_siblings, .maxNodes = kMostNodes, .stopRule = &m_rule}));
        if (m_drafter->isOff() && !std::exchange(m_wasOff, true))
            note("The draft adapter gave numbers that are not finite, so it is not used for the "
                 "rest of this answer.");
        return made;
    }

    Result<DecodeStep> verify(Draft drafted) {
        ENGINE_TRY(
            DecodeStep step,
            m_target.verify(std::move(drafted), {.handOuts = m_drafter->handOuts(m_target)}));
        ENGINE_TRY_DO(m_drafter->observe(step));
        m_costs.record(step.verifiedRows, step.verifyMs);
        if (const int passes = step.draft.draftSteps(); passes > 0)
            m_costs.recordDraft(m_drafter->share(m_target), step.draftMs / passes);
        return step;
    }

    std::optional<FeatureDrafter> m_drafter;
    SiblingSchedule m_siblings;
    ConfidenceStopRule m_rule{0.0, 1};
    StepCosts m_costs;
    bool m_wasOff = false;
};

Result<std::unique_ptr<Decoder>> makeTuned(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostNodes));
    std::optional<FeatureDrafter> drafter;
    if (DraftModel* model = context.transformer.draftModel()) {
        ENGINE_TRY(drafter, FeatureDrafter::make(*model, context.contextLength, kLongestDraft));
    }
    auto made = std::make_unique<TunedDecoder>(std::move(target), std::move(drafter));
    ENGINE_TRY_DO(made->use(context.settings));
    return std::unique_ptr<Decoder>(std::move(made));
}

DecoderInfo tunedInfo() {
    DecoderInfo info;
    info.name = "tuned";
    info.title = "Tuned";
    info.summary = "Drafts with a small layer that was trained for this model.";
    info.source = "arXiv 2401.15077";
    info.explanation =
        "A draft adapter is one small layer with weights of its own. It reads what the model's "
        "last layer has just computed, together with the newest token, and names the next one; "
        "then it goes on from its own result. The model checks the whole draft in one pass and "
        "keeps what it would have written itself, so an adapter can change the speed and never "
        "the text. It helps where the adapter was trained well on answers of this very model; "
        "without an adapter for the model every token comes from the model alone.";
    info.hasDraftRatio = false;
    info.settings = {
        stepSetting(integerSetting("max_draft", "Longest draft", 3, {1, kLongestDraft}),
                    "tokens",
                    "A draft has at most this many tokens in a row."),
        stepSetting(numberSetting("th", "Confidence threshold", 0.3, {0.0, 1.0}),
                    "",
                    "A draft ends behind a token that the adapter finds less likely than this."),
        stepSetting(textSetting("siblings", "Siblings", "1,1,1,2"),
                    "",
                    "How many choices of a pass are kept where the first one is likelier than "
                    ".95, .8, .5, and otherwise: four whole numbers from 1 to 64."),
    };
    return info;
}

void registerDecoders(DecoderRegistry& registry) { registry.add(tunedInfo(), &makeTuned); }

} // namespace

} // namespace tuned

ENGINE_DECODER_MODULE(tuned::registerDecoders);
