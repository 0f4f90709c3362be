// SPDX-License-Identifier: Apache-2.0
// Gradients of the unrolled network and of each loss against central differences, in float64, and
// the losses against their formulas.
#include "tests/plugins/trainer_torch/trainer_support.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using trainer_support::OwnedText;
using trainer_torch::CheckedLoss;
using trainer_torch::WideArrays;

namespace {

constexpr int kHidden = 6;
constexpr int kVocab = 16;

struct TinyCase {
    TrainerPlan plan;
    TrainerModel model;
    WideArrays weights;
    std::vector<OwnedText> texts;
};

TinyCase tinyCase(int layers, int window, unsigned seed) {
    std::mt19937 random(seed);
    TinyCase made;
    made.plan.sizes = {.hiddenSize = kHidden,
                       .headCount = 2,
                       .kvHeadCount = 1,
                       .headDim = 4,
                       .mlpSize = 7,
                       .layerCount = layers,
                       .window = window,
                       .normEpsilon = 1e-5,
                       .ropeTheta = 100.0};
    for (TokenId id = 0; id < kVocab; ++id)
        if (id % 4 != 1)
            made.plan.headIds.push_back(id);
    made.plan.unroll = kDepths;
    made.model = trainer_support::randomModel(kHidden, kVocab, random);
    std::normal_distribution<double> normal;
    for (const auto& [network, tensor] : adapterTensors(made.plan.sizes)) {
        std::size_t count = 1;
        for (const std::uint64_t size : tensor.shape)
            count *= static_cast<std::size_t>(size);
        std::vector<double>& values = made.weights[tensor.name];
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(tensor.shape.size() == 1 ? 1.0 + 0.1 * normal(random)
                                                      : 0.5 * normal(random));
    }
    made.texts.push_back(trainer_support::randomText(10, 4, kHidden, kVocab, random));
    made.texts.push_back(trainer_support::randomText(6, 2, kHidden, kVocab, random));
    return made;
}

CheckedLoss lossOf(const TinyCase& tried, const StepTerms& terms, bool hasGradients) {
    const auto texts = trainer_support::shown(tried.texts);
    return trainer_support::trainerChecks().loss(
        {tried.plan, tried.model, tried.weights}, texts, terms, hasGradients);
}

void checkGradients(TinyCase& tried, const StepTerms& terms) {
    constexpr double kStep = 1e-5;
    const CheckedLoss found = lossOf(tried, terms, true);
    double largest = 0.0;
    for (const auto& [name, gradients] : found.gradients)
        for (const double gradient : gradients)
            largest = std::max(largest, std::abs(gradient));
    QVERIFY(largest > 1e-3);
    std::size_t number = 0;
    for (auto& [name, values] : tried.weights)
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values.size() > 8 && ++number % 7 != 0) // all norms, and every seventh of the rest
                continue;
            const double before = values[i];
            values[i] = before + kStep;
            const double above = lossOf(tried, terms, false).total;
            values[i] = before - kStep;
            const double below = lossOf(tried, terms, false).total;
            values[i] = before;
            const double wanted = (above - below) / (2.0 * kStep);
            const double difference = std::abs(found.gradients.at(name)[i] - wanted);
            QVERIFY2(difference <= 1e-6 * std::max(largest, std::abs(wanted)),
                     fmt::format(
                         "{}[{}]: {} instead of {}", name, i, found.gradients.at(name)[i], wanted)
                         .c_str());
        }
}

} // namespace

class TrainerGradientsTest : public QObject {
    Q_OBJECT

private slots:
    void gradientsAreThoseOfCentralDifferences_data();
    void gradientsAreThoseOfCentralDifferences();
    void theTotalIsTheWeightedSumOfItsParts();
    void aTeacherOutsideOfTheHeadIsOneBucket();
    void aPlaceWithoutATokenCountsNothing();
    void scaledAndCappedLogitsHaveGradients();
};

void TrainerGradientsTest::gradientsAreThoseOfCentralDifferences_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("window");
    QTest::addColumn<double>("streamLoss");
    QTest::addColumn<double>("overlap");
    QTest::newRow("likelihood") << 1 << 3 << 0.0 << 0.0;
    QTest::newRow("stream") << 1 << 3 << 1.0 << 0.0;
    QTest::newRow("overlap") << 1 << 3 << 0.0 << 1.0;
    QTest::newRow("all, two layers") << 2 << 2 << 0.5 << 0.3;
    QTest::newRow("all, no window") << 1 << 0 << 0.5 << 0.3;
}

void TrainerGradientsTest::gradientsAreThoseOfCentralDifferences() {
    QFETCH(const int, layers);
    QFETCH(const int, window);
    QFETCH(const double, streamLoss);
    QFETCH(const double, overlap);
    TinyCase tried = tinyCase(layers, window, 11);
    checkGradients(tried, {.streamLoss = streamLoss, .overlap = overlap});
}

void TrainerGradientsTest::theTotalIsTheWeightedSumOfItsParts() {
    const TinyCase tried = tinyCase(1, 3, 5);
    const CheckedLoss found = lossOf(tried, {.streamLoss = 0.25, .overlap = 0.75}, false);
    QVERIFY(found.likelihood > 0.0 && found.overlap > 0.0 && found.stream > 0.0);
    QVERIFY(std::abs(found.total - (0.25 * found.likelihood + 0.75 * found.overlap +
                                    0.25 * found.stream)) < 1e-12);
}

/// A head of one token says it always: against a teacher who gives this token the part p, the
/// divergence is -H(p) and the log of the least part that counts, and the overlap is p.
void TrainerGradientsTest::aTeacherOutsideOfTheHeadIsOneBucket() {
    TinyCase tried = tinyCase(1, 3, 5);
    tried.plan.headIds = {7};
    constexpr double kPart = 0.4;
    for (OwnedText& text : tried.texts)
        for (TeacherRow& row : text.teacher)
            row = trainer_support::teacherOf(7, kVocab, kPart);
    const CheckedLoss found = lossOf(tried, {}, false);
    const double entropy = kPart * std::log(kPart) + (1.0 - kPart) * std::log(1.0 - kPart);
    QVERIFY(std::abs(found.likelihood - (entropy - (1.0 - kPart) * std::log(1e-6))) < 1e-5);
    QVERIFY(std::abs(found.overlap + std::log(kPart)) < 1e-6);
    for (OwnedText& text : tried.texts)
        for (TeacherRow& row : text.teacher)
            for (TokenId& id : row.ids)
                id = id == 7 ? 8 : id; // nothing is left in the head
    QVERIFY(std::abs(lossOf(tried, {}, false).likelihood) < 1e-5);
}

/// The place that a teacher of nine tokens has no token for repeats the best one.
void TrainerGradientsTest::aPlaceWithoutATokenCountsNothing() {
    TinyCase tried = tinyCase(1, 3, 5);
    for (OwnedText& text : tried.texts)
        for (TeacherRow& row : text.teacher) {
            row.ids.back() = row.ids.front();
            row.logProbabilities.back() = kNoLogProbability;
        }
    const CheckedLoss padded = lossOf(tried, {.overlap = 0.5}, false);
    for (OwnedText& text : tried.texts)
        for (TeacherRow& row : text.teacher)
            row.ids.back() = 1; // which the head cannot say
    const CheckedLoss nine = lossOf(tried, {.overlap = 0.5}, false);
    QCOMPARE(padded.likelihood, nine.likelihood);
    QCOMPARE(padded.overlap, nine.overlap);
}

void TrainerGradientsTest::scaledAndCappedLogitsHaveGradients() {
    TinyCase tried = tinyCase(1, 3, 7);
    tried.model.logitScale = 0.5;
    tried.model.logitSoftCap = 2.0;
    checkGradients(tried, {});
}

QTEST_GUILESS_MAIN(TrainerGradientsTest)
#include "trainer_gradients_test.moc"
