// SPDX-License-Identifier: Apache-2.0
// SWIFT with free drafts first: what has been seen before is drafted in place of skipping layers.
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using support::tokensOf;

namespace {

constexpr int kLayers = 6;
constexpr int kAnswer = 90;
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};

Transformer& model() {
    static const auto made = support::layeredModel(kLayers, 3);
    return *made;
}

std::unique_ptr<Decoder> make(const SettingValues& settings, const SamplingOptions& sampling) {
    return support::openDecoder(
        "swift",
        {.transformer = model(), .sampling = sampling, .contextLength = 512, .settings = settings});
}

/// The rounds of the same prompt answered several times by one decoder.
std::vector<DecodeStep>
roundsOf(const SettingValues& settings, const SamplingOptions& sampling = {}, int answers = 2) {
    const auto decoder = make(settings, sampling);
    std::vector<DecodeStep> rounds;
    for (int answer = 0; answer < answers; ++answer) {
        ENGINE_CHECK(decoder->begin({.tokens = kPrompt, .maxTokens = kAnswer, .task = "task"}, {})
                         .hasValue(),
                     "a prompt was refused");
        for (std::size_t made = 0; made < kAnswer; made += rounds.back().tokens.size())
            rounds.push_back(decoder->step().value());
        ENGINE_CHECK(decoder->endAnswer().hasValue(), "an answer did not end");
    }
    return rounds;
}

bool isFree(const DecodeStep& round) { return round.planId == 0 && !round.isPlain(); }

auto freeRounds(const std::vector<DecodeStep>& rounds) {
    return std::count_if(rounds.begin(), rounds.end(), isFree);
}

SettingValues withFree(double least, SettingValues settings = {}) {
    settings.insert({{"free_draft", 1.0}, {"free_least", least}, {"gamma", 8.0}, {"weigh", 0.0}});
    return settings;
}

} // namespace

class SwiftFreeDraftTest : public QObject {
    Q_OBJECT

private slots:
    void likelyFreeDraftsGoFirst();
    void withoutTheSettingNothingIsDraftedFreely();
    void theyRepeatFromRunToRun();
    void freeRoundsSayNothingAboutTheSkipSet();
    void samplingByRejectionHasNone();
};

void SwiftFreeDraftTest::likelyFreeDraftsGoFirst() {
    for (const double temperature : {0.0, 0.8}) {
        const SamplingOptions sampling = {.temperature = temperature, .seed = 4};
        const auto never = roundsOf({{"gamma", 8.0}}, sampling);
        for (const double least : {0.0, 0.3, 0.5}) {
            const auto rounds = roundsOf(withFree(least), sampling);
            QCOMPARE(tokensOf(rounds), tokensOf(never));
            int skipping = 0;
            for (const DecodeStep& round : rounds) {
                QVERIFY(!isFree(round) || round.draft.node(0).probability >= least);
                skipping += round.planId != 0 ? 1 : 0;
            }
            QVERIFY(freeRounds(rounds) > 5); // the second answer is known
            QVERIFY(skipping > 5);           // the first one is not
        }
    }
}

void SwiftFreeDraftTest::withoutTheSettingNothingIsDraftedFreely() {
    QCOMPARE(freeRounds(roundsOf({{"gamma", 8.0}})), std::ptrdiff_t{0});
    QCOMPARE(freeRounds(roundsOf(withFree(1.0))), std::ptrdiff_t{0}); // nothing is that sure
}

void SwiftFreeDraftTest::theyRepeatFromRunToRun() {
    const auto first = roundsOf(withFree(0.5));
    const auto second = roundsOf(withFree(0.5));
    QCOMPARE(first.size(), second.size());
    for (std::size_t round = 0; round < first.size(); ++round) {
        QVERIFY(std::ranges::equal(first[round].draft.nodes(), second[round].draft.nodes()));
        QCOMPARE(first[round].tokens, second[round].tokens);
    }
}

/// Their acceptance is another drafter's: r is neither lowered nor held up by it.
void SwiftFreeDraftTest::freeRoundsSayNothingAboutTheSkipSet() {
    const SettingValues strict = {{"r", 0.5}, {"lower_below", 1.0}, {"S", 4.0}, {"beta", 1.0}};
    const auto lowerings = [](const std::vector<DecodeStep>& rounds) {
        int count = 0;
        for (const DecodeStep& round : rounds)
            for (const PlanChange& change : round.search.planChanges)
                count += change.reason == "lower r" ? 1 : 0;
        return count;
    };
    const auto draftedBySkipping = [](const std::vector<DecodeStep>& rounds) {
        int drafted = 0;
        for (const DecodeStep& round : rounds)
            drafted += round.planId != 0 ? round.draft.draftSteps() : 0;
        return drafted;
    };
    const auto skipping = roundsOf(strict, {}, 8);
    const auto freely = roundsOf(withFree(0.0, strict), {}, 8);
    QVERIFY(lowerings(skipping) > 0);
    QVERIFY(draftedBySkipping(freely) < 256); // too few for a stretch
    QCOMPARE(lowerings(freely), 0);
}

void SwiftFreeDraftTest::samplingByRejectionHasNone() {
    const SettingValues settings = {{"verification", std::string("rejection")}};
    const SamplingOptions sampling = {.temperature = 0.8, .seed = 4};
    QCOMPARE(freeRounds(roundsOf(withFree(0.0, settings), sampling)), std::ptrdiff_t{0});
    QVERIFY(freeRounds(roundsOf(withFree(0.0, settings))) > 5); // greedy: the rules are one
}

QTEST_GUILESS_MAIN(SwiftFreeDraftTest)
#include "swift_free_draft_test.moc"
