// SPDX-License-Identifier: Apache-2.0
// DEL and DEL by milliseconds give vanilla's own tokens whatever their settings. The default run
// takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless_case.h"
#include "tests/support/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::registry;

namespace {

/// Settings from their whole ranges, mostly where drafts are made.
SettingValues sharedSettings(CaseRandom& random) {
    return {{"max_draft", static_cast<double>(random.oneIn(4) ? 64 : random.whole(1, 18))},
            {"context_rows", static_cast<double>(random.oneIn(3) ? 0 : random.whole(1, 128))},
            {"w", random.oneIn(5) ? 0.0 : random.part()},
            {"near", static_cast<double>(random.whole(0, 4))},
            {"every", static_cast<double>(random.oneIn(2) ? 1 : random.whole(2, 8))},
            {"keep_statistics", random.oneIn(3) ? 1.0 : 0.0},
            {"compare_laws", random.oneIn(2) ? 1.0 : 0.0}};
}

SettingValues delSettings(CaseRandom& random, int layerCount) {
    static const std::vector<std::string> rules = {"ours", "paper", "code"};
    static const std::vector<std::string> starts = {"fused", "prefill"};
    static const std::vector<std::string> lengths = {"threshold", "chosen"};
    SettingValues values = sharedSettings(random);
    values["rule"] = random.oneOf(rules);
    values["start"] = random.oneOf(starts);
    values["length"] = random.oneOf(lengths);
    values["exit_layer"] =
        random.oneIn(3) ? static_cast<double>(random.whole(1, layerCount - 1)) : 0.0;
    values["official_nan"] = random.oneIn(2) ? 1.0 : 0.0;
    values["compare_every"] = static_cast<double>(random.whole(1, 4));
    return values;
}

SettingValues delMsSettings(CaseRandom& random, int /*layerCount*/) {
    SettingValues values = sharedSettings(random);
    values["compare_share"] = random.oneIn(5) ? 0.0 : random.oneIn(3) ? 1.0 : random.part();
    values["margin"] = random.oneIn(3) ? 0.02 : -1.0;
    return values;
}

} // namespace

class DelExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() { m_models = support::caseModels(); }

    void greedyEqualsVanilla_data() { decoders(); }

    void greedyEqualsVanilla() { compare(false, 2000, 150); }

    void samplingEqualsVanillaTokenByToken_data() { decoders(); }

    void samplingEqualsVanillaTokenByToken() { compare(true, 2000, 60); }

    void greedyRejectionEqualsVanilla_data() { decoders(); }

    void greedyRejectionEqualsVanilla() { compare(false, 500, 30, "rejection"); }

    void settingsChangedWhileRunningChangeNoToken_data() { decoders(); }

    void settingsChangedWhileRunningChangeNoToken() {
        const std::string fault = support::changeSettingsWhileRunning(
            registry(), *m_models.front().transformer, run(false, 0, 0));
        QVERIFY2(fault.empty(), fault.c_str());
    }

private:
    static void decoders() {
        QTest::addColumn<QString>("decoder");
        for (const char* name : {"del", "del-ms"})
            QTest::addRow("%s", name) << name;
    }

    /// An untrained network's exits rarely agree with its end, and then rounds are rightly plain,
    /// which is why few drafted tokens a case are asked for.
    static support::LosslessRun
    run(bool samples, int allCases, int sampleCases, const std::string& verification = "match") {
        QFETCH(QString, decoder);
        const bool isByTime = decoder == "del-ms";
        return {.decoder = decoder.toStdString(),
                .allCases = allCases,
                .sampleCases = sampleCases,
                .samples = samples,
                .firstSeed = isByTime ? 7'000'000U : 6'000'000U,
                .leastDrafted = 5,
                .settings = [isByTime, verification](CaseRandom& random, int layerCount) {
                    SettingValues values = isByTime ? delMsSettings(random, layerCount)
                                                    : delSettings(random, layerCount);
                    values["verification"] = verification;
                    return values;
                }};
    }

    void compare(bool samples,
                 int allCases,
                 int sampleCases,
                 const std::string& verification = "match") {
        const std::string fault = support::runLosslessCases(
            registry(), m_models, run(samples, allCases, sampleCases, verification));
        QVERIFY2(fault.empty(), fault.c_str());
    }

    std::vector<support::CaseModel> m_models;
};

QTEST_GUILESS_MAIN(DelExactnessTest)
#include "del_exactness_test.moc"
