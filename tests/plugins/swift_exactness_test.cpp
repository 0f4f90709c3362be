// SPDX-License-Identifier: Apache-2.0
// SWIFT gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless_case.h"

#include <QDir>
#include <QTest>

using namespace engine;
using support::CaseRandom;

namespace {

DecoderRegistry& registry() {
    static DecoderRegistry decoders(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    return decoders;
}

/// Settings from their whole ranges, so that windows open and searches run within a few tokens.
SettingValues randomSettings(CaseRandom& random, int layerCount) {
    static const std::vector<std::string> profiles = {"paper", "code", "guided"};
    static const std::vector<std::string> siblings = {
        "1,1,1,1", "1,3,5,10", "published", "4,3,2,1", "2,2,2,2"};
    static const std::vector<std::string> starts = {
        "uniform", "odd", "influence", "manual", "last"};
    static const std::vector<std::string> proposals = {"uniform", "influence"};
    static const std::vector<std::string> budgets = {"sublayers", "bytes"};
    const double part = random.oneIn(5) ? 1.0 : random.part();
    return {{"profile", random.oneOf(profiles)},
            {"r", random.oneIn(6) ? 0.95 : 0.95 * random.part()},
            {"gamma", static_cast<double>(random.whole(1, 10))},
            {"epsilon", random.oneIn(3) ? 0.0 : random.part()},
            {"beta", static_cast<double>(random.whole(1, 6))},
            {"S", static_cast<double>(random.whole(0, 30))},
            {"opt_interval", static_cast<double>(random.whole(1, 3))},
            {"rows_per_trial", static_cast<double>(random.whole(1, 12))},
            {"max_draft", static_cast<double>(random.whole(1, 14))},
            {"tree_nodes", static_cast<double>(random.whole(1, 24))},
            {"siblings", random.oneOf(siblings)},
            {"start", random.oneOf(starts)},
            {"skip_set", support::randomSkipSet(random, 1, layerCount - 1, part)},
            {"proposals", random.oneOf(proposals)},
            {"budget", random.oneOf(budgets)},
            {"grow", random.oneIn(3) ? 1.0 : 0.0},
            {"early_stop", random.oneIn(4) ? 0.0 : 1.0},
            {"dynamic_verification", random.oneIn(4) ? 0.0 : 1.0},
            {"shared_noise", random.oneIn(3) ? 0.0 : 1.0},
            {"search_seed", static_cast<double>(random.whole(0, 1000))}};
}

} // namespace

class SwiftExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() { m_models = support::caseModels(); }

    void greedyEqualsVanilla() { runCases(2000, 600, false); }

    void samplingEqualsVanillaTokenByToken() { runCases(500, 150, true); }

    void settingsChangedWhileRunningChangeNoToken();

private:
    void runCases(int all, int sample, bool samples);

    std::vector<support::CaseModel> m_models;
};

void SwiftExactnessTest::runCases(int all, int sample, bool samples) {
    const int count =
        qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_EXACTNESS") == 1 ? all : sample;
    int drafted = 0;
    for (int seed = 0; seed < count; ++seed) {
        CaseRandom random(static_cast<std::uint64_t>(seed) + (samples ? 1'000'000 : 0));
        support::CaseModel& model = m_models[static_cast<std::size_t>(seed) % m_models.size()];
        auto tried = support::randomCase(random, *model.transformer, samples);
        tried.settings = randomSettings(random, model.transformer->config().layerCount);
        const std::string fault =
            support::compareWithVanilla(registry(), "swift", tried, *model.transformer, &drafted);
        QVERIFY2(fault.empty(), fmt::format("case {} on {}: {}", seed, model.name, fault).c_str());
    }
    // Cases that draft nothing would show nothing.
    QVERIFY(drafted > 10 * count);
    qInfo("%d cases, %d drafted tokens", count, drafted);
}

void SwiftExactnessTest::settingsChangedWhileRunningChangeNoToken() {
    Transformer& transformer = *m_models.front().transformer;
    const DecoderInfo info = registry().info("swift").value();
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CaseRandom random(seed + 5000);
        const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
        auto vanilla = makeVanillaDecoder(transformer, {}, 256);
        auto tested = registry().make("swift", {.transformer = transformer, .contextLength = 256});
        QVERIFY(vanilla.value()->begin({prompt}, {}).hasValue());
        QVERIFY(tested.value()->begin({prompt}, {}).hasValue());
        std::vector<TokenId> found;
        while (found.size() < 100) {
            const auto step = tested.value()->step();
            QVERIFY(step.hasValue());
            found.insert(found.end(), step.value().tokens.begin(), step.value().tokens.end());
            const auto values = resolveSettings(info, randomSettings(random, 5));
            QVERIFY(tested.value()->configure(values.value()).hasValue());
        }
        for (const TokenId token : found)
            QCOMPARE(token, vanilla.value()->step().value().tokens.front());
    }
}

QTEST_GUILESS_MAIN(SwiftExactnessTest)
#include "swift_exactness_test.moc"
