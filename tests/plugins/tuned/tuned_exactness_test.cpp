// SPDX-License-Identifier: Apache-2.0
// Drafts of an adapter give vanilla's own tokens, whatever the adapter holds. The default run takes
// a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
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
    static const std::vector<std::string> siblings = {"1,1,1,1", "1,1,1,2", "2,3,4,5", "1,2,8,64"};
    return {{"max_draft", static_cast<double>(random.whole(1, 16))},
            {"th", random.oneIn(3) ? random.part() : 0.0},
            {"siblings", random.oneOf(siblings)}};
}

/// Each model another kind of adapter.
void giveNextAdapter(Transformer& model) {
    static unsigned next = 0;
    support::giveAdapter(model, support::kAdapterKinds[next % support::kAdapterKinds.size()], next);
    ++next;
}

} // namespace

class TunedExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    TunedExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"tuned"},
                        .greedy = {.all = 2000, .sample = 45, .firstSeed = 91'000'000},
                        .sampled = {.all = 1000, .sample = 30, .firstSeed = 92'000'000},
                        .settings = randomSettings,
                        .prepare = giveNextAdapter}) {}

private slots:
    void everyKindOfAdapterEqualsVanilla_data();
    void everyKindOfAdapterEqualsVanilla();
    void withoutAnAdapterStepsArePlainAndItIsTold();
    void anAdapterThatFailsIsToldOnce();
};

void TunedExactnessTest::everyKindOfAdapterEqualsVanilla_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("bigram") << static_cast<int>(AdapterKind::Bigram);
    QTest::newRow("random") << static_cast<int>(AdapterKind::Random);
    QTest::newRow("zero") << static_cast<int>(AdapterKind::Zero);
    QTest::newRow("one token") << static_cast<int>(AdapterKind::OneToken);
    QTest::newRow("huge") << static_cast<int>(AdapterKind::Huge);
}

/// On a model whose layers hardly matter, so that some drafts are accepted and others are not.
void TunedExactnessTest::everyKindOfAdapterEqualsVanilla() {
    QFETCH(const int, kind);
    const auto model = support::quietModel(3, 9, {.first = 0, .end = 3, .part = 0.05F});
    support::giveAdapter(*model, static_cast<AdapterKind>(kind), 5);
    support::DraftCounts counts;
    CaseRandom random(41);
    const bool takesAll = support::takesAllCases();
    for (int index = 0; index < (takesAll ? 40 : 15); ++index) {
        support::LosslessCase tried =
            support::randomCase(random, *model, index % 2 == 1, index % 5 == 4);
        tried.settings = randomSettings(random, {});
        if (static_cast<AdapterKind>(kind) == AdapterKind::Bigram)
            tried.settings["siblings"] = std::string("1,1,1,1");
        check(support::compareWithVanilla(registry(), "tuned", tried, *model, &counts));
    }
    if (static_cast<AdapterKind>(kind) == AdapterKind::Bigram)
        QVERIFY(counts.accepted > 5 && counts.accepted < counts.drafted);
    if (static_cast<AdapterKind>(kind) != AdapterKind::Huge)
        QVERIFY(counts.drafted > 50);
}

void TunedExactnessTest::withoutAnAdapterStepsArePlainAndItIsTold() {
    const auto model = support::layeredModel(3, 9);
    const auto decoder =
        support::openDecoder("tuned", {.transformer = *model, .contextLength = 64});
    const std::vector<TokenId> prompt = {3, 1, 4};
    int notes = 0;
    for (const DecodeStep& step : support::answer(*decoder, {.tokens = prompt, .maxTokens = 8})) {
        QVERIFY(step.isPlain());
        notes += static_cast<int>(step.search.notes.size());
    }
    QCOMPARE(notes, 1);
}

void TunedExactnessTest::anAdapterThatFailsIsToldOnce() {
    const ModelConfig config = support::layeredConfig(3);
    const auto model = makePlainTransformer(config, support::randomWeights(config, 9), {}).value();
    support::giveAdapter(*model, AdapterKind::Huge, 1);
    const auto decoder =
        support::openDecoder("tuned", {.transformer = *model, .contextLength = 64});
    const std::vector<TokenId> prompt = {3, 1, 4};
    for (int answer = 0; answer < 2; ++answer) {
        int notes = 0;
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 12})) {
            QVERIFY(step.isPlain());
            notes += static_cast<int>(step.search.notes.size());
        }
        QCOMPARE(notes, 1);
    }
}

QTEST_GUILESS_MAIN(TunedExactnessTest)
#include "tuned_exactness_test.moc"
