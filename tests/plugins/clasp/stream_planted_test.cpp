// SPDX-License-Identifier: Apache-2.0
// A network whose right answer is known: the default model with a near-silent copy of each layer.
// Whatever follows the newest token's stream must find the copies at once.
#include "engine/search/stream/stream_front.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/default_model.h"
#include "tests/support/transformers/priced_transformer.h"

#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

/// In a sample so many tokens, drafted with the right plan, are enough.
constexpr int kEnough = 100;

/// What a decoder drafted with, and when.
struct Found {
    int round = -1; // the first whose plan has 95 of 100 planted sublayers
    int planted = 0;
    int skipped = 0; // by that plan, all in all
    double matchness = 0.0;
    double acceptance = 0.0; // of the tokens drafted from that round on
};

} // namespace

class StreamPlantedTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void oneStreamTellsTheCopiesFromTheRest_data();
    void oneStreamTellsTheCopiesFromTheRest();
    void decodersDraftWithoutTheCopies_data();
    void decodersDraftWithoutTheCopies();

private:
    int plantedIn(const LayerPlan& plan) const;
    Found answer(const std::string& decoder, const SettingValues& settings, int rounds);

    support::DefaultModel m_model;
    std::vector<int> m_copies;
};

void StreamPlantedTest::initTestCase() {
    if (!support::DefaultModel::isThere())
        QSKIP("the default model was not fetched");
    m_model = support::DefaultModel::load(true, "cpu");
    m_copies = m_model.config.silentCopies();
}

int StreamPlantedTest::plantedIn(const LayerPlan& plan) const {
    int found = 0;
    for (const int layer : m_copies)
        found += (plan.runsAttention(layer) ? 0 : 1) + (plan.runsMlp(layer) ? 0 : 1);
    return found;
}

void StreamPlantedTest::oneStreamTellsTheCopiesFromTheRest_data() {
    QTest::addColumn<bool>("byLayer");
    QTest::addColumn<int>("mlpWorth");
    QTest::newRow("layers") << true << 1;
    QTest::newRow("sublayers") << false << 1;
    QTest::newRow("sublayers, an MLP counts twice") << false << 2;
}

/// At the worth of all copies nothing else is left out, and beyond it the loss jumps.
void StreamPlantedTest::oneStreamTellsTheCopiesFromTheRest() {
    QFETCH(bool, byLayer);
    QFETCH(int, mlpWorth);
    const std::vector<TokenId> prompt = m_model.prompt("Name the months of the year.");
    auto cache = m_model.transformer->makeCache(256).value();
    const LayerPlan full = LayerPlan::full(m_model.config.layerCount);
    const auto rows = static_cast<int>(prompt.size());
    QVERIFY(
        m_model.transformer
            ->forward({.plan = full, .layout = AttentionLayout::chain(0, rows), .tokens = prompt},
                      cache)
            .hasValue());
    cache.commit(rows);
    const auto copies = static_cast<int>(m_copies.size());
    const int knee = byLayer ? copies : copies * (1 + mlpWorth);
    const auto front = streamFront(*m_model.transformer,
                                   cache,
                                   {.items = byLayer ? StreamItems::Layers : StreamItems::Sublayers,
                                    .worths = {1, mlpWorth},
                                    .most = knee + 1,
                                    .references = std::span(prompt).last(1)});
    QVERIFY2(front.hasValue(), front ? "" : front.error().message.c_str());
    const auto at = [&](int worth) {
        return *std::find_if(front.value().begin(),
                             front.value().end(),
                             [&](const StreamPoint& point) { return point.worth == worth; });
    };
    const StreamPoint best = at(knee);
    qInfo("%d of %d planted; loss %.1e, with one more %.1e",
          plantedIn(best.plan),
          2 * copies,
          best.loss,
          at(knee + 1).loss);
    QVERIFY(plantedIn(best.plan) >= 0.95 * 2 * copies);
    QVERIFY(best.loss < 1e-3); // what is left is the rounding of 4-bit products
    QVERIFY(at(knee + 1).loss > 4.0 * best.loss);
}

Found StreamPlantedTest::answer(const std::string& decoder,
                                const SettingValues& settings,
                                int rounds) {
    support::PricedTransformer priced(*m_model.transformer);
    const auto made = support::openDecoder(decoder,
                                           {.transformer = priced,
                                            .contextLength = 1024,
                                            .settings = settings,
                                            .clock = priced.clock()});
    const std::vector<TokenId> prompt = m_model.prompt("Write a long story about a lighthouse.");
    ENGINE_CHECK(made->begin({.tokens = prompt, .task = "planted"}, {}).hasValue(), "a prompt");
    Found found;
    int drafted = 0;
    int accepted = 0;
    for (int round = 0; round < rounds && made->remainingContext() > 0; ++round) {
        const DecodeStep step = made->step().value();
        for (const PlanChange& change : step.search.planChanges) {
            found.planted = plantedIn(change.plan);
            found.skipped =
                static_cast<int>(2.0 * (change.plan.layerCount() - change.plan.layerLoads()));
            const bool isRight = found.planted >= 0.95 * 2 * static_cast<int>(m_copies.size());
            found.round = !isRight ? -1 : found.round < 0 ? round : found.round;
            drafted = accepted = 0;
        }
        for (const TrialRecord& trial : step.search.trials)
            if (trial.isBest)
                found.matchness = trial.score;
        if (found.round >= 0 && step.planId != 0) {
            drafted += step.draft.draftSteps();
            accepted += static_cast<int>(step.path.size());
        }
        if (drafted >= kEnough && found.matchness >= 0.95 && !support::takesAllCases())
            break;
    }
    found.acceptance = drafted > 0 ? static_cast<double>(accepted) / drafted : 0.0;
    return found;
}

void StreamPlantedTest::decodersDraftWithoutTheCopies_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<SettingValues>("settings");
    QTest::addColumn<int>("rounds");
    QTest::addColumn<int>("latest"); // round in which the copies must be found
    // 60 of 116 sublayers are planted.
    const SettingValues swift = {
        {"start", std::string("stream")}, {"r", 60.0 / 116.0}, {"gamma", 16.0}};
    const SettingValues passes = {{"lookup", 0.0}, {"successors", 0.0}, {"early_exit", 0.0}};
    QTest::newRow("swift") << "swift" << swift << 30 << 0;
    QTest::newRow("clasp") << "clasp" << SettingValues{{"skipped", 30.0}} << 30 << 0;
    QTest::newRow("knapspec") << "knapspec" << SettingValues{{"most", 0.9}} << 30 << 0;
    QTest::newRow("auto") << "auto" << passes << 600 << 599;
}

/// KnapSpec may leave out nearly everything and stops at the copies by itself; Auto tries sets
/// within its purse.
void StreamPlantedTest::decodersDraftWithoutTheCopies() {
    QFETCH(const QString, decoder);
    QFETCH(const SettingValues, settings);
    QFETCH(const int, rounds);
    QFETCH(const int, latest);
    const Found found = answer(decoder.toStdString(), settings, rounds);
    qInfo("round %d: %d planted of %d skipped, matchness %.2f, acceptance %.2f",
          found.round,
          found.planted,
          found.skipped,
          found.matchness,
          found.acceptance);
    QVERIFY(found.round >= 0 && found.round <= latest);
    QVERIFY(found.matchness >= 0.95);
    QVERIFY(found.acceptance >= 0.85);
}

QTEST_GUILESS_MAIN(StreamPlantedTest)
#include "stream_planted_test.moc"
