// SPDX-License-Identifier: Apache-2.0
// SWIFT gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/few_cases.h"
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

/// Settings from their whole ranges, so that windows open and searches run within a few tokens.
SettingValues randomSettings(CaseRandom& random, const LosslessTask& task) {
    static const std::vector<std::string> profiles = {"ours", "paper", "code", "guided"};
    static const std::vector<std::string> siblings = {
        "1,1,1,1", "1,3,5,10", "published", "4,3,2,1", "2,2,2,2"};
    static const std::vector<std::string> starts = {
        "uniform", "odd", "influence", "stream", "manual", "last"};
    static const std::vector<std::string> proposals = {"uniform", "influence"};
    static const std::vector<std::string> budgets = {"sublayers", "bytes"};
    const std::string& start = random.oneOf(starts); // no set is stored: "last" has to search
    // A tree of less than 10 nodes cannot be asked for with these siblings; 0 is a bounded one.
    const double nodes =
        random.oneIn(4) ? 0.0 : static_cast<double>(random.whole(10, random.oneIn(12) ? 250 : 24));
    const double part = random.oneIn(5) ? 1.0 : random.part();
    return {{"profile", random.oneOf(profiles)},
            {"r", random.oneIn(6) ? 0.95 : 0.95 * random.part()},
            {"gamma", static_cast<double>(random.whole(1, 10))},
            {"epsilon", random.oneIn(3) ? 0.0 : random.part()},
            {"beta", static_cast<double>(random.whole(1, 6))},
            {"S", static_cast<double>(random.whole(start == "last" ? 1 : 0, 30))},
            {"opt_interval", static_cast<double>(random.whole(1, 3))},
            {"rows_per_trial", static_cast<double>(random.whole(1, 12))},
            {"max_draft", static_cast<double>(random.whole(1, 14))},
            {"tree_nodes", nodes},
            {"siblings", random.oneOf(siblings)},
            {"start", start},
            {"skip_set", support::randomSkipSet(random, 1, task.layerCount - 1, part)},
            {"proposals", random.oneOf(proposals)},
            {"budget", random.oneOf(budgets)},
            {"grow", random.oneIn(3) ? 1.0 : 0.0},
            {"free_draft", random.oneIn(3) ? 1.0 : 0.0},
            {"free_least", random.oneIn(3) ? 0.0 : random.part()},
            {"early_stop", random.oneIn(4) ? 0.0 : 1.0},
            {"dynamic_verification", random.oneIn(4) ? 0.0 : 1.0},
            // Sampled, rejection has vanilla's law but other tokens.
            {"verification", std::string(task.samples || random.oneIn(2) ? "match" : "rejection")},
            {"shared_noise", random.oneIn(3) ? 0.0 : 1.0},
            {"search_seed", static_cast<double>(random.whole(0, 1000))}};
}

} // namespace

class SwiftExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    SwiftExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"swift"},
                        .greedy = {.all = 2000, .sample = 120, .firstSeed = 0},
                        .sampled = {.all = 500, .sample = 45, .firstSeed = 1'000'000},
                        .settings = randomSettings}) {}

private slots:
    void draftsOfPeakedNetworksAreSureAndRightOrWrong();
    void theWidestTreesGiveVanillasTokens();
};

/// Else a verifier that trusts such drafts would pass all the cases.
void SwiftExactnessTest::draftsOfPeakedNetworksAreSureAndRightOrWrong() {
    constexpr double kSure = 0.9999;
    int right = 0;
    int wrong = 0;
    for (const support::CaseModel& model : models()) {
        if (!model.name.starts_with("peaked"))
            continue;
        const auto decoder = support::openDecoder(
            "swift", {.transformer = *model.transformer, .contextLength = 256});
        const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 120}))
            for (int node = 0; node < step.draft.size(); ++node)
                if (step.draft.node(node).probability > kSure)
                    ++(std::find(step.path.begin(), step.path.end(), node) == step.path.end()
                           ? wrong
                           : right);
    }
    qInfo("of the sure tokens %d were right, %d wrong", right, wrong);
    QVERIFY(right > 20 && wrong > 20);
}

/// Trees of up to 251 rows, whole and cut by the room that answer and context leave: the tokens and
/// the cached numbers are vanilla's after every step. In a sample each network meets one or two of
/// the four combinations.
void SwiftExactnessTest::theWidestTreesGiveVanillasTokens() {
    const bool takesAll = support::takesAllCases();
    support::DraftCounts counts;
    int cases = 0;
    for (std::size_t i = 0; i < 3; ++i) { // the random ones
        const support::CaseModel& model = models()[i];
        for (const double temperature : {0.0, 0.8})
            for (const int contextLength : {40, 300}) {
                const std::size_t place =
                    i + (temperature > 0.0 ? 1U : 0U) + (contextLength > 40 ? 1U : 0U);
                if (!takesAll && place % 3 != 0)
                    continue;
                support::LosslessCase tried{
                    .prompts = {{3, 1, 4, 1, 5}},
                    .endIds = {},
                    .maxTokens = 30,
                    .contextLength = contextLength,
                    .sampling = {.temperature = temperature, .seed = 7},
                    .settings = {{"profile", std::string(temperature > 0.0 ? "code" : "paper")},
                                 {"early_stop", 0.0},
                                 {"gamma", 8.0},
                                 {"r", 0.3}}};
                const std::string fault = support::compareWithVanilla(
                    registry(), "swift", tried, *model.transformer, &counts);
                QVERIFY2(fault.empty(), (model.name + ": " + fault).c_str());
                ++cases;
            }
    }
    QVERIFY2(counts.drafted > 200 * cases, qPrintable(QString::number(counts.drafted / cases)));
}

QTEST_GUILESS_MAIN(SwiftExactnessTest)
#include "swift_exactness_test.moc"
