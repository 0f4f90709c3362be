// SPDX-License-Identifier: Apache-2.0
// Lookahead gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless_case.h"
#include "tests/support/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::registry;

namespace {

/// Mostly small, or the plain backend would take minutes; sometimes as large as can be set.
int randomCount(CaseRandom& random, int most) {
    return random.oneIn(40) ? random.whole(0, most) : random.whole(0, 6);
}

SettingValues randomSettings(CaseRandom& random, int /*layerCount*/) {
    static const std::vector<int> sizes = {0, 2, 2, 3, 3, 4, 5, 6, 8};
    return {{"w", static_cast<double>(randomCount(random, 64))},
            {"n", static_cast<double>(random.oneOf(sizes))},
            {"g", static_cast<double>(randomCount(random, 64))},
            {"pool_from_prompt", random.oneIn(2) ? 1.0 : 0.0},
            {"keep_pool", random.oneIn(2) ? 1.0 : 0.0}};
}

support::LosslessRun runOf(bool samples) {
    return {.decoder = "lookahead",
            .allCases = samples ? 1000 : 2000,
            .sampleCases = samples ? 40 : 100,
            .samples = samples,
            .firstSeed = samples ? 3'000'000U : 2'000'000U,
            .leastDrafted = samples ? 2 : 5,
            .settings = randomSettings};
}

} // namespace

class LookaheadExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() { m_models = support::caseModels(); }

    void greedyEqualsVanilla() { compare(runOf(false)); }

    void samplingEqualsVanillaTokenByToken() { compare(runOf(true)); }

    void settingsChangedWhileRunningChangeNoToken() {
        const std::string fault = support::changeSettingsWhileRunning(
            registry(), *m_models.front().transformer, runOf(false));
        QVERIFY2(fault.empty(), fault.c_str());
    }

private:
    void compare(const support::LosslessRun& run) {
        const std::string fault = support::runLosslessCases(registry(), m_models, run);
        QVERIFY2(fault.empty(), fault.c_str());
    }

    std::vector<support::CaseModel> m_models;
};

QTEST_GUILESS_MAIN(LookaheadExactnessTest)
#include "lookahead_exactness_test.moc"
