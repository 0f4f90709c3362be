// SPDX-License-Identifier: Apache-2.0
// The trainer through its module: it learns, repeats itself, goes on from a state, and refuses what
// it must refuse.
#include "tests/plugins/trainer_torch/trainer_support.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace engine;
using trainer_support::hitsOn;
using trainer_support::makeTrainer;
using trainer_support::OwnedText;

namespace {

constexpr int kHidden = 32;
constexpr int kVocab = 48;
const StepTerms kTerms = {.rate = 5e-3, .streamLoss = 0.5, .overlap = 0.2};

TrainerPlan tinyPlan() {
    TrainerPlan plan;
    plan.sizes = {.hiddenSize = kHidden,
                  .headCount = 4,
                  .kvHeadCount = 2,
                  .headDim = 8,
                  .mlpSize = 64,
                  .layerCount = 1,
                  .window = 8,
                  .normEpsilon = 1e-5,
                  .ropeTheta = 10000.0};
    plan.headIds.resize(kVocab);
    std::iota(plan.headIds.begin(), plan.headIds.end(), 0);
    plan.averaging = 0.9;
    plan.seed = 17;
    plan.threads = 2;
    return plan;
}

TrainerModel tinyModel() {
    std::mt19937 random(31);
    return trainer_support::randomModel(kHidden, kVocab, random);
}

/// Sentences in which each token has one follower, which the streams tell as those of a model do.
std::vector<OwnedText> sentences(const TrainerModel& model, int count) {
    std::mt19937 random(5);
    std::vector<TokenId> next(kVocab);
    std::iota(next.begin(), next.end(), 0);
    std::shuffle(next.begin(), next.end(), random);
    std::vector<OwnedText> texts;
    for (int i = 0; i < count; ++i) {
        OwnedText text = trainer_support::randomText(20, 4, kHidden, kVocab, random);
        for (std::size_t row = 0; row < text.tokens.size(); ++row) {
            if (row > 0)
                text.tokens[row] = next[toSize(text.tokens[row - 1])];
            const TokenId follower = next[toSize(text.tokens[row])];
            text.teacher[row] = trainer_support::teacherOf(follower, kVocab, 0.9);
            for (std::size_t at = 0; at < kHidden; ++at) {
                float& number = text.streams[row * kHidden + at];
                number = 0.1F * number + model.head[toSize(follower) * kHidden + at];
            }
        }
        texts.push_back(std::move(text));
    }
    return texts;
}

/// Fails by exception.
StepLosses stepOn(Trainer& trainer, const std::vector<OwnedText>& texts, StepTerms terms = kTerms) {
    const auto made = trainer.step(trainer_support::shown(texts), terms);
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return made.value();
}

bool areLearnt(const DraftHits& hits) {
    for (std::size_t depth = 0; depth < hits.tried.size(); ++depth)
        if (static_cast<double>(hits.hits[depth]) < 0.98 * static_cast<double>(hits.tried[depth]))
            return false;
    return true;
}

} // namespace

class TrainerStepsTest : public QObject {
    Q_OBJECT

private slots:
    void itStartsFromTheModelsLastLayer();
    void itStartsFromTheWeightsOfThePlan();
    void itLearnsSentencesByHeart();
    void twoRunsHaveTheSameBits();
    void aRestoredStateGoesOnWithTheSameBits();
    void lossesDoNotDependOnHowTextsShareAStep();
    void bfloat16ComesClose();
    void textsWithoutAnswersChangeNothing();
    void aLossThatIsNotFiniteChangesNothing();
    void aStepThatIsStoppedChangesNothing();
    void foreignStatesAreRefused_data();
    void foreignStatesAreRefused();
    void plansThatDoNotFitAreRefused();
};

void TrainerStepsTest::itStartsFromTheModelsLastLayer() {
    const TrainerPlan plan = tinyPlan();
    TrainerModel model = tinyModel();
    std::mt19937 random(3);
    model.finalNorm = trainer_support::normals(kHidden, 1.0F, random);
    for (const auto& [network, tensor] : adapterTensors(plan.sizes))
        if (tensor.name.starts_with("layer.0."))
            model.lastLayer[tensor.name] = trainer_support::normals(
                std::accumulate(tensor.shape.begin(),
                                tensor.shape.end(),
                                std::size_t{1},
                                [](std::size_t count, std::uint64_t size) {
                                    return count * static_cast<std::size_t>(size);
                                }),
                0.2F,
                random);
    const NamedArrays begun = makeTrainer(plan, model)->result();
    QCOMPARE(begun.size(), adapterTensors(plan.sizes).size());
    for (const auto& [name, values] : model.lastLayer)
        QVERIFY(begun.at(name) == values);
    QVERIFY(begun.at("norm.out") == model.finalNorm);
    const std::vector<float>& input = begun.at("in.weight");
    for (std::size_t row = 0; row < kHidden; ++row)
        for (std::size_t column = 0; column < 2 * kHidden; ++column)
            QVERIFY(std::abs(input[row * 2 * kHidden + column] - (row == column ? 1.0F : 0.0F)) <
                    0.06F);
    model.lastLayer.at("layer.0.mlp.up").pop_back(); // another size: a random start
    const NamedArrays random0 = makeTrainer(plan, model)->result();
    QVERIFY(random0.at("layer.0.attn.q") != model.lastLayer.at("layer.0.attn.q"));
    QVERIFY(random0.at("layer.0.norm.attn") == std::vector<float>(kHidden, 1.0F));
}

/// So an adapter can be judged that was trained long ago.
void TrainerStepsTest::itStartsFromTheWeightsOfThePlan() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 6);
    const auto trainer = makeTrainer(tinyPlan(), model);
    for (int step = 0; step < 6; ++step)
        stepOn(*trainer, texts);
    TrainerPlan plan = tinyPlan();
    plan.start = trainer->result();
    const auto again = makeTrainer(plan, model);
    QVERIFY(again->result() == plan.start);
    QVERIFY(hitsOn(*again, texts).hits == hitsOn(*trainer, texts).hits);
}

void TrainerStepsTest::itLearnsSentencesByHeart() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 12);
    const auto trainer = makeTrainer(tinyPlan(), model);
    QVERIFY(!areLearnt(hitsOn(*trainer, texts)));
    const double before = stepOn(*trainer, texts).likelihood;
    double after = before;
    bool isLearnt = false;
    for (int round = 0; round < 40 && !isLearnt; ++round) {
        for (int step = 0; step < 10; ++step)
            after = stepOn(*trainer, texts).likelihood;
        isLearnt = areLearnt(hitsOn(*trainer, texts));
    }
    QVERIFY(isLearnt);
    QVERIFY(after < before / 2.0);
    const DraftHits hits = hitsOn(*trainer, texts);
    QCOMPARE(hits.tried[0], std::int64_t{12 * 16}); // each token of an answer
}

void TrainerStepsTest::twoRunsHaveTheSameBits() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 6);
    const auto run = [&] {
        const auto trainer = makeTrainer(tinyPlan(), model);
        for (int step = 0; step < 6; ++step)
            stepOn(*trainer, texts);
        return trainer->state();
    };
    const NamedArrays first = run();
    QVERIFY(first == run());
    TrainerPlan other = tinyPlan();
    other.seed = 18;
    QVERIFY(makeTrainer(other, model)->result() != makeTrainer(tinyPlan(), model)->result());
}

void TrainerStepsTest::aRestoredStateGoesOnWithTheSameBits() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 6);
    const auto trainer = makeTrainer(tinyPlan(), model);
    for (int step = 0; step < 4; ++step)
        stepOn(*trainer, texts);
    const NamedArrays state = trainer->state();
    TrainerPlan plan = tinyPlan();
    plan.seed = 99; // nothing of the start is left
    const auto other = makeTrainer(plan, model);
    stepOn(*other, texts);
    QVERIFY(other->restore(state).hasValue());
    QVERIFY(other->state() == state);
    for (int step = 0; step < 4; ++step) {
        const StepLosses a = stepOn(*trainer, texts);
        hitsOn(*other, texts); // evaluation changes nothing
        const StepLosses b = stepOn(*other, texts);
        QCOMPARE(a.likelihood, b.likelihood);
    }
    QVERIFY(trainer->state() == other->state());
    QVERIFY(trainer->result() == other->result());
}

/// A step of many packs is the step of their sum.
void TrainerStepsTest::lossesDoNotDependOnHowTextsShareAStep() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 40); // more than one pack
    std::vector<OwnedText> turned(texts.rbegin(), texts.rend());
    const StepLosses a = stepOn(*makeTrainer(tinyPlan(), model), texts);
    const StepLosses b = stepOn(*makeTrainer(tinyPlan(), model), turned);
    QVERIFY(std::abs(a.likelihood - b.likelihood) < 1e-4 * a.likelihood);
    QVERIFY(std::abs(a.stream - b.stream) < 1e-4 * a.stream);
    QVERIFY(std::abs(a.overlap - b.overlap) < 1e-4 * a.overlap);
    QVERIFY(std::abs(a.gradientNorm - b.gradientNorm) < 1e-3 * a.gradientNorm);
}

void TrainerStepsTest::bfloat16ComesClose() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 6);
    TrainerPlan plan = tinyPlan();
    const StepLosses wide = stepOn(*makeTrainer(plan, model), texts);
    plan.usesBfloat16 = true;
    const auto narrow = makeTrainer(plan, model);
    const StepLosses found = stepOn(*narrow, texts);
    QVERIFY(found.likelihood != wide.likelihood);
    QVERIFY(std::abs(found.likelihood - wide.likelihood) < 0.05 * wide.likelihood);
    QVERIFY(std::abs(found.gradientNorm - wide.gradientNorm) < 0.1 * wide.gradientNorm);
}

void TrainerStepsTest::textsWithoutAnswersChangeNothing() {
    const TrainerModel model = tinyModel();
    std::vector<OwnedText> texts = sentences(model, 2);
    for (OwnedText& text : texts)
        std::fill(text.answers.begin(), text.answers.end(), std::uint8_t{0});
    texts.emplace_back(); // not even a token
    const auto trainer = makeTrainer(tinyPlan(), model);
    const NamedArrays before = trainer->state();
    QCOMPARE(stepOn(*trainer, texts).likelihood, 0.0);
    QVERIFY(trainer->state() == before);
    QCOMPARE(hitsOn(*trainer, texts).tried[0], std::int64_t{0});
}

void TrainerStepsTest::aLossThatIsNotFiniteChangesNothing() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 40);
    const auto trainer = makeTrainer(tinyPlan(), model);
    stepOn(*trainer, texts);
    const NamedArrays before = trainer->state();
    std::vector<OwnedText> broken = texts;
    broken.back().streams[7 * kHidden] = std::numeric_limits<float>::quiet_NaN();
    const auto refused = trainer->step(trainer_support::shown(broken), kTerms);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Numeric);
    QVERIFY(!refused.error().hint.empty());
    QVERIFY(trainer->state() == before);
    // Nothing of the broken step is left in the next one.
    const auto fresh = makeTrainer(tinyPlan(), model);
    stepOn(*fresh, texts);
    stepOn(*fresh, texts);
    stepOn(*trainer, texts);
    QVERIFY(trainer->state() == fresh->state());
}

void TrainerStepsTest::aStepThatIsStoppedChangesNothing() {
    const TrainerModel model = tinyModel();
    const std::vector<OwnedText> texts = sentences(model, 2);
    const auto trainer = makeTrainer(tinyPlan(), model);
    const NamedArrays before = trainer->state();
    std::stop_source source;
    source.request_stop();
    StepTerms terms = kTerms;
    terms.stop = source.get_token();
    const auto stopped = trainer->step(trainer_support::shown(texts), terms);
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    QVERIFY(trainer->state() == before);
}

void TrainerStepsTest::foreignStatesAreRefused_data() {
    QTest::addColumn<QString>("fault");
    for (const char* fault : {"missing", "more", "short", "nan", "steps", "negative", "empty"})
        QTest::newRow(fault) << QString(fault);
}

void TrainerStepsTest::foreignStatesAreRefused() {
    QFETCH(const QString, fault);
    const TrainerModel model = tinyModel();
    const auto trainer = makeTrainer(tinyPlan(), model);
    stepOn(*trainer, sentences(model, 2));
    const NamedArrays before = trainer->state();
    NamedArrays state = before;
    if (fault == "missing") {
        state["another"] = state.at("average.norm.out");
        state.erase("average.norm.out");
    } else if (fault == "more") {
        state["another"] = {1.0F};
    } else if (fault == "short") {
        state.at("weight.in.weight").pop_back();
    } else if (fault == "nan") {
        state.at("average.norm.out")[3] = std::numeric_limits<float>::infinity();
    } else if (fault == "steps") {
        state.at("steps") = {1.5F};
    } else if (fault == "negative") {
        state.at("moment2.norm.out")[0] = -1.0F;
    } else {
        state.clear();
    }
    const auto refused = trainer->restore(state);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    QVERIFY(trainer->state() == before);
}

void TrainerStepsTest::plansThatDoNotFitAreRefused() {
    const TrainerModel model = tinyModel();
    const std::vector<void (*)(TrainerPlan&)> faults = {
        [](TrainerPlan& plan) { plan.sizes.hiddenSize = kHidden + 2; },
        [](TrainerPlan& plan) { plan.sizes.kvHeadCount = 3; },
        [](TrainerPlan& plan) { plan.sizes.headDim = 7; },
        [](TrainerPlan& plan) { plan.sizes.layerCount = 0; },
        [](TrainerPlan& plan) { plan.headIds.clear(); },
        [](TrainerPlan& plan) { plan.headIds.back() = kVocab; },
        [](TrainerPlan& plan) { std::swap(plan.headIds[0], plan.headIds[1]); },
        [](TrainerPlan& plan) { plan.unroll = kDepths + 1; },
        [](TrainerPlan& plan) { plan.averaging = 1.0; },
        [](TrainerPlan& plan) { plan.threads = 0; },
        [](TrainerPlan& plan) { plan.start["in.weight"] = {1.0F}; }};
    for (const auto fault : faults) {
        TrainerPlan plan = tinyPlan();
        fault(plan);
        const auto refused = trainer_support::openTrainerMaker()(plan, model);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    }
}

QTEST_GUILESS_MAIN(TrainerStepsTest)
#include "trainer_steps_test.moc"
