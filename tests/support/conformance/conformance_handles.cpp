// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conformance/backend_conformance.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/stub_transformer.h"

namespace support {

using namespace engine;

namespace {

/// Five rows behind the tiny model's layer 1, with the cache that they were computed in.
struct Resting {
    explicit Resting(Transformer& transformer)
        : cache(emptyCache(transformer, 16)) {
        const HandOut handOut{1, &states};
        const auto ran = transformer.forward({.plan = LayerPlan::full(3),
                                              .layout = AttentionLayout::chain(0, 5),
                                              .tokens = conformanceIds(5),
                                              .endLayer = 2,
                                              .handOuts = {&handOut, 1}},
                                             cache);
        ENGINE_CHECK(ran.hasValue(), "a pass failed");
    }

    KvCache cache;
    HiddenRows states;
};

/// The head over hidden states, row by row.
Result<std::vector<std::vector<double>>>
headOf(Transformer& transformer, KvCache& cache, std::span<const HiddenPiece> pieces, int rows) {
    std::vector<int> logitRows(static_cast<std::size_t>(rows));
    std::iota(logitRows.begin(), logitRows.end(), 0);
    ENGINE_TRY(ForwardResult result,
               transformer.forward({.plan = LayerPlan::full(3),
                                    .layout = AttentionLayout::chain(0, rows),
                                    .hidden = pieces,
                                    .firstLayer = 1,
                                    .endLayer = 1,
                                    .logitRows = logitRows},
                                   cache));
    std::vector<std::vector<double>> logits;
    for (const int row : logitRows)
        logits.push_back(rowOf(result, row));
    return logits;
}

/// The sentence of the bug that `work` is; empty when it is none.
template <typename Work> std::string bugOf(Work&& work) {
    try {
        work();
    } catch (const EngineBug& bug) {
        return bug.what();
    }
    return {};
}

bool mentionsText(const std::string& sentence, std::string_view text) {
    return sentence.find(text) != std::string::npos;
}

} // namespace

void BackendConformance::hiddenStatesAreJoinedFromPieces() {
    Transformer* const transformer = tiny();
    Resting first(*transformer);
    Resting second(*transformer); // the pass leaves the earlier states as they are
    const HiddenPiece whole(first.states);
    const auto all = headOf(*transformer, first.cache, {&whole, 1}, 5).value();
    const std::vector<HiddenPiece> pieces = {
        {second.states, 3, 2}, {first.states, 0, 0}, {first.states, 1, 1}, {first.states, 0, 3}};
    const auto joined = headOf(*transformer, first.cache, pieces, 6).value();
    const std::vector<std::size_t> rows = {3, 4, 1, 0, 1, 2};
    for (std::size_t i = 0; i < rows.size(); ++i)
        QCOMPARE(joined[i], all[rows[i]]);
}

void BackendConformance::hiddenStatesCanBeRead() {
    Transformer* const transformer = tiny();
    Resting resting(*transformer);
    const std::vector<double> numbers = numbersOf(resting.states, 48);
    std::vector<double> two(2 * 48);
    QVERIFY(resting.states.read(3, two).hasValue());
    QVERIFY(std::equal(two.begin(), two.end(), numbers.begin() + 3 * 48));
    QVERIFY(mentionsText(bugOf([&] { (void)resting.states.read(4, two); }), "hidden states"));
    resting.states.clear();
    QCOMPARE(resting.states.count(), 0);
    QVERIFY(resting.states.append(numbers).hasValue());
    QCOMPARE(numbersOf(resting.states, 48), numbers);
    QVERIFY(mentionsText(bugOf([&] { (void)HiddenRows().append(two); }), "hidden states"));
    resting.states.clear();
    QVERIFY(mentionsText(bugOf([&] { (void)resting.states.read(0, two); }), "hidden states"));
}

void BackendConformance::hiddenStatesServeTheirOwnTransformerAlone() {
    const auto one = makeTiny(m_variants.front());
    const auto other = makeTiny(m_variants.front());
    Resting resting(*one);
    Resting others(*other);
    const HiddenPiece whole(resting.states);
    QVERIFY(mentionsText(bugOf([&] {
                             (void)headOf(*other, others.cache, {&whole, 1}, 5);
                         }),
                         "hidden states are of another transformer"));
    const HandOut handOut{0, &resting.states};
    const std::vector<TokenId> ids = {1};
    const auto append = [&] {
        (void)other->forward({.plan = LayerPlan::full(3),
                              .layout = AttentionLayout::chain(0, 1),
                              .tokens = ids,
                              .handOuts = {&handOut, 1}},
                             others.cache);
    };
    QVERIFY(mentionsText(bugOf(append), "hidden states are of another transformer"));
    QCOMPARE(resting.states.count(), 5);
    resting.states.clear(); // rows of nobody
    QCOMPARE(bugOf(append), std::string());
    QCOMPARE(resting.states.count(), 1);
    QVERIFY(mentionsText(bugOf([&] {
                             const HiddenPiece tooMany(resting.states, 0, 2);
                             (void)headOf(*other, others.cache, {&tooMany, 1}, 2);
                         }),
                         "2 hidden states from 0 on, but there are 1"));
}

void BackendConformance::logitsAreGoneWithTheNextPass() {
    Transformer* const transformer = tiny();
    KvCache cache = emptyCache(*transformer, 8);
    const std::vector<TokenId> ids = conformanceIds(2);
    const std::vector<int> rows = {0, 1};
    const ForwardRequest request{.plan = LayerPlan::full(3),
                                 .layout = AttentionLayout::chain(0, 2),
                                 .tokens = ids,
                                 .logitRows = rows};
    ForwardResult first;
    QVERIFY(transformer->forwardInto(request, cache, first).hasValue());
    const std::vector<double> expected = rowOf(first, 1);
    QCOMPARE(rowOf(first, 1), expected);
    QVERIFY(mentionsText(bugOf([&] { (void)first.logits.row(2); }), "row 2"));
    ForwardResult second;
    QVERIFY(transformer->forwardInto(request, cache, second).hasValue());
    for (const int row : rows)
        QVERIFY(mentionsText(bugOf([&] { (void)first.logits.row(row); }), "earlier pass"));
    QCOMPARE(rowOf(second, 1), expected);
    second.logits.forbid(7);
    QCOMPARE(rowOf(second, 0)[7], -std::numeric_limits<double>::infinity());
    QCOMPARE(rowOf(second, 1)[7], -std::numeric_limits<double>::infinity());
    QCOMPARE(rowOf(second, 1)[8], expected[8]);
}

void BackendConformance::cachesOfOthersAreBugs() {
    const auto transformer = makeTiny(m_variants.front());
    const std::vector<TokenId> ids = {1};
    const auto run = [&](KvCache& cache) {
        logitsOf(*transformer, cache, LayerPlan::full(3), AttentionLayout::chain(0, 1), ids);
    };
    ModelConfig larger = tinyConfig();
    larger.headDim *= 2;
    const auto other = make(m_variants.front(), larger, randomWeights(larger, 11));
    KvCache others = emptyCache(*other, 4);
    QVERIFY(mentionsText(bugOf([&] { run(others); }), "the cache is of"));
    KvCache foreign = test_support::StubTransformer().makeCache(4).value();
    QVERIFY(mentionsText(bugOf([&] { run(foreign); }), "another backend"));
}

} // namespace support
