// SPDX-License-Identifier: Apache-2.0
#include "engine/model/skip_sets/published_skip_sets.h"
#include "engine/model/weight_share.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

ModelConfig llama2(int layers, int hidden, int mlp, int kvHeads) {
    ModelConfig config;
    config.layerCount = layers;
    config.hiddenSize = hidden;
    config.mlpSize = mlp;
    config.headDim = 128;
    config.headCount = hidden / 128;
    config.kvHeadCount = kvHeads;
    config.vocabSize = 32000;
    return config;
}

double shareOfPublished(const char* name, const ModelConfig& config) {
    const auto published = readPublishedSkipSets("resources/published_skip_sets.json");
    for (const PublishedSkipSet& one : published.value())
        if (one.name == name)
            return weightShare(planOf(one.set, config.layerCount).value(), config);
    return -1.0;
}

} // namespace

class WeightShareTest : public QObject {
    Q_OBJECT

private slots:
    void theFullPlanReadsEverything();
    void whatIsSkippedOrBeyondTheExitIsNotRead();
    void thePublishedSetsCostWhatTheirWeightsSay();
};

void WeightShareTest::theFullPlanReadsEverything() {
    QCOMPARE(weightShare(LayerPlan::full(40), llama2(40, 5120, 13824, 40)), 1.0);
}

void WeightShareTest::whatIsSkippedOrBeyondTheExitIsNotRead() {
    const ModelConfig config = llama2(2, 256, 512, 1); // attention 196608, MLP 393216, head 8192000
    const double all = 2 * (196608.0 + 393216.0) + 8192000.0;
    LayerPlan plan = LayerPlan::full(2);
    plan.attention[1] = SublayerAction::Skip;
    QVERIFY(std::abs(weightShare(plan, config) - (all - 196608.0) / all) < 1e-12);
    plan.exitAfterLayer = 0;
    QVERIFY(std::abs(weightShare(plan, config) - (196608.0 + 393216.0 + 8192000.0) / all) < 1e-12);
}

void WeightShareTest::thePublishedSetsCostWhatTheirWeightsSay() {
    const double small = shareOfPublished("llama-2-13b_cnndm", llama2(40, 5120, 13824, 40));
    const double large = shareOfPublished("llama-2-70b_cnndm", llama2(80, 8192, 28672, 8));
    QVERIFY2(std::abs(small - 0.61) < 0.005, qPrintable(QString::number(small)));
    QVERIFY2(std::abs(large - 0.53) < 0.005, qPrintable(QString::number(large)));
}

QTEST_GUILESS_MAIN(WeightShareTest)
#include "weight_share_test.moc"
