// SPDX-License-Identifier: Apache-2.0
// Lookahead gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

/// Mostly small, or the plain backend would take minutes; sometimes as large as can be set.
int randomCount(CaseRandom& random, int most) {
    return random.oneIn(40) ? random.whole(0, most) : random.whole(0, 6);
}

SettingValues randomSettings(CaseRandom& random, const LosslessTask& /*task*/) {
    static const std::vector<int> sizes = {0, 2, 2, 3, 3, 4, 5, 6, 8};
    return {{"w", static_cast<double>(randomCount(random, 64))},
            {"n", static_cast<double>(random.oneOf(sizes))},
            {"g", static_cast<double>(randomCount(random, 64))},
            {"pool_from_prompt", random.oneIn(2) ? 1.0 : 0.0},
            {"keep_pool", random.oneIn(2) ? 1.0 : 0.0}};
}

} // namespace

class LookaheadExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    LookaheadExactnessTest()
        : LosslessTest(
              registry(),
              {.decoders = {"lookahead"},
               .greedy = {.all = 2000, .sample = 45, .firstSeed = 2'000'000, .leastDrafted = 5},
               .sampled = {.all = 1000, .sample = 30, .firstSeed = 3'000'000, .leastDrafted = 2},
               .settings = randomSettings}) {}
};

QTEST_GUILESS_MAIN(LookaheadExactnessTest)
#include "lookahead_exactness_test.moc"
