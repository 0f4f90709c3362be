// SPDX-License-Identifier: Apache-2.0
// SPACE gives vanilla's own tokens whatever its settings, with any token as the mask, and on a
// model whose candidates are really accepted. The default run takes a sample of the cases;
// SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/plugins/space/space_support.h"
#include "tests/support/lossless/lossless_case.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;

namespace {

constexpr int kLeastVocabulary = 160; // of all models of the cases

/// Settings from their whole ranges; without a mask of its own any token of a model is the mask.
SettingValues randomSettings(CaseRandom& random, bool samples, bool hasMask) {
    static const std::vector<std::string> choices = {"argmax", "noise", "sampled"};
    static const std::vector<std::string> matching = {"argmax", "noise"};
    const std::string candidates = random.oneOf(samples ? matching : choices);
    const bool isPaper = candidates == "sampled" && random.oneIn(2);
    return {{"masks", static_cast<double>(random.whole(0, 8))},
            {"candidates", candidates},
            {"adaptive", random.oneIn(3) ? 1.0 : 0.0},
            {"least_reach", random.oneIn(8) ? 1.0 : 0.5 * random.part()},
            {"mask_token", hasMask ? -1.0 : random.whole(0, kLeastVocabulary - 1)},
            {"space_paper_sampling", isPaper ? 1.0 : 0.0}};
}

support::LosslessRun runOf(bool samples, bool hasMask, bool hasLaw = false) {
    return {.decoder = "space",
            .allCases = samples ? 500 : 1000,
            .sampleCases = samples ? 15 : 30,
            .samples = samples,
            .hasLaw = hasLaw,
            .firstSeed = (samples ? 3'000'000U : 2'000'000U) + (hasMask ? 500'000U : 0U),
            .settings = [samples, hasMask](CaseRandom& random, int /*layerCount*/) {
                return randomSettings(random, samples, hasMask);
            }};
}

} // namespace

class SpaceExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        m_models = support::caseModels();
        m_tuned.push_back({"space_llama", support::plainSpaceModel()});
    }

    void greedyEqualsVanillaWithAnyTokenAsTheMask() { compare(m_models, runOf(false, false)); }

    void greedyEqualsVanillaWhereCandidatesAreAccepted() { compare(m_tuned, runOf(false, true)); }

    void samplingEqualsVanillaTokenByToken() { compare(m_models, runOf(true, false)); }

    void samplingEqualsVanillaWhereCandidatesAreAccepted() { compare(m_tuned, runOf(true, true)); }

    void greedyEqualsVanillaUnderAnyLaw() { compare(m_models, runOf(false, false, true)); }

    void greedyEqualsVanillaUnderAnyLawWhereCandidatesAreAccepted() {
        compare(m_tuned, runOf(false, true, true));
    }

    void samplingEqualsVanillaUnderAnyLaw() { compare(m_models, runOf(true, false, true)); }

    void samplingEqualsVanillaUnderAnyLawWhereCandidatesAreAccepted() {
        compare(m_tuned, runOf(true, true, true));
    }

    void settingsChangedWhileRunningChangeNoToken();

private:
    void compare(std::vector<support::CaseModel>& models, const support::LosslessRun& run);

    std::vector<support::CaseModel> m_models;
    std::vector<support::CaseModel> m_tuned;
};

void SpaceExactnessTest::compare(std::vector<support::CaseModel>& models,
                                 const support::LosslessRun& run) {
    const std::string fault = support::runLosslessCases(support::registry(), models, run);
    QVERIFY2(fault.empty(), fault.c_str());
}

void SpaceExactnessTest::settingsChangedWhileRunningChangeNoToken() {
    const std::string fault = support::changeSettingsWhileRunning(
        support::registry(), *m_tuned.front().transformer, runOf(false, true));
    QVERIFY2(fault.empty(), fault.c_str());
}

QTEST_GUILESS_MAIN(SpaceExactnessTest)
#include "space_exactness_test.moc"
