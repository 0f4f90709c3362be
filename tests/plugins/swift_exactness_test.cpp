// SPDX-License-Identifier: Apache-2.0
// SWIFT gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless_test.h"
#include "tests/support/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

/// Settings from their whole ranges, so that windows open and searches run within a few tokens.
SettingValues randomSettings(CaseRandom& random, const LosslessTask& task) {
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
                        .greedy = {.all = 2000, .sample = 600, .firstSeed = 0},
                        .sampled = {.all = 500, .sample = 150, .firstSeed = 1'000'000},
                        .settings = randomSettings}) {}
};

QTEST_GUILESS_MAIN(SwiftExactnessTest)
#include "swift_exactness_test.moc"
