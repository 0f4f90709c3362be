// SPDX-License-Identifier: Apache-2.0
// Jacobi, Gauss-Seidel and hybrid decoding give vanilla's own tokens whatever its settings. The
// default run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless_case.h"
#include "tests/support/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::registry;

namespace {

SettingValues randomSettings(CaseRandom& random, int /*layerCount*/) {
    static const std::vector<std::string> modes = {"jacobi", "gauss_seidel", "hybrid"};
    static const std::vector<std::string> refills = {"random", "pool"};
    static const std::vector<int> blocks = {0, 1, 2, 3, 3, 5, 8, 16, 512};
    return {{"mode", random.oneOf(modes)},
            {"block", static_cast<double>(random.oneOf(blocks))},
            {"refill", random.oneOf(refills)},
            {"budget", random.oneIn(3) ? static_cast<double>(random.whole(0, 12)) : 511.0}};
}

support::LosslessRun runOf(bool samples) {
    return {.decoder = "jacobi",
            .allCases = samples ? 1000 : 2000,
            .sampleCases = samples ? 40 : 100,
            .samples = samples,
            .firstSeed = samples ? 3'000'000U : 2'000'000U,
            .leastDrafted = 10,
            .settings = randomSettings};
}

} // namespace

class JacobiExactnessTest : public QObject {
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

QTEST_GUILESS_MAIN(JacobiExactnessTest)
#include "jacobi_exactness_test.moc"
