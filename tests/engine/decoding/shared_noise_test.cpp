// SPDX-License-Identifier: Apache-2.0
// What it brings that the draft draws with the noise that vanilla itself would draw with.
#include "engine/loading/model_files.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/engine/decoding/targets/speculative_rounds.h"
#include "tests/support/golden_tensors.h"

#include <QTest>

using namespace engine;
using namespace rounds;

namespace {

/// Accepted tokens by draft passes of chains at temperature 1.
struct Acceptance {
    int accepted = 0;
    int draftSteps = 0;

    double rate() const { return static_cast<double>(accepted) / draftSteps; }
};

/// Many short answers of one model, drafted by `plan`.
Acceptance acceptanceOf(Transformer& transformer, const LayerPlan& plan, bool sharesNoise) {
    Acceptance acceptance;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Target target =
            valueOf(Target::make(transformer, {.temperature = 1.0, .seed = seed}, 64, 8));
        begin(target, {static_cast<TokenId>(1 + seed), 5}, 20);
        SelfDrafter drafter;
        drafter.use(plan, 1);
        while (target.remainingTokens() > 1) {
            Draft draft =
                valueOf(drafter.draft(target, {.sharesNoise = sharesNoise, .maxDepth = 3}));
            const DecodeStep step = valueOf(target.verify(std::move(draft)));
            acceptance.accepted += static_cast<int>(step.path.size());
            acceptance.draftSteps += step.draft.draftSteps();
        }
    }
    return acceptance;
}

std::pair<double, double> bothRates(Transformer& transformer, const LayerPlan& plan) {
    const double shared = acceptanceOf(transformer, plan, true).rate();
    const double argmax = acceptanceOf(transformer, plan, false).rate();
    qInfo("accepted with shared noise %.3f, of the most probable tokens %.3f", shared, argmax);
    return {shared, argmax};
}

} // namespace

class SharedNoiseTest : public QObject {
    Q_OBJECT

private slots:
    void raisesAcceptanceOnTables_data();
    void raisesAcceptanceOnTables();
    void raisesAcceptanceOnNetworks_data();
    void raisesAcceptanceOnNetworks();
};

void SharedNoiseTest::raisesAcceptanceOnTables_data() {
    QTest::addColumn<double>("spread");
    QTest::addColumn<double>("likeness");
    QTest::newRow("flat, half alike") << 1.5 << 0.5;
    QTest::newRow("peaked, half alike") << 3.0 << 0.5;
    QTest::newRow("peaked, much alike") << 3.0 << 0.8;
    QTest::newRow("peaked, little alike") << 3.0 << 0.2;
}

void SharedNoiseTest::raisesAcceptanceOnTables() {
    QFETCH(double, spread);
    QFETCH(double, likeness);
    const support::BigramTable full(200, 41, spread);
    TabularTransformer model(full, support::BigramTable(200, 42, spread).mixedWith(full, likeness));
    const auto [shared, argmax] = bothRates(model, model.skippingPlan());
    QVERIFY(shared > 2.0 * argmax);
}

void SharedNoiseTest::raisesAcceptanceOnNetworks_data() {
    QTest::addColumn<QString>("folder");
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    for (const char* folder : {"llama_gqa_tied", "llama_mha", "mistral", "qwen2"})
        QTest::newRow(folder) << support::goldenPath("models/") + folder;
}

void SharedNoiseTest::raisesAcceptanceOnNetworks() {
    QFETCH(QString, folder);
    const ModelFiles files = valueOf(ModelFiles::open(folder.toStdString()));
    const ModelConfig config = valueOf(files.config());
    const auto weights = valueOf(files.weights());
    const auto transformer =
        valueOf(makePlainTransformer(config, *weights, {.precision = Precision::F32}));
    LayerPlan plan = LayerPlan::full(config.layerCount);
    plan.attention[1] = SublayerAction::Skip;
    plan.mlp[1] = SublayerAction::Skip;
    const auto [shared, argmax] = bothRates(*transformer, plan);
    QVERIFY(shared > 1.2 * argmax);
}

QTEST_APPLESS_MAIN(SharedNoiseTest)

#include "shared_noise_test.moc"
