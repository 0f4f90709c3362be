// SPDX-License-Identifier: Apache-2.0
// CLaSp and KnapSpec give vanilla's own tokens whatever their settings, whenever they look for
// another set. The default run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all
// of them.
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

/// In a case: KnapSpec drafts single tokens where it expects a longer draft not to pay.
constexpr int kLeastDrafted = 5;

/// Settings from their whole ranges, updates within an answer among them. With sampling only the
/// rule that repeats vanilla's tokens.
SettingValues randomSettings(CaseRandom& random, const LosslessTask& task) {
    static const std::vector<std::string> rules = {"match", "rejection"};
    SettingValues values = {
        {"interval", static_cast<double>(random.whole(1, random.oneIn(3) ? 100 : 6))},
        {"references", static_cast<double>(random.whole(1, random.oneIn(3) ? 16 : 2))},
        {"check", random.oneIn(2) ? 0.0 : 1.0},
        {"confidence", random.oneIn(3) ? 0.0 : random.part()},
        {"max_draft", static_cast<double>(random.whole(1, random.oneIn(4) ? 64 : 8))},
        {"verification", task.samples ? std::string("match") : random.oneOf(rules)},
        {"shared_noise", random.oneIn(3) ? 0.0 : 1.0}};
    if (task.decoder == "clasp")
        values["skipped"] = static_cast<double>(random.whole(0, task.layerCount - 2));
    else
        values["most"] = 0.5 + 0.45 * random.part();
    return values;
}

} // namespace

class ClaspExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    ClaspExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"clasp", "knapspec"},
                        .greedy = {.all = 2000,
                                   .sample = 45,
                                   .firstSeed = 21'000'000,
                                   .leastDrafted = kLeastDrafted},
                        .sampled = {.all = 500,
                                    .sample = 30,
                                    .firstSeed = 22'000'000,
                                    .leastDrafted = kLeastDrafted},
                        .settings = randomSettings}) {}
};

QTEST_GUILESS_MAIN(ClaspExactnessTest)
#include "clasp_exactness_test.moc"
