// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/exit_drafter.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/spy_transformer.h"

#include <QTest>

#include <random>

using namespace engine;
using support::draftedTokens;
using support::Ids;
using support::isCacheFresh;
using support::joined;

namespace {

constexpr int kLayers = 5;
constexpr int kContext = 300;

Transformer& transformer() {
    static const std::unique_ptr<Transformer> made = support::layeredModel(kLayers, 21);
    return *made;
}

/// Later layers that add little, so that exits are often right.
Transformer& quietTransformer() {
    static const auto made = support::quietModel(kLayers, 21, {1, kLayers, 0.05F});
    return *made;
}

Ids randomPrompt(unsigned seed, std::size_t length) {
    std::mt19937 random(seed);
    return support::randomIds(random, length);
}

Target makeTarget(const Ids& prompt,
                  int unread = 0,
                  const SamplingOptions& sampling = {},
                  Transformer& model = transformer()) {
    Target target = Target::make(model, sampling, kContext, 1).value();
    ENGINE_CHECK(target.begin({prompt}, {}, unread).hasValue(), "the prompt was refused");
    return target;
}

/// How a chain is drafted here: the exit, and the terms without their stop rule.
struct Exit {
    ExitDraftOptions options;
    DraftTerms terms = {};
};

Draft draftOf(ExitDrafter& drafter,
              Target& target,
              const Exit& exit,
              const DraftStopRule& rule = ConfidenceStopRule(0.0, 99)) {
    drafter.use(exit.options);
    DraftTerms terms = exit.terms;
    terms.stopRule = &rule;
    return support::valueOf(drafter.draft(target, terms));
}

/// The stream behind the first `layers` layers of the last `rows` of these tokens, one fresh pass.
std::vector<double> freshStream(const Ids& tokens, int layers, std::size_t rows) {
    KvCache cache = support::emptyCache(transformer(), kContext);
    HiddenRows states;
    const HandOut handOut{layers - 1, &states};
    const auto pass =
        transformer().forward({.plan = LayerPlan::full(kLayers),
                               .layout = AttentionLayout::chain(0, static_cast<int>(tokens.size())),
                               .tokens = tokens,
                               .endLayer = layers,
                               .handOuts = {&handOut, 1}},
                              cache);
    ENGINE_CHECK(pass.hasValue(), "a pass failed");
    const auto width = static_cast<std::size_t>(transformer().config().hiddenSize);
    const auto all = support::numbersOf(states, transformer().config().hiddenSize);
    return {all.end() - static_cast<std::ptrdiff_t>(rows * width), all.end()};
}

/// What the exit says behind these tokens, by a fresh pass of a fresh cache.
HeadSummary freshExit(const Ids& tokens, int exitLayers) {
    return support::freshSummary(transformer(), tokens, exitPlan(kLayers, exitLayers));
}

bool isSame(const HiddenRows* states, const std::vector<double>& expected) {
    return support::numbersOf(*states, transformer().config().hiddenSize) == expected;
}

Ids vanillaAnswer(const Ids& prompt, std::size_t count) {
    return support::vanillaAnswer(transformer(), prompt, count);
}

} // namespace

class ExitDrafterTest : public QObject {
    Q_OBJECT

private slots:
    void theStreamOfEveryRowIsThatOfAFreshPass();
    void theChainIsWhatTheExitSays();
    void aResumedVerificationIsTheWholeOne();
    void aFirstRoundDraftsStraightFromThePrompt();
    void roundsOfChangingExitsKeepTheCache();
    void aRoundLoadsEveryLayerAsOftenAsSaid();
    void anEndIdStopsTheDraftAndStays();
    void theStopRuleIsAskedBehindEachToken();
    void anUnsureTokenMayBeDropped();
    void rejectionMayDropToo();
    void aDraftLeavesRoomForTheBonus();
    void withoutRoomNothingRuns();
    void sharedNoiseDraftsWhatTheExitWouldDraw();
    void rejectionKnowsWhatEachTokenWasDrawnFrom();
    void aStopEndsADraft();
    void exitsThatTheModelDoesNotHaveAreBugs();
};

void ExitDrafterTest::theStreamOfEveryRowIsThatOfAFreshPass() {
    for (const int length : {1, 2, 7}) {
        const Ids prompt = randomPrompt(3, length);
        for (int exit = 1; exit < kLayers; ++exit) {
            Target target = makeTarget(prompt, kPrefillRows);
            ExitDrafter drafter;
            std::vector<int> earlier;
            for (int layer = exit % 2; layer < exit - 1; layer += 2)
                earlier.push_back(layer);
            while (target.output().size() < 14) {
                const std::size_t rows = target.unread().size() + 1 + 4;
                Draft made =
                    draftOf(drafter,
                            target,
                            {{.exitLayers = exit, .earlierLayers = earlier}, {.maxDepth = 4}});
                QCOMPARE(made.tree.size(), 4);
                QCOMPARE(made.layersRun, exit);
                const Ids tokens =
                    joined(joined(prompt, target.output()), draftedTokens(made.tree));
                QVERIFY(isSame(made.hidden, freshStream(tokens, exit, rows)));
                QCOMPARE(made.earlier.size(), earlier.size());
                for (std::size_t i = 0; i < earlier.size(); ++i)
                    QVERIFY(isSame(made.earlier[i], freshStream(tokens, earlier[i] + 1, rows)));
                QVERIFY(target.verify(std::move(made)).hasValue());
            }
        }
    }
}

void ExitDrafterTest::theChainIsWhatTheExitSays() {
    const Ids prompt = randomPrompt(5, 6);
    for (int exit = 1; exit < kLayers; ++exit) {
        // All rows go through the first layers alone, so a fresh pass of them alone says the same.
        Target target = makeTarget(prompt, kPrefillRows);
        ExitDrafter drafter;
        const Draft made = draftOf(drafter, target, {{.exitLayers = exit}, {.maxDepth = 5}});
        Ids tokens = prompt;
        for (int node = 0; node < made.tree.size(); ++node) {
            const HeadSummary summary = freshExit(tokens, exit);
            const DraftNode& drafted = made.tree.node(node);
            QCOMPARE(drafted.token, summary.best());
            QCOMPARE(drafted.parent, node - 1);
            QCOMPARE(drafted.probability, summary.probability(0));
            QCOMPARE(made.tree.confidences()[static_cast<std::size_t>(node)],
                     summary.probability(0));
            tokens.push_back(drafted.token);
        }
    }
}

void ExitDrafterTest::aResumedVerificationIsTheWholeOne() {
    const Ids prompt = randomPrompt(7, 9);
    for (int exit = 1; exit < kLayers; ++exit) {
        Target resumed = makeTarget(prompt, 5);
        Target whole = makeTarget(prompt, 5);
        ExitDrafter drafter;
        while (resumed.output().size() < 20) {
            Draft made = draftOf(drafter, resumed, {{.exitLayers = exit}, {.maxDepth = 4}});
            const DraftTree draft = made.tree;
            const auto step = resumed.verify(std::move(made));
            const auto expected = whole.verify(draft, VerifyRule::Match);
            QVERIFY(step.hasValue() && expected.hasValue());
            QCOMPARE(step.value().tokens, expected.value().tokens);
            QCOMPARE(step.value().path, expected.value().path);
            QCOMPARE(resumed.lastSummaries().size(), whole.lastSummaries().size());
            for (std::size_t row = 0; row < resumed.lastSummaries().size(); ++row)
                QVERIFY(resumed.lastSummaries()[row].logits == whole.lastSummaries()[row].logits);
            QVERIFY(support::liveBytes(resumed.cache()) == support::liveBytes(whole.cache()));
        }
    }
}

void ExitDrafterTest::aFirstRoundDraftsStraightFromThePrompt() {
    for (const int length : {1, 2, 129, 200}) {
        const Ids prompt = randomPrompt(9, length);
        const Ids expected = vanillaAnswer(prompt, 12);
        Target target = makeTarget(prompt, kPrefillRows);
        QCOMPARE(static_cast<int>(target.unread().size()), std::min(length - 1, kPrefillRows));
        ExitDrafter drafter;
        for (int round = 0; target.output().size() < 12; ++round) {
            const std::size_t rows = target.unread().size() + 1 + 3;
            Draft made = draftOf(drafter, target, {{.exitLayers = 2}, {.maxDepth = 3}});
            QCOMPARE(made.tree.size(), 3);
            QCOMPARE(made.hidden->count(), static_cast<int>(rows));
            QVERIFY(target.verify(std::move(made)).hasValue());
            QVERIFY(target.unread().empty());
        }
        QVERIFY(std::equal(expected.begin(), expected.end(), target.output().begin()));
        QVERIFY(isCacheFresh(target, prompt));
    }
}

void ExitDrafterTest::roundsOfChangingExitsKeepTheCache() {
    const Ids prompt = randomPrompt(11, 8);
    const Ids expected = vanillaAnswer(prompt, 40);
    Target target = makeTarget(prompt, 3);
    ExitDrafter drafter;
    int accepted = 0;
    for (int round = 0; target.output().size() < 40; ++round) {
        Draft made = draftOf(drafter,
                             target,
                             {{.exitLayers = 1 + round % (kLayers - 1)},
                              {.maxDepth = round % 6}}); // sometimes nothing is drafted
        const auto step = target.verify(std::move(made));
        QVERIFY(step.hasValue());
        accepted += static_cast<int>(step.value().path.size());
        QVERIFY(isCacheFresh(target, prompt));
    }
    QVERIFY(accepted > 0);
    QVERIFY(std::equal(expected.begin(), expected.end(), target.output().begin()));
}

void ExitDrafterTest::aRoundLoadsEveryLayerAsOftenAsSaid() {
    const Ids prompt = randomPrompt(13, 4);
    Target target = makeTarget(prompt);
    ExitDrafter drafter;
    for (int exit = 1; exit < kLayers; ++exit)
        for (const int length : {1, 3, 5}) {
            Draft made = draftOf(drafter, target, {{.exitLayers = exit}, {.maxDepth = length}});
            const double draftLoads = made.layerLoads;
            const auto step = target.verify(std::move(made));
            QVERIFY(step.hasValue());
            QCOMPARE(step.value().draftLayers, draftLoads);
            QCOMPARE(draftLoads + step.value().verifyLayers,
                     static_cast<double>(length * exit + kLayers));
        }
}

void ExitDrafterTest::anEndIdStopsTheDraftAndStays() {
    const Ids prompt = randomPrompt(15, 5);
    Target plain = makeTarget(prompt, kPrefillRows, {}, quietTransformer());
    ExitDrafter drafter;
    const Draft free = draftOf(drafter, plain, {{.exitLayers = 2}, {.maxDepth = 6}});
    QCOMPARE(free.tree.size(), 6);
    const Ids drafted = draftedTokens(free.tree);
    TokenId unused = 0;
    while (std::find(drafted.begin(), drafted.end(), unused) != drafted.end())
        ++unused;
    for (std::size_t place = 0; place < drafted.size(); ++place) {
        const auto firstMet = std::find(drafted.begin(), drafted.end(), drafted[place]);
        const int length = static_cast<int>(firstMet - drafted.begin()) + 1;
        Target target = Target::make(quietTransformer(), {}, kContext, 1).value();
        const Ids ends = {unused, drafted[place]};
        QVERIFY(target.begin({.tokens = prompt, .endIds = ends}, {}, kPrefillRows).hasValue());
        Draft made = draftOf(drafter, target, {{.exitLayers = 2}, {.maxDepth = 6}});
        QCOMPARE(made.tree.size(), length);
        QCOMPARE(made.tree.node(length - 1).token, drafted[place]);
        const auto step = target.verify(std::move(made));
        QVERIFY(step.hasValue());
        // Whatever was accepted, nothing is emitted behind the end.
        const Ids& tokens = step.value().tokens;
        QVERIFY(std::find(tokens.begin(), tokens.end(), drafted[place]) >= tokens.end() - 1);
        if (static_cast<int>(step.value().path.size()) == length)
            QCOMPARE(tokens.size(), static_cast<std::size_t>(length)); // no bonus behind it
    }
}

void ExitDrafterTest::theStopRuleIsAskedBehindEachToken() {
    const Ids prompt = randomPrompt(17, 5);
    ExitDrafter drafter;
    for (const double temperature : {0.0, 1.1}) {
        Target target = makeTarget(prompt, 0, {.temperature = temperature, .seed = 4});
        const Draft all = draftOf(drafter, target, {{.exitLayers = 3}, {.maxDepth = 8}});
        const std::vector<double> confidences(all.tree.confidences().begin(),
                                              all.tree.confidences().end());
        QCOMPARE(confidences.size(), std::size_t{8});
        for (const double threshold : confidences) {
            const auto first = std::find_if(
                confidences.begin(), confidences.end(), [&](double c) { return c < threshold; });
            const auto until = std::min<std::ptrdiff_t>(first - confidences.begin() + 1, 8);
            const Draft made = draftOf(drafter,
                                       target,
                                       {{.exitLayers = 3}, {.maxDepth = 8}},
                                       ConfidenceStopRule(threshold, 99));
            QCOMPARE(static_cast<std::ptrdiff_t>(made.tree.size()), until); // the unsure one stays
        }
        const Draft short3 = draftOf(
            drafter, target, {{.exitLayers = 3}, {.maxDepth = 8}}, ConfidenceStopRule(0.0, 3));
        QCOMPARE(short3.tree.size(), 3);
    }
}

/// Its pass has brought the token before it to the exit: the round loads as many layers as a round
/// that keeps it would with one token less.
void ExitDrafterTest::anUnsureTokenMayBeDropped() {
    const Ids prompt = randomPrompt(17, 5);
    const Ids expected = vanillaAnswer(prompt, 1);
    ExitDrafter drafter;
    for (const int kept : {0, 1, 3}) {
        Target target = makeTarget(prompt, 2);
        Draft made = draftOf(drafter,
                             target,
                             {{.exitLayers = 3, .keepsUnsure = false}, {.maxDepth = 8}},
                             ConfidenceStopRule(0.0, kept + 1));
        QCOMPARE(made.tree.size(), kept);
        QCOMPARE(made.layersRun, 3);
        QCOMPARE(made.layerLoads, 3.0 * (kept + 1));
        const auto rows = static_cast<std::size_t>(2 + 1 + kept);
        const Ids tokens = joined(prompt, draftedTokens(made.tree));
        QVERIFY(isSame(made.hidden, freshStream(tokens, 3, rows)));
        const auto step = target.verify(std::move(made));
        QVERIFY(step.hasValue());
        QCOMPARE(step.value().tokens.front(), expected.front());
    }
    Target target = makeTarget(prompt);
    const Draft full = draftOf(drafter,
                               target,
                               {{.exitLayers = 3, .keepsUnsure = false}, {.maxDepth = 1}},
                               ConfidenceStopRule(1.1, 8));
    QCOMPARE(full.tree.size(), 1); // there was room for no other
}

/// What decides is the exit's law, not a token drawn from it.
void ExitDrafterTest::rejectionMayDropToo() {
    for (const int kept : {0, 1, 3}) {
        Target target = makeTarget(randomPrompt(17, 5), 2, {.temperature = 1.0});
        const Exit exit{{.exitLayers = 3, .keepsUnsure = false},
                        {.rule = VerifyRule::Rejection, .maxDepth = 8}};
        ExitDrafter drafter;
        Draft made = draftOf(drafter, target, exit, ConfidenceStopRule(0.0, kept + 1));
        QCOMPARE(made.tree.size(), kept);
        for (int node = -1; node < kept; ++node)
            QCOMPARE(made.tree.drawnFrom(node) != nullptr, node + 1 < kept);
        QVERIFY(target.verify(std::move(made), VerifyRule::Rejection).hasValue());
    }
}

void ExitDrafterTest::aDraftLeavesRoomForTheBonus() {
    const Ids prompt = randomPrompt(19, 3);
    ExitDrafter drafter;
    for (int room = 1; room <= 5; ++room)
        for (const bool isContext : {false, true}) {
            Target target =
                Target::make(quietTransformer(), {}, isContext ? 3 + room : kContext, 0).value();
            QVERIFY(target.begin({.tokens = prompt, .maxTokens = isContext ? 1000 : room}, {}, 2)
                        .hasValue());
            QCOMPARE(target.remainingTokens(), room);
            Draft made = draftOf(drafter, target, {{.exitLayers = 4}, {.maxDepth = 18}});
            QCOMPARE(made.tree.size(), room - 1);
            const auto step = target.verify(std::move(made));
            QVERIFY(step.hasValue());
            QVERIFY(static_cast<int>(step.value().tokens.size()) <= room);
        }
}

/// The first round then still reads the whole prompt through all layers.
void ExitDrafterTest::withoutRoomNothingRuns() {
    const Ids prompt = randomPrompt(23, 30);
    support::SpyTransformer spy(transformer());
    Target target = Target::make(spy, {}, kContext, 1).value();
    QVERIFY(target.begin({.tokens = prompt, .maxTokens = 1}, {}, kPrefillRows).hasValue());
    QCOMPARE(spy.passes, 0);
    ExitDrafter drafter;
    for (const int most : {0, 6}) {
        const Draft made = draftOf(drafter, target, {{.exitLayers = 2}, {.maxDepth = most}});
        QCOMPARE(made.tree.size(), 0);
        QCOMPARE(made.layersRun, 0);
        QCOMPARE(made.layerLoads, 0.0);
        QVERIFY(made.hidden == nullptr && made.earlier.empty());
    }
    QCOMPARE(spy.passes, 0);
    const auto step = target.verify(Draft());
    QVERIFY(step.hasValue());
    QVERIFY(step.value().isPlain());
    QCOMPARE(step.value().verifyLayers, static_cast<double>(kLayers));
    QCOMPARE(step.value().tokens, vanillaAnswer(prompt, 1));
    QCOMPARE(target.length(), 30);
}

void ExitDrafterTest::sharedNoiseDraftsWhatTheExitWouldDraw() {
    const Ids prompt = randomPrompt(25, 4);
    const SamplingOptions sampling{.temperature = 0.9, .topP = 0.95, .seed = 8};
    ExitDrafter drafter;
    int others = 0;
    for (const bool shares : {true, false}) {
        Target target = makeTarget(prompt, kPrefillRows, sampling);
        const Draft made =
            draftOf(drafter, target, {{.exitLayers = 2}, {.sharesNoise = shares, .maxDepth = 8}});
        Ids tokens = prompt;
        for (int node = 0; node < made.tree.size(); ++node) {
            KvCache cache = support::emptyCache(transformer(), kContext);
            const auto logits =
                support::runChain(transformer(), cache, exitPlan(kLayers, 2), tokens, 64).back();
            const TokenId drawn = Sampler(sampling).choose(logits, node);
            QCOMPARE(made.tree.node(node).token, shares ? drawn : argmax(logits));
            others += drawn != argmax(logits) ? 1 : 0;
            QCOMPARE(made.tree.confidences()[static_cast<std::size_t>(node)],
                     summarise(logits).probability(0)); // of the first choice, whatever was drawn
            QVERIFY(made.tree.drawnFrom(node - 1) == nullptr);
            tokens.push_back(made.tree.node(node).token);
        }
    }
    QVERIFY(others > 0);
}

void ExitDrafterTest::rejectionKnowsWhatEachTokenWasDrawnFrom() {
    const Ids prompt = randomPrompt(27, 4);
    const SamplingOptions sampling{.temperature = 0.9, .topK = 20, .seed = 8};
    Target target = makeTarget(prompt, kPrefillRows, sampling);
    ExitDrafter drafter;
    std::vector<Ids> drafts;
    for (int round = 0; round < 3; ++round) {
        const Draft made = draftOf(
            drafter, target, {{.exitLayers = 2}, {.rule = VerifyRule::Rejection, .maxDepth = 5}});
        Ids tokens = prompt;
        for (int node = 0; node < made.tree.size(); ++node) {
            KvCache cache = support::emptyCache(transformer(), kContext);
            const auto logits =
                support::runChain(transformer(), cache, exitPlan(kLayers, 2), tokens, 64).back();
            const Distribution expected = Sampler(sampling).distribution(logits);
            const Distribution* source = made.tree.drawnFrom(node - 1);
            QVERIFY(source != nullptr);
            QVERIFY(source->ids == expected.ids && source->probabilities == expected.probabilities);
            tokens.push_back(made.tree.node(node).token);
        }
        drafts.push_back(draftedTokens(made.tree));
    }
    QVERIFY(drafts[0] != drafts[1] || drafts[1] != drafts[2]); // each round draws anew
    Draft made = draftOf(
        drafter, target, {{.exitLayers = 2}, {.rule = VerifyRule::Rejection, .maxDepth = 5}});
    QVERIFY(target.verify(std::move(made), VerifyRule::Rejection).hasValue());
}

void ExitDrafterTest::aStopEndsADraft() {
    const Ids prompt = randomPrompt(29, 4);
    std::stop_source stopped;
    Target target = makeTarget(prompt);
    QVERIFY(target.begin({prompt}, {.stop = stopped.get_token()}).hasValue());
    ExitDrafter drafter;
    QVERIFY(drafter.draft(target, {.maxDepth = 3}).hasValue());
    stopped.request_stop();
    const auto made = drafter.draft(target, {.maxDepth = 3});
    QVERIFY(!made.hasValue());
    QCOMPARE(made.error().code, ErrorCode::Cancelled);
}

void ExitDrafterTest::exitsThatTheModelDoesNotHaveAreBugs() {
    Target target = makeTarget({1, 2, 3});
    ExitDrafter drafter;
    for (const int exit : {0, -1, kLayers, kLayers + 1})
        QVERIFY_EXCEPTION_THROWN((void)draftOf(drafter, target, {{.exitLayers = exit}}),
                                 std::exception);
    const std::vector<std::vector<int>> wrong = {{2}, {1, 0}, {1, 1}};
    for (const std::vector<int>& earlier : wrong)
        QVERIFY_EXCEPTION_THROWN(
            (void)draftOf(drafter, target, {{.exitLayers = 3, .earlierLayers = earlier}}),
            std::exception);
}

QTEST_GUILESS_MAIN(ExitDrafterTest)
#include "exit_drafter_test.moc"
