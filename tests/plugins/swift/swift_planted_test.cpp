// SPDX-License-Identifier: Apache-2.0
// A network whose right answer is known: the default model with a near-silent copy of each layer.
#include "engine/decoding/decoder_registry.h"
#include "tests/support/models/default_model.h"

#include <QDir>
#include <QTest>

using namespace engine;

class SwiftPlantedTest : public QObject {
    Q_OBJECT

private slots:
    void guidedFindsThePlantedSublayers();
};

/// At r = .5 nearly as many sublayers are skipped as were planted (58 of 60): within 100 trials 95
/// of 100 planted ones must be among them, and matchness at least .95.
void SwiftPlantedTest::guidedFindsThePlantedSublayers() {
    if (!support::DefaultModel::isThere())
        QSKIP("the default model was not fetched");
    const auto model = support::DefaultModel::load(true);
    DecoderRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    auto decoder = registry.make("swift",
                                 {.transformer = *model.transformer,
                                  .contextLength = 512,
                                  .settings = {{"profile", std::string("guided")},
                                               {"r", 0.5},
                                               {"gamma", 16.0},
                                               {"rows_per_trial", 1.0},
                                               {"search_share", 0.0}}});
    QVERIFY2(decoder.hasValue(), decoder ? "" : decoder.error().message.c_str());
    QVERIFY(
        decoder.value()
            ->begin({.tokens = model.prompt("Name the months of the year."), .task = "planted"}, {})
            .hasValue());
    LayerPlan plan;
    double ratio = 0.0;
    double best = 0.0;
    int trials = 0;
    for (int steps = 0; steps < 120 && trials < 100 && !(ratio > 0.49 && best >= 0.95); ++steps) {
        const auto step = decoder.value()->step();
        QVERIFY2(step.hasValue(), step ? "" : step.error().message.c_str());
        for (const PlanChange& change : step.value().search.planChanges) {
            plan = change.plan;
            ratio = change.skipRatio;
        }
        for (const TrialRecord& trial : step.value().search.trials) {
            best = trial.best;
            trials = trial.index;
        }
    }
    int found = 0;
    int planted = 0;
    for (const int layer : model.config.silentCopies()) {
        found += (plan.runsAttention(layer) ? 0 : 1) + (plan.runsMlp(layer) ? 0 : 1);
        planted += 2;
    }
    qInfo(
        "r %.2f, matchness %.2f, %d of %d planted, %d trials", ratio, best, found, planted, trials);
    QVERIFY(ratio > 0.49);
    QVERIFY(best >= 0.95);
    QVERIFY(found >= 0.95 * planted);
}

QTEST_GUILESS_MAIN(SwiftPlantedTest)
#include "swift_planted_test.moc"
