// SPDX-License-Identifier: Apache-2.0
// DEL and DEL by milliseconds give vanilla's own tokens whatever their settings. The default run
// takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
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

SettingValues delMsSettings(CaseRandom& random) {
    SettingValues values = sharedSettings(random);
    values["compare_share"] = random.oneIn(5) ? 0.0 : random.oneIn(3) ? 1.0 : random.part();
    values["margin"] = random.oneIn(3) ? 0.02 : -1.0;
    return values;
}

SettingValues randomSettings(CaseRandom& random, const LosslessTask& task) {
    return task.decoder == "del-ms" ? delMsSettings(random) : delSettings(random, task.layerCount);
}

/// An untrained network's exits rarely agree with its end, and then rounds are rightly plain.
constexpr int kLeastDrafted = 5;

} // namespace

class DelExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    DelExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"del", "del-ms"},
                        .greedy = {.all = 2000,
                                   .sample = 45,
                                   .firstSeed = 7'000'000,
                                   .leastDrafted = kLeastDrafted},
                        .sampled = {.all = 2000,
                                    .sample = 30,
                                    .firstSeed = 7'000'000,
                                    .leastDrafted = kLeastDrafted},
                        .settings = randomSettings}) {}

private slots:

    void greedyRejectionEqualsVanilla_data() { addDecoders(); }

    void greedyRejectionEqualsVanilla();
};

void DelExactnessTest::greedyRejectionEqualsVanilla() {
    support::LosslessRun run = runOfRow(false);
    run.allCases = 500;
    run.sampleCases = 15;
    run.settings = [matching = run.settings](CaseRandom& random, int layerCount) {
        SettingValues values = matching(random, layerCount);
        values["verification"] = std::string("rejection");
        return values;
    };
    compare(run);
}

QTEST_GUILESS_MAIN(DelExactnessTest)
#include "del_exactness_test.moc"
