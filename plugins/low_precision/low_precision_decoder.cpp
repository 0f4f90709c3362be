// SPDX-License-Identifier: Apache-2.0
#include "engine/base/setting_makers.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/draft_settings.h"
#include "engine/decoding/drafts/draft_worth.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/round/numbered_plan.h"
#include "engine/decoding/statistics/step_costs.h"
#include "engine/decoding/target_decoder.h"
#include "engine/model/weight_share.h"

#include <stop_token>

namespace low_precision {

using namespace engine;

namespace {

/// The longest draft that can be set, and slots behind the context.
constexpr int kLongestDraft = 32;

/// Drafts with a copy of the weights in 4 bits and verifies with the weights themselves, by the
/// rule Match. Until the copy is complete, and where there can be none, steps are plain.
/// Source: arXiv 2503.13565; differs: a scale and a minimum for 32 weights, and one level of
/// drafts.
class LowPrecisionDecoder final : public TargetDecoder {
public:
    LowPrecisionDecoder(Target target, const SettingValues& values)
        : TargetDecoder(std::move(target))
        , m_copyUse(m_target.transformer())
        , m_copyPlan(LayerPlan::copy(m_target.transformer().config().layerCount)) {
        use(values);
    }

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        ENGINE_TRY_DO(m_target.begin(prompt, work));
        m_isRefused = false; // there may be more memory now
        if (m_isReady)
            reportPlan();
        return {};
    }

    Result<SearchReport> configure(const SettingValues& values,
                                   const SettingValues& /*given*/) override {
        use(values);
        return SearchReport();
    }

    /// The pause makes what is missing of the copy.
    Result<std::optional<SearchReport>> idle(const std::stop_token& /*stop*/) override {
        if (!growsCopy())
            return std::optional<SearchReport>();
        makePiece();
        return std::optional(takeReport());
    }

private:
    void use(const SettingValues& values) {
        m_vocabularyShare = numberOf(values, "draft_vocabulary");
        m_rule = ConfidenceStopRule(numberOf(values, "epsilon"), integerOf(values, "max_draft"));
    }

    /// One round: draft with the copy, verify with the weights. A copy that is not complete yet
    /// grows by one piece.
    Result<DecodeStep> round() override {
        if (growsCopy())
            makePiece();
        ENGINE_TRY(Draft drafted, draft());
        const DraftChoice choice = choiceFor(drafted);
        ENGINE_TRY(DecodeStep step, m_target.verify(std::move(drafted)));
        step.choice = choice;
        observe(step);
        return step;
    }

    bool growsCopy() const { return !m_isReady && !m_isRefused; }

    Result<Draft> draft() {
        if (!m_isReady)
            return Draft::empty({DraftEndReason::Nothing});
        return m_drafter.draft(m_target,
                               {.vocabularyShare = m_vocabularyShare, .stopRule = &m_rule});
    }

    DraftChoice choiceFor(const Draft& drafted) const {
        return m_isReady ? choiceOf("copy", drafted, m_costs, passShare()) : DraftChoice();
    }

    /// A copy that cannot be made is told once and asked for again by the next answer.
    void makePiece() {
        const auto isComplete = searched([this] { return m_target.transformer().makeCopyPiece(); });
        if (!isComplete) {
            m_isRefused = true;
            noteOnce(isComplete.error().message);
            return;
        }
        m_isReady = isComplete.value();
        if (m_isReady)
            reportPlan();
    }

    void reportPlan() {
        m_plan.use(m_copyPlan, 0.0, "copy", m_report);
        m_drafter.use(m_copyPlan, m_plan.id());
    }

    double passShare() const {
        const Transformer& transformer = m_target.transformer();
        return weightShare(
            m_copyPlan, transformer, DraftHead::keptShare(transformer, m_vocabularyShare));
    }

    void observe(const DecodeStep& step) override {
        m_costs.record(step.verifiedRows, step.verifyMs);
        if (const int passes = step.draft.draftSteps(); passes > 0)
            m_costs.recordDraft(passShare(), step.draftMs / passes);
    }

    CopyUse m_copyUse;
    SelfDrafter m_drafter;
    LayerPlan m_copyPlan;
    NumberedPlan m_plan;
    ConfidenceStopRule m_rule{0.0, 1};
    StepCosts m_costs;
    double m_vocabularyShare = 1.0;
    bool m_isReady = false;   // the copy is complete
    bool m_isRefused = false; // by this answer
};

Result<std::unique_ptr<Decoder>> makeLowPrecision(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kLongestDraft));
    return std::unique_ptr<Decoder>(
        std::make_unique<LowPrecisionDecoder>(std::move(target), context.settings));
}

DecoderInfo lowPrecisionInfo() {
    DecoderInfo info;
    info.name = "low_precision";
    info.title = "Low precision";
    info.summary = "Drafts with a copy of the model's weights in 4 bits and verifies with the "
                   "weights themselves.";
    info.source = "arXiv 2503.13565";
    info.explanation =
        "Reading weights is what takes the time of a token. A copy of them in 4 bits is read in "
        "about a third of the time of bfloat16 or float16, and names the same token most of the "
        "time. So the copy drafts a few tokens one after the other, and the model with its own "
        "weights checks them all in one pass: the text is exactly that of the full weights. It "
        "helps models that are held in 16 or 32 bits and costs about a third more memory; twice "
        "the copy must be free. Weights that are held in 4 or 8 bits already save too little. "
        "Where only speed counts, a 4-bit file of the model is faster still, and writes its own "
        "text.";
    info.hasDraftRatio = false;
    info.settings = {
        longestDraftSetting(6, kLongestDraft),
        stepSetting(numberSetting("epsilon", "Confidence threshold ε", 0.4, {0.0, 1.0}),
                    "",
                    "A draft ends behind a token that the copy finds less likely than this."),
        draftVocabularySetting(kDraftVocabulary),
    };
    return info;
}

void registerDecoders(DecoderRegistry& registry) {
    registry.add(lowPrecisionInfo(), &makeLowPrecision);
}

} // namespace

} // namespace low_precision

ENGINE_DECODER_MODULE(low_precision::registerDecoders);
