// SPDX-License-Identifier: Apache-2.0
// Auto gives vanilla's own tokens whatever it chooses, and chooses by what steps cost. The default
// run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "tests/support/few_cases.h"
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/tiny_adapter.h"

#include <QTest>

using namespace engine;
using support::AdapterKind;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

SettingValues randomSettings(CaseRandom& random, const LosslessTask& /*task*/) {
    return {{"max_nodes", static_cast<double>(random.whole(0, 24))},
            {"margin", random.oneIn(4) ? random.part() * 0.2 : -1.0},
            {"lookup", random.oneIn(5) ? 0.0 : 1.0},
            {"successors", random.oneIn(8) ? 0.0 : 1.0},
            {"skip_layers", random.oneIn(3) ? 0.0 : 1.0},
            {"early_exit", random.oneIn(3) ? 0.0 : 1.0},
            {"draft_adapter", random.oneIn(3) ? 0.0 : 1.0},
            {"probing", random.oneIn(3) ? 0.005 : 1.0}};
}

} // namespace

class AutoExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    AutoExactnessTest()
        : LosslessTest(
              registry(),
              {.decoders = {"auto"},
               .greedy = {.all = 2000, .sample = 60, .firstSeed = 4'000'000, .leastDrafted = 2},
               .sampled = {.all = 1000, .sample = 30, .firstSeed = 5'000'000, .leastDrafted = 2},
               .settings = randomSettings}) {}

private slots:

    void everyStepSaysWhatWasChosen() {
        auto made = registry().make("auto", {.transformer = transformer(), .contextLength = 256});
        QVERIFY(made.hasValue());
        Decoder& decoder = *made.value();
        const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
        QVERIFY(decoder.begin({.tokens = prompt, .maxTokens = 120}, {}).hasValue());
        int made120 = 0; // tokens
        for (int step = 0; made120 < 120; ++step) {
            const DecodeStep told = decoder.step().value();
            made120 += static_cast<int>(told.tokens.size());
            QCOMPARE(told.choice.drafter == "none", told.isPlain());
            QCOMPARE(told.choice.nodes, told.draft.size());
            if (step == 0)
                QVERIFY(told.isPlain()); // nothing is known of costs
            if (step > 0)
                QVERIFY(told.choice.plainMs > 0.0);
            if (told.isPlain() || told.choice.isProbe)
                continue;
            QVERIFY(told.choice.expectedTokens > 1.02 * told.choice.expectedCost);
            QVERIFY(!told.choice.refused.empty());
            QVERIFY(told.choice.refused != told.choice.drafter);
        }
    }

    void withEveryKindOfAdapterItEqualsVanilla_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("bigram") << static_cast<int>(AdapterKind::Bigram);
        QTest::newRow("random") << static_cast<int>(AdapterKind::Random);
        QTest::newRow("zero") << static_cast<int>(AdapterKind::Zero);
        QTest::newRow("one token") << static_cast<int>(AdapterKind::OneToken);
        QTest::newRow("huge") << static_cast<int>(AdapterKind::Huge);
    }

    /// Greedy and drawn. Where any rate will do the adapter drafts most rounds, with what was seen
    /// before beside it, and by turns with skipped layers and exits, if those are on.
    void withEveryKindOfAdapterItEqualsVanilla() {
        QFETCH(const int, kind);
        const auto model = support::quietModel(3, 9, {.first = 0, .end = 3, .part = 0.05F});
        support::giveAdapter(*model, static_cast<AdapterKind>(kind), 5);
        support::DraftCounts counts;
        CaseRandom random(43);
        const bool takesAll = support::takesAllCases();
        for (int index = 0; index < (takesAll ? 60 : 20); ++index) {
            support::LosslessCase tried =
                support::randomCase(random, *model, index % 2 == 1, index % 5 == 4);
            tried.settings = randomSettings(random, {});
            tried.settings["draft_adapter"] = 1.0;
            if (index % 3 != 0)
                tried.settings["margin"] = -1.0;
            check(support::compareWithVanilla(registry(), "auto", tried, *model, &counts));
        }
        QVERIFY(counts.drafted > 15);
    }

    void whatCannotPayIsNotDrafted() {
        DecoderContext context{.transformer = transformer(), .contextLength = 256};
        context.settings = {
            {"lookup", 0.0}, {"successors", 0.0}, {"skip_layers", 0.0}, {"early_exit", 0.0}};
        auto made = registry().make("auto", context);
        QVERIFY(made.hasValue());
        const std::vector<TokenId> prompt = {3, 1, 4};
        QVERIFY(made.value()->begin({.tokens = prompt, .maxTokens = 40}, {}).hasValue());
        for (int step = 0; step < 40; ++step) {
            const DecodeStep told = made.value()->step().value();
            QVERIFY(told.isPlain());
            QVERIFY(told.choice.drafter == "none");
        }
    }
};

QTEST_GUILESS_MAIN(AutoExactnessTest)
#include "auto_exactness_test.moc"
