// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/round/numbered_plan.h"
#include "engine/decoding/target_decoder.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::Ids;

namespace {

constexpr int kContext = 60;
const Ids kPrompt = {3, 1, 4, 1, 5};

Transformer& model() {
    static const auto made = support::layeredModel(3, 7);
    return *made;
}

/// Does nothing of its own but speak.
class SpeakingDecoder final : public TargetDecoder {
public:
    explicit SpeakingDecoder(Target target)
        : TargetDecoder(std::move(target)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        return m_target.begin(prompt, work);
    }

    void say(const std::string& sentence) { note(sentence); }

    /// Searches for so long, by a clock of its own.
    Result<int> searchFor(double ms, const Result<int>& found) {
        m_target.useClock([this] { return nowMs; });
        return searched(
            [&] {
                nowMs += ms;
                return found;
            },
            &spentMs);
    }

    double nowMs = 0.0;
    double spentMs = 0.0; ///< of the newest search
    DecoderPhase phase = DecoderPhase::Plain;
    double searchMs = 0.0; ///< of each round

    SearchReport takeReport() override {
        m_report.phase = phase;
        return TargetDecoder::takeReport();
    }

private:
    Result<DecodeStep> round() override {
        m_report.searchMs += searchMs;
        return plainRound();
    }
};

SpeakingDecoder speaking() {
    return SpeakingDecoder(Target::make(model(), {}, kContext, 0).value());
}

SpeakingDecoder begun() {
    SpeakingDecoder decoder = speaking();
    ENGINE_CHECK(decoder.begin({kPrompt}, {}).hasValue(), "the prompt was refused");
    return decoder;
}

using Notes = std::vector<std::string>;

LayerPlan planWithout(int layer) {
    LayerPlan plan = LayerPlan::full(3);
    plan.mlp[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
    return plan;
}

} // namespace

class TargetDecoderTest : public QObject {
    Q_OBJECT

private slots:
    void plainStepsAreVanillasAndTheRoomShrinks();
    void otherSamplingOptionsReachTheTarget();
    void theSearchOfACancelledStepIsNotTheNextAnswers();
    void whatCameUpIsToldOnceByTheNextStep();
    void whatNoStepHasToldTheEndOfTheAnswerTells();
    void aCancelledStepTellsNothingAndForgetsNothing();
    void aDecoderAddsItsPhaseToEveryReport();
    void theTimeOfASearchIsReportedWhateverItGave();
    void eachOtherPlanIsNumberedAndToldOnce();
};

void TargetDecoderTest::plainStepsAreVanillasAndTheRoomShrinks() {
    SpeakingDecoder decoder = begun();
    const int room = decoder.remainingContext();
    QCOMPARE(decoder.cachedTokens(), static_cast<int>(kPrompt.size()) - 1);
    Ids answer;
    for (int made = 1; made <= 8; ++made) {
        const DecodeStep step = decoder.plainStep().value();
        answer.insert(answer.end(), step.tokens.begin(), step.tokens.end());
        QCOMPARE(decoder.cachedTokens(), static_cast<int>(kPrompt.size()) - 1 + made);
        QCOMPARE(decoder.remainingContext(), room - made);
    }
    QCOMPARE(answer, support::vanillaAnswer(model(), kPrompt, 8));
}

void TargetDecoderTest::otherSamplingOptionsReachTheTarget() {
    const SamplingOptions sampling{.temperature = 1.2, .seed = 9};
    SpeakingDecoder decoder = speaking();
    QVERIFY(!decoder.changeSampling({.temperature = -1.0}).hasValue());
    QVERIFY(decoder.changeSampling(sampling).hasValue());
    const auto steps = support::answer(decoder, {.tokens = kPrompt, .maxTokens = 12});
    QCOMPARE(support::tokensOf(steps), support::vanillaAnswer(model(), kPrompt, 12, sampling));
    QVERIFY(support::tokensOf(steps) != support::vanillaAnswer(model(), kPrompt, 12));
}

void TargetDecoderTest::whatCameUpIsToldOnceByTheNextStep() {
    SpeakingDecoder decoder = begun();
    decoder.say("one");
    decoder.say("");
    decoder.say("two");
    QCOMPARE(decoder.plainStep().value().search.notes, (Notes{"one", "two"}));
    QCOMPARE(decoder.plainStep().value().search.notes, Notes());
}

void TargetDecoderTest::whatNoStepHasToldTheEndOfTheAnswerTells() {
    SpeakingDecoder decoder = begun();
    QVERIFY(decoder.step().hasValue());
    decoder.say("late");
    QCOMPARE(decoder.endAnswer().value().notes, Notes{"late"});
    QCOMPARE(decoder.endAnswer().value().notes, Notes());
}

void TargetDecoderTest::aCancelledStepTellsNothingAndForgetsNothing() {
    SpeakingDecoder decoder = speaking();
    std::stop_source source;
    QVERIFY(decoder.begin({kPrompt}, {.stop = source.get_token()}).hasValue());
    decoder.say("waiting");
    source.request_stop();
    QVERIFY(!decoder.plainStep().hasValue());
    QVERIFY(decoder.begin({kPrompt}, {}).hasValue());
    QCOMPARE(decoder.plainStep().value().search.notes, Notes{"waiting"});
}

void TargetDecoderTest::aDecoderAddsItsPhaseToEveryReport() {
    SpeakingDecoder decoder = begun();
    decoder.phase = DecoderPhase::Optimise;
    QCOMPARE(decoder.plainStep().value().search.phase, DecoderPhase::Optimise);
    decoder.phase = DecoderPhase::Accelerate;
    QCOMPARE(decoder.endAnswer().value().phase, DecoderPhase::Accelerate);
}

void TargetDecoderTest::theSearchOfACancelledStepIsNotTheNextAnswers() {
    SpeakingDecoder decoder = speaking();
    decoder.searchMs = 8.0;
    std::stop_source source;
    auto answer = Answer::begin(decoder, {.prompt = kPrompt, .stop = source.get_token()});
    while (answer.value().result().tokens.empty())
        QVERIFY(answer.value().next().value().has_value());
    source.request_stop(); // but the step has begun
    decoder.searchMs = 4.0;
    QCOMPARE(decoder.step().error().code, ErrorCode::Cancelled);
    const auto end = answer.value().next().value();
    QVERIFY(end && std::holds_alternative<AnswerEnd>(*end));
    QCOMPARE(std::get<AnswerEnd>(*end).report.searchMs, 4.0);
    QVERIFY(!answer.value().next().value());
    QCOMPARE(answer.value().result().reason, FinishReason::Cancelled);
    decoder.searchMs = 2.0;
    QVERIFY(decoder.begin({kPrompt}, {}).hasValue());
    QCOMPARE(decoder.step().value().search.searchMs, 2.0);
}

void TargetDecoderTest::theTimeOfASearchIsReportedWhateverItGave() {
    SpeakingDecoder decoder = begun();
    QCOMPARE(decoder.searchFor(3.0, 7).value(), 7);
    QCOMPARE(decoder.spentMs, 3.0);
    QVERIFY(!decoder.searchFor(2.0, Error{ErrorCode::Cancelled, "", ""}).hasValue());
    QCOMPARE(decoder.spentMs, 2.0);
    QCOMPARE(decoder.plainStep().value().search.searchMs, 5.0);
    QCOMPARE(decoder.plainStep().value().search.searchMs, 0.0);
}

void TargetDecoderTest::eachOtherPlanIsNumberedAndToldOnce() {
    NumberedPlan numbered;
    SearchReport report;
    QCOMPARE(numbered.id(), std::uint64_t{0});
    numbered.use(planWithout(1), 0.25, "start", report);
    numbered.use(planWithout(1), 0.25, "again", report);
    QCOMPARE(numbered.id(), std::uint64_t{1});
    numbered.use(planWithout(2), 0.5, "better", report);
    numbered.use(planWithout(1), 0.25, "back", report);
    QCOMPARE(numbered.id(), std::uint64_t{3});
    QVERIFY(numbered.plan() == planWithout(1));
    const auto& changes = report.planChanges;
    QCOMPARE(changes.size(), std::size_t{3});
    const std::vector<LayerPlan> plans = {planWithout(1), planWithout(2), planWithout(1)};
    const Notes reasons = {"start", "better", "back"};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        QCOMPARE(changes[i].planId, i + 1);
        QVERIFY(changes[i].plan == plans[i]);
        QCOMPARE(changes[i].reason, reasons[i]);
        QCOMPARE(changes[i].skipRatio, i == 1 ? 0.5 : 0.25);
    }
    NumberedPlan first; // a plan that is equal to none is reported all the same
    SearchReport empty;
    first.use(LayerPlan(), 0.0, "start", empty);
    QCOMPARE(empty.planChanges.size(), std::size_t{1});
}

QTEST_GUILESS_MAIN(TargetDecoderTest)
#include "target_decoder_test.moc"
