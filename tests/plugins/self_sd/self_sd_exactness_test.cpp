// SPDX-License-Identifier: Apache-2.0
// Self-SD gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "engine/model/skip_sets/skip_set.h"
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <numeric>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

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
SettingValues randomSettings(CaseRandom& random, const LosslessTask& task) {
    static const std::vector<std::string> siblings = {"1,1,1,1", "1,3,5,10", "4,3,2,1", "2,2,2,2"};
    static const std::vector<std::string> starts = {"manual", "manual", "uniform", "library"};
    static const std::vector<std::string> rules = {"match", "rejection"};
    return {{"start", random.oneOf(starts)},
            {"skip_set", randomPlan(random, task.layerCount)},
            {"r", random.oneIn(6) ? 1.0 : random.part()},
            {"th", random.oneIn(3) ? 0.0 : random.part()},
            {"adapt", random.oneIn(4) ? 0.0 : 1.0},
            {"a", random.part()},
            {"step", random.part()},
            {"beta1", random.part()},
            {"beta2", random.part()},
            {"max_draft", static_cast<double>(random.whole(1, 18))},
            {"verification", task.samples ? std::string("match") : random.oneOf(rules)},
            {"shared_noise", random.oneIn(3) ? 0.0 : 1.0},
            {"dynamic_verification", random.oneIn(3) ? 1.0 : 0.0},
            {"epsilon", random.oneIn(3) ? 0.0 : random.part()},
            {"siblings", random.oneOf(siblings)},
            {"tree_nodes", static_cast<double>(random.whole(0, 24))}};
}

} // namespace

class SelfSdExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    SelfSdExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"self_sd"},
                        .greedy = {.all = 2000, .sample = 45, .firstSeed = 2'000'000},
                        .sampled = {.all = 500, .sample = 30, .firstSeed = 3'000'000},
                        .settings = randomSettings}) {}
};

QTEST_GUILESS_MAIN(SelfSdExactnessTest)
#include "self_sd_exactness_test.moc"
