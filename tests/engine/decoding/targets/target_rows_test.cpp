// SPDX-License-Identifier: Apache-2.0
// What a verify pass can do besides checking a draft: rows beside it, a resumed pass, hidden
// states, and prompt tokens that were left to it; prompts that were read ahead.
#include "engine/decoding/target.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/priced_transformer.h"

#include <QTest>

#include <random>

using namespace engine;
using support::Ids;
using support::isCacheFresh;
using support::randomId;
using support::randomIds;

namespace {

constexpr int kAnswer = 16;

/// Tokens of an answer whose cache is compared with a fresh one behind each step.
std::size_t rounds() { return support::takesFewCases() ? 12 : 30; }

Transformer& transformer() {
    static const auto made = support::layeredModel(3, 7);
    return *made;
}

Target makeTarget(int contextLength = 300) {
    return Target::make(transformer(), {}, contextLength, 64).value();
}

Ids vanillaAnswer(const Ids& prompt, std::size_t count) {
    return support::vanillaAnswer(transformer(), prompt, count);
}

/// A chain that is right at first and wrong behind that.
DraftTree chain(std::mt19937& random, std::span<const TokenId> coming, int length) {
    DraftTree tree;
    const auto right = static_cast<std::size_t>(random() % 4);
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
        const TokenId token = i < right && i < coming.size() ? coming[i] : randomId(random);
        tree.add(token, tree.size() - 1, 0.5);
    }
    return tree;
}

/// The tokens from the root, excluded, to a row beside a draft, included.
Ids pathTo(const DraftTree& draft, std::span<const SideRow> sides, int row) {
    Ids path;
    while (row >= 0) {
        const bool isSide = row >= draft.size();
        const std::size_t side = static_cast<std::size_t>(isSide ? row - draft.size() : 0);
        path.insert(path.begin(), isSide ? sides[side].token : draft.node(row).token);
        row = isSide ? sides[side].parent : draft.node(row).parent;
    }
    return path;
}

/// The layers below `layers` over what a verify pass will run, and the stream behind them.
HiddenRows runFirstLayers(Target& target, const DraftTree& draft, int layers) {
    Ids tokens(target.unread().begin(), target.unread().end());
    tokens.push_back(target.pending());
    std::vector<int> parents;
    for (std::size_t row = 0; row < tokens.size(); ++row)
        parents.push_back(static_cast<int>(row) - 1);
    const int root = static_cast<int>(tokens.size()) - 1;
    for (const DraftNode& node : draft.nodes()) {
        tokens.push_back(node.token);
        parents.push_back(root + 1 + node.parent);
    }
    HiddenRows states;
    const HandOut handOut{layers - 1, &states};
    const auto pass =
        transformer().forward({.plan = LayerPlan::full(transformer().config().layerCount),
                               .layout = AttentionLayout::tree(target.length(), parents),
                               .tokens = tokens,
                               .endLayer = layers,
                               .handOuts = {&handOut, 1}},
                              target.cache());
    ENGINE_CHECK(pass.hasValue(), "a pass failed");
    return states;
}

Draft beside(DraftTree tree, const std::vector<SideRow>& sides) {
    Draft draft(std::move(tree));
    draft.sides = sides;
    return draft;
}

} // namespace

class TargetRowsTest : public QObject {
    Q_OBJECT

private slots:
    void rowsBesideADraftAreSeenAndNeverAccepted();
    void logitsOfRowsBesideADraftComeWhenAskedFor();
    void aResumedPassIsTheWholePass();
    void hiddenStatesComeWithThePass();
    void aPromptReadAheadIsReadAsAtOnce_data();
    void aPromptReadAheadIsReadAsAtOnce();
    void unreadTokensAreReadByTheFirstPass();
    void unreadTokensAreOnlyThoseThatAreNotCached();
    void aCancelledPromptWithUnreadTokensCanBeBegunAgain();
    void whatRowsCostDecidesHowWideTheNextAnswersDraftsAre_data();
    void whatRowsCostDecidesHowWideTheNextAnswersDraftsAre();
};

void TargetRowsTest::rowsBesideADraftAreSeenAndNeverAccepted() {
    std::mt19937 random(3);
    const Ids prompt = randomIds(random, 9);
    const Ids expected = vanillaAnswer(prompt, 40);
    Target target = makeTarget();
    QVERIFY(target.begin({prompt}, {}).hasValue());
    while (target.output().size() < rounds()) {
        Ids tokens = prompt;
        tokens.insert(tokens.end(), target.output().begin(), target.output().end());
        const auto coming = std::span(expected).subspan(target.output().size());
        const DraftTree draft = chain(random, coming, 4);
        std::vector<SideRow> sides;
        // The first one is what the model says next: accepting it would be right, and wrong here.
        sides.push_back({coming[0], -1});
        while (sides.size() < 7) {
            const auto above = static_cast<unsigned>(draft.size()) + sides.size();
            sides.push_back({randomId(random), static_cast<int>(random() % (above + 1)) - 1});
        }
        DraftTree checked;
        checked.add((coming[0] + 1) % support::kTinyVocab, -1, 0.5); // wrong
        const bool isWrong = random() % 2 == 0;
        if (isWrong)
            for (SideRow& side : sides)
                side.parent = -1;
        const DraftTree& used = isWrong ? checked : draft;
        const auto step = target.verify(beside(used, sides));
        QVERIFY(step.hasValue());
        QCOMPARE(step.value().verifiedRows, 1 + used.size() + 7);
        QVERIFY(step.value().sides == sides);
        if (isWrong)
            QCOMPARE(step.value().tokens, Ids{coming[0]});
        for (std::size_t i = 0; i < step.value().tokens.size(); ++i)
            QCOMPARE(step.value().tokens[i], coming[i]);
        QVERIFY(isCacheFresh(target, prompt));
        for (int side = 0; side < 7; ++side) {
            Ids all = tokens;
            const Ids path = pathTo(used, sides, used.size() + side);
            all.insert(all.end(), path.begin(), path.end());
            const SeenRow seen = target.seenRow(1 + used.size() + side);
            const HeadSummary fresh = support::freshSummary(transformer(), all);
            QVERIFY(seen.summary.ids == fresh.ids && seen.summary.logits == fresh.logits);
            QCOMPARE(seen.token, all.back());
            QCOMPARE(seen.previous, all[all.size() - 2]);
        }
    }
}

void TargetRowsTest::logitsOfRowsBesideADraftComeWhenAskedFor() {
    std::mt19937 random(4);
    const Ids prompt = randomIds(random, 9);
    Target target = Target::make(transformer(), {.temperature = 1.0}, 300, 64).value();
    QVERIFY(target.begin({prompt}, {}).hasValue());
    const std::vector<SideRow> sides = {{1, -1}, {2, 0}};
    for (const bool isAsked : {false, true}) {
        QVERIFY(target.verify(beside(chain(random, {}, 1), sides), {.drawsFromSides = isAsked})
                    .hasValue());
        QCOMPARE(target.lastLogits(1).value().size(),
                 std::size_t{support::kTinyVocab}); // of the draft
        if (isAsked)
            QCOMPARE(target.lastLogits(3).value().size(), std::size_t{support::kTinyVocab});
        else
            QVERIFY_THROWS_EXCEPTION(EngineBug, (void)target.lastLogits(2));
    }
}

void TargetRowsTest::aResumedPassIsTheWholePass() {
    std::mt19937 random(5);
    const Ids prompt = randomIds(random, 20);
    const Ids expected = vanillaAnswer(prompt, 40);
    const int layers = transformer().config().layerCount;
    for (const int unread : {0, 1, 11, 19, 60}) {
        Target target = makeTarget();
        QVERIFY(target.begin({prompt}, {}, unread).hasValue());
        QCOMPARE(static_cast<int>(target.unread().size()), std::min(unread, 19));
        while (target.output().size() < rounds()) {
            const auto coming = std::span(expected).subspan(target.output().size());
            Draft draft = chain(random, coming, static_cast<int>(random() % 5));
            const int first = 1 + static_cast<int>(random() % static_cast<unsigned>(layers - 1));
            const HiddenRows hidden = runFirstLayers(target, draft.tree, first);
            draft.layersRun = first;
            draft.hidden = &hidden;
            const auto step = target.verify(std::move(draft));
            QVERIFY(step.hasValue());
            QCOMPARE(step.value().verifyLayers, static_cast<double>(layers - first));
            for (std::size_t i = 0; i < step.value().tokens.size(); ++i)
                QCOMPARE(step.value().tokens[i], coming[i]);
            QVERIFY(target.unread().empty());
            QVERIFY(isCacheFresh(target, prompt));
        }
    }
}

void TargetRowsTest::hiddenStatesComeWithThePass() {
    std::mt19937 random(7);
    const Ids prompt = randomIds(random, 6);
    Target target = makeTarget();
    QVERIFY(target.begin({prompt}, {}, 3).hasValue());
    const int layers = transformer().config().layerCount;
    const int width = transformer().config().hiddenSize;
    std::vector<HiddenRows> shown(static_cast<std::size_t>(layers));
    std::vector<HandOut> handOuts;
    for (HiddenRows& each : shown)
        handOuts.push_back({static_cast<int>(handOuts.size()), &each});
    const DraftTree draft = chain(random, {}, 2);
    std::vector<std::vector<double>> fresh;
    for (int layer = 1; layer <= layers; ++layer)
        fresh.push_back(support::numbersOf(runFirstLayers(target, draft, layer), width));
    QVERIFY(target.verify(draft, {.handOuts = handOuts}).hasValue());
    for (std::size_t layer = 0; layer < fresh.size(); ++layer) {
        QCOMPARE(shown[layer].count(), 3 + 1 + 2);
        QCOMPARE(support::numbersOf(shown[layer], width), fresh[layer]);
    }
}

void TargetRowsTest::aPromptReadAheadIsReadAsAtOnce_data() {
    QTest::addColumn<int>("length");
    QTest::addColumn<int>("unread");
    for (const int length : {1, 100, 256, 257, 258, 700})
        for (const int unread : {0, kPrefillRows})
            QTest::addRow("%d tokens, %d unread", length, unread) << length << unread;
}

void TargetRowsTest::aPromptReadAheadIsReadAsAtOnce() {
    QFETCH(const int, length);
    QFETCH(const int, unread);
    std::mt19937 random(3);
    const Ids prompt = randomIds(random, static_cast<std::size_t>(length));
    const Ids before = randomIds(random, 40);
    Target whole = makeTarget(800);
    QVERIFY(whole.begin({prompt, kAnswer}, {}, unread).hasValue());
    Target pieces = makeTarget(800);
    double told = 0.0;
    const PromptWork work{.progress = [&](double part) {
        QVERIFY(part > told && part <= 1.0);
        told = part;
    }};
    QVERIFY(pieces.begin({before, kAnswer}, {}).hasValue());
    QVERIFY(pieces.plainStep().hasValue());
    int count = 0;
    while (pieces.readAhead({prompt, kAnswer}, work).value()) {
        ++count;
        QCOMPARE(pieces.length(), count * kPrefillRows);
        QCOMPARE(pieces.pending(), kNoToken);
        QVERIFY(pieces.output().empty());
    }
    QCOMPARE(count, std::max((length - 1) / kPrefillRows - 1, 0));
    QVERIFY(pieces.begin({prompt, kAnswer}, work, unread).hasValue());
    QCOMPARE(Ids(pieces.unread().begin(), pieces.unread().end()),
             Ids(whole.unread().begin(), whole.unread().end()));
    while (pieces.output().size() < kAnswer) {
        const DecodeStep one = whole.plainStep().value();
        const DecodeStep other = pieces.plainStep().value();
        QCOMPARE(other.tokens, one.tokens);
        QCOMPARE(other.facts.front().targetProbability, one.facts.front().targetProbability);
    }
}

void TargetRowsTest::unreadTokensAreReadByTheFirstPass() {
    std::mt19937 random(9);
    for (const std::size_t length : {1U, 2U, 5U, 128U, 129U, 140U}) {
        const Ids prompt = randomIds(random, length);
        const Ids expected = vanillaAnswer(prompt, 8);
        Target target = makeTarget();
        QVERIFY(target.begin({prompt}, {}, kPrefillRows).hasValue());
        const std::size_t left = std::min<std::size_t>(length - 1, kPrefillRows);
        QCOMPARE(target.unread().size(), left);
        QCOMPARE(target.remainingContext(), 300 - static_cast<int>(length));
        QVERIFY(std::equal(target.unread().begin(),
                           target.unread().end(),
                           prompt.end() - 1 - static_cast<std::ptrdiff_t>(left)));
        double clockMs = 0.0;
        target.useClock([&] { return clockMs += 10.0; }); // so a pass takes 10 ms
        const auto step = target.verify(chain(random, expected, 3), VerifyRule::Match);
        QVERIFY(step.hasValue());
        QCOMPARE(step.value().verifiedRows, 4);
        const auto rows = static_cast<double>(left + 4);
        QCOMPARE(step.value().promptMs, 10.0 * static_cast<double>(left) / rows);
        QCOMPARE(step.value().promptMs + step.value().verifyMs, 10.0);
        QCOMPARE(target.seenRow(0).previous, length > 1 ? prompt[length - 2] : kNoToken);
        QCOMPARE(target.seenRow(0).token, prompt.back());
        while (target.output().size() < 8)
            QVERIFY(target.plainStep().hasValue());
        QVERIFY(std::equal(expected.begin(), expected.end(), target.output().begin()));
        QVERIFY(isCacheFresh(target, prompt));
    }
}

void TargetRowsTest::unreadTokensAreOnlyThoseThatAreNotCached() {
    std::mt19937 random(11);
    Ids prompt = randomIds(random, 30);
    Target target = makeTarget();
    QVERIFY(target.begin({prompt}, {}).hasValue());
    QVERIFY(target.plainStep().hasValue());
    QCOMPARE(target.length(), 30);
    const Ids more = randomIds(random, 5);
    prompt.insert(prompt.end(), more.begin(), more.end());
    QVERIFY(target.begin({prompt}, {}, 20).hasValue());
    QCOMPARE(target.length(), 30);
    QVERIFY(
        std::equal(target.unread().begin(), target.unread().end(), more.begin(), more.end() - 1));
    const Ids expected = vanillaAnswer(prompt, 3);
    for (int i = 0; i < 3; ++i)
        QVERIFY(target.plainStep().hasValue());
    QVERIFY(std::equal(expected.begin(), expected.end(), target.output().begin()));
}

void TargetRowsTest::aCancelledPromptWithUnreadTokensCanBeBegunAgain() {
    std::mt19937 random(13);
    const Ids prompt = randomIds(random, 12);
    const Ids expected = vanillaAnswer(prompt, 2);
    Target target = makeTarget();
    QVERIFY(target.begin({prompt}, {}, 12).hasValue());
    std::stop_source stopped;
    stopped.request_stop();
    QVERIFY(target.begin({prompt}, {.stop = stopped.get_token()}, 12).hasValue());
    QVERIFY(!target.plainStep().hasValue());
    QVERIFY(target.begin({prompt}, {}).hasValue());
    for (int i = 0; i < 2; ++i)
        QVERIFY(target.plainStep().hasValue());
    QVERIFY(std::equal(expected.begin(), expected.end(), target.output().begin()));
    QVERIFY(isCacheFresh(target, prompt));
}

void TargetRowsTest::whatRowsCostDecidesHowWideTheNextAnswersDraftsAre_data() {
    QTest::addColumn<double>("rowPart");
    QTest::newRow("free rows") << 0.0;
    QTest::newRow("dear rows") << 0.5;
}

void TargetRowsTest::whatRowsCostDecidesHowWideTheNextAnswersDraftsAre() {
    QFETCH(const double, rowPart);
    support::PricedTransformer priced(transformer(), {.rowPart = rowPart});
    Target target = Target::make(priced, {}, 300, 64).value();
    target.useClock(priced.clock());
    std::mt19937 random(5);
    const Ids prompt = randomIds(random, 9);
    const int usual = transformer().preferredTreeNodes();
    QVERIFY(target.begin({prompt}, {}).hasValue());
    for (int i = 0; i < 5; ++i) {
        QCOMPARE(target.preferredNodes(), usual);
        QVERIFY(target.plainStep().hasValue());
        QVERIFY(target.verify(chain(random, {}, 7)).hasValue());
    }
    QCOMPARE(target.preferredNodes(), usual);
    QVERIFY(target.begin({prompt}, {}).hasValue());
    QCOMPARE(target.preferredNodes() > usual, rowPart == 0.0);
    QCOMPARE(target.preferredNodes() < usual, rowPart > 0.0);
}

QTEST_APPLESS_MAIN(TargetRowsTest)
#include "target_rows_test.moc"
