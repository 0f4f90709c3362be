// SPDX-License-Identifier: Apache-2.0
// Jacobi, Gauss-Seidel and hybrid decoding give vanilla's own tokens whatever its settings. The
// default run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

SettingValues randomSettings(CaseRandom& random, const LosslessTask& /*task*/) {
    static const std::vector<std::string> modes = {"jacobi", "gauss_seidel", "hybrid"};
    static const std::vector<std::string> refills = {"random", "pool"};
    static const std::vector<int> blocks = {0, 1, 2, 3, 3, 5, 8, 16, 512};
    return {{"mode", random.oneOf(modes)},
            {"block", static_cast<double>(random.oneOf(blocks))},
            {"refill", random.oneOf(refills)},
            {"budget", random.oneIn(3) ? static_cast<double>(random.whole(0, 12)) : 511.0}};
}

} // namespace

class JacobiExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    JacobiExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"jacobi"},
                        .greedy = {.all = 2000, .sample = 45, .firstSeed = 2'000'000},
                        .sampled = {.all = 1000, .sample = 30, .firstSeed = 3'000'000},
                        .settings = randomSettings}) {}
};

QTEST_GUILESS_MAIN(JacobiExactnessTest)
#include "jacobi_exactness_test.moc"
