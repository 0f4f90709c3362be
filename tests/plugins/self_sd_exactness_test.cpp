// SPDX-License-Identifier: Apache-2.0
// Self-SD gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "engine/model/skip_set.h"
#include "tests/support/lossless_case.h"

#include <QDir>
#include <QTest>

#include <numeric>

using namespace engine;
using support::CaseRandom;

namespace {

DecoderRegistry& registry() {
    static DecoderRegistry decoders(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    return decoders;
}

std::vector<int> allLayers(int layerCount) {
    std::vector<int> layers(static_cast<std::size_t>(layerCount));
    std::iota(layers.begin(), layers.end(), 0);
    return layers;
}

/// From nothing to everything, first and last layers included.
std::string randomPlan(CaseRandom& random, int layerCount) {
    switch (random.whole(0, 5)) {
    case 0:
        return skipSetJson({});
    case 1:
        return skipSetJson({allLayers(layerCount), allLayers(layerCount)});
    case 2:
        return skipSetJson({allLayers(layerCount), {}});
    case 3:
        return skipSetJson({{0, layerCount - 1}, {0, layerCount - 1}});
    default:
        return support::randomSkipSet(random, 0, layerCount, random.part());
    }
}

/// Settings from their whole ranges. With sampling only the rule that repeats vanilla's tokens.
SettingValues randomSettings(CaseRandom& random, int layerCount, bool samples) {
    static const std::vector<std::string> siblings = {"1,1,1,1", "1,3,5,10", "4,3,2,1", "2,2,2,2"};
    static const std::vector<std::string> starts = {"manual", "manual", "uniform", "library"};
    static const std::vector<std::string> rules = {"match", "rejection"};
    return {{"start", random.oneOf(starts)},
            {"skip_set", randomPlan(random, layerCount)},
            {"r", random.oneIn(6) ? 1.0 : random.part()},
            {"th", random.oneIn(3) ? 0.0 : random.part()},
            {"adapt", random.oneIn(4) ? 0.0 : 1.0},
            {"a", random.part()},
            {"step", random.part()},
            {"beta1", random.part()},
            {"beta2", random.part()},
            {"max_draft", static_cast<double>(random.whole(1, 18))},
            {"verification", samples ? std::string("match") : random.oneOf(rules)},
            {"shared_noise", random.oneIn(3) ? 0.0 : 1.0},
            {"dynamic_verification", random.oneIn(3) ? 1.0 : 0.0},
            {"epsilon", random.oneIn(3) ? 0.0 : random.part()},
            {"siblings", random.oneOf(siblings)},
            {"tree_nodes", static_cast<double>(random.whole(0, 24))}};
}

} // namespace

class SelfSdExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() { m_models = support::caseModels(); }

    void greedyEqualsVanilla() { runCases(2000, 200, false); }

    void samplingEqualsVanillaTokenByToken() { runCases(500, 60, true); }

    void settingsChangedWhileRunningChangeNoToken();

private:
    void runCases(int all, int sample, bool samples);

    std::vector<support::CaseModel> m_models;
};

void SelfSdExactnessTest::runCases(int all, int sample, bool samples) {
    const int count =
        qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_EXACTNESS") == 1 ? all : sample;
    int drafted = 0;
    for (int seed = 0; seed < count; ++seed) {
        CaseRandom random(static_cast<std::uint64_t>(seed) + (samples ? 3'000'000 : 2'000'000));
        support::CaseModel& model = m_models[static_cast<std::size_t>(seed) % m_models.size()];
        auto tried = support::randomCase(random, *model.transformer, samples);
        tried.settings = randomSettings(random, model.transformer->config().layerCount, samples);
        const std::string fault =
            support::compareWithVanilla(registry(), "self_sd", tried, *model.transformer, &drafted);
        QVERIFY2(fault.empty(), fmt::format("case {} on {}: {}", seed, model.name, fault).c_str());
    }
    // Cases that draft nothing would show nothing.
    QVERIFY(drafted > 10 * count);
    qInfo("%d cases, %d drafted tokens", count, drafted);
}

void SelfSdExactnessTest::settingsChangedWhileRunningChangeNoToken() {
    Transformer& transformer = *m_models.front().transformer;
    const DecoderInfo info = registry().info("self_sd").value();
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CaseRandom random(seed + 5000);
        const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
        auto vanilla = makeVanillaDecoder(transformer, {}, 256);
        auto tested =
            registry().make("self_sd", {.transformer = transformer, .contextLength = 256});
        QVERIFY(vanilla.value()->begin({prompt}, {}).hasValue());
        QVERIFY(tested.value()->begin({prompt}, {}).hasValue());
        std::vector<TokenId> found;
        while (found.size() < 100) {
            const bool isPlain = random.oneIn(8);
            const auto step = isPlain ? tested.value()->plainStep() : tested.value()->step();
            QVERIFY(step.hasValue());
            found.insert(found.end(), step.value().tokens.begin(), step.value().tokens.end());
            const auto values = resolveSettings(info, randomSettings(random, 5, false));
            QVERIFY(tested.value()->configure(values.value()).hasValue());
        }
        for (const TokenId token : found)
            QCOMPARE(token, vanilla.value()->step().value().tokens.front());
    }
}

QTEST_GUILESS_MAIN(SelfSdExactnessTest)
#include "self_sd_exactness_test.moc"
