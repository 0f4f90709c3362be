// SPDX-License-Identifier: Apache-2.0
// What SPACE gains on a model that was trained to fill in masks, and what it costs on one that was
// not.
#include "engine/model/cpu/cpu_backend.h"
#include "plugins/space/place_rates.h"
#include "tests/plugins/space/space_support.h"

#include <QTest>

using namespace engine;
using support::fixedRows;
using support::makeSpace;
using support::SpaceModel;

namespace {

using Ids = std::vector<TokenId>;

Transformer& tunedModel() {
    static const std::unique_ptr<Transformer> made = support::plainSpaceModel();
    return *made;
}

/// How an answer came about.
struct Run {
    Ids tokens;
    int steps = 0;
    int rows = 0;
    int accepted = 0;
    int drafted = 0;

    double tokensPerStep() const { return static_cast<double>(tokens.size()) / steps; }
};

constexpr int kAnswer = 100;

Run decodeAll(Decoder& decoder, int answer = kAnswer) {
    Run run;
    for (const std::string& prompt : support::spacePrompts()) {
        ENGINE_CHECK(decoder.begin({SpaceModel::tokensOf(prompt), answer}, {}).hasValue(),
                     "a prompt was refused");
        for (int left = answer; left > 0;) {
            const DecodeStep step = decoder.step().value();
            run.tokens.insert(run.tokens.end(), step.tokens.begin(), step.tokens.end());
            left -= static_cast<int>(step.tokens.size());
            ++run.steps;
            run.rows += step.verifiedRows;
            run.accepted += static_cast<int>(step.path.size());
            run.drafted += step.draft.size();
        }
        ENGINE_CHECK(decoder.endAnswer().hasValue(), "an answer did not end");
    }
    return run;
}

Ids vanillaTokens(Transformer& transformer, const SamplingOptions& sampling = {}) {
    const auto vanilla = makeVanillaDecoder(transformer, sampling, 400).value();
    return decodeAll(*vanilla).tokens;
}

} // namespace

class SpaceModelTest : public QObject {
    Q_OBJECT

private slots:
    void candidatesAreAcceptedByATunedModel();
    void sampledCandidatesAreAcceptedByATunedModel();
    void adaptiveRowsKeepMostTokensOfARound();
    void anUntrainedMaskCostsLittle();
    void theFastBackendAcceptsTheSame();
};

void SpaceModelTest::candidatesAreAcceptedByATunedModel() {
    const Ids expected = vanillaTokens(tunedModel());
    qInfo("\"%s\"", SpaceModel::textOf(Ids(expected.begin(), expected.begin() + 100)).c_str());
    for (const int k : {1, 2, 3, 5, space::kMostMasks}) {
        const auto decoder = makeSpace(tunedModel(), fixedRows(k)).value();
        const Run run = decodeAll(*decoder);
        QCOMPARE(run.tokens, expected);
        qInfo("k = %d: %.2f tokens a round, %.1f rows",
              k,
              run.tokensPerStep(),
              static_cast<double>(run.rows) / run.steps);
        QVERIFY(run.tokensPerStep() > (k == 1 ? 1.4 : 1.7));
    }
}

void SpaceModelTest::sampledCandidatesAreAcceptedByATunedModel() {
    const SamplingOptions warm = {.temperature = 0.8, .seed = 5};
    const Ids expected = vanillaTokens(tunedModel(), warm);
    for (const std::string choice : {"argmax", "noise", "sampled"}) {
        SettingValues settings = fixedRows(5);
        settings["candidates"] = choice;
        const auto decoder = makeSpace(tunedModel(), settings, warm).value();
        const Run run = decodeAll(*decoder);
        qInfo("%s: %.2f tokens a round", choice.c_str(), run.tokensPerStep());
        QVERIFY(run.tokensPerStep() > 1.5);
        QCOMPARE(run.tokens == expected, choice != "sampled");
        for (const TokenId token : run.tokens)
            QVERIFY(token != SpaceModel::kMask);
    }
}

void SpaceModelTest::adaptiveRowsKeepMostTokensOfARound() {
    const auto all = makeSpace(tunedModel(), fixedRows(5)).value();
    const Run whole = decodeAll(*all);
    const auto some = makeSpace(tunedModel(), {{"masks", 5.0}}).value();
    const Run cut = decodeAll(*some);
    qInfo("all rows: %.2f tokens a round, %.1f rows; adaptive: %.2f and %.1f",
          whole.tokensPerStep(),
          static_cast<double>(whole.rows) / whole.steps,
          cut.tokensPerStep(),
          static_cast<double>(cut.rows) / cut.steps);
    QCOMPARE(cut.tokens, whole.tokens);
    QVERIFY(cut.rows * whole.steps < whole.rows * cut.steps * 2 / 3); // rows a round
    QVERIFY(cut.tokensPerStep() > 0.7 * whole.tokensPerStep());
}

void SpaceModelTest::anUntrainedMaskCostsLittle() {
    const auto random = support::layeredModel(3, 7);
    const SettingValues settings = {{"masks", 5.0}, {"mask_token", 17.0}};
    const auto decoder = makeSpace(*random, settings).value();
    const Run run = decodeAll(*decoder);
    qInfo("%.2f rows a round", static_cast<double>(run.rows) / run.steps);
    QVERIFY(run.rows < 2 * run.steps);
    QVERIFY(run.drafted > 0);
}

void SpaceModelTest::theFastBackendAcceptsTheSame() {
    const auto fast = support::loadSpaceModel([](const auto& config, const auto& weights) {
        return makeCpuTransformer(config, weights, {.threads = 1});
    });
    const auto decoder = makeSpace(*fast, fixedRows(5)).value();
    const Run run = decodeAll(*decoder);
    QCOMPARE(run.tokens, vanillaTokens(*fast));
    QVERIFY(run.tokensPerStep() > 2.0);
}

QTEST_GUILESS_MAIN(SpaceModelTest)
#include "space_model_test.moc"
