// SPDX-License-Identifier: Apache-2.0
// The start set `stream` of SWIFT: found before the first draft, by following one token's stream.
#include "engine/search/skip_choices.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

constexpr int kLayers = 10;
constexpr support::QuietLayers kQuiet = {3, 7, 1e-3F}; // eight of sixteen sublayers

Transformer& model() {
    static const std::unique_ptr<Transformer> made = support::quietModel(kLayers, 21, kQuiet);
    return *made;
}

/// Its default start is the stream.
std::unique_ptr<Decoder> swiftWith(SettingValues settings, Transformer& with = model()) {
    settings.insert({{"weigh", 0.0}, {"search_share", 0.0}}); // no clock is asked
    return support::openDecoder(
        "swift", {.transformer = with, .contextLength = 200, .settings = std::move(settings)});
}

/// Refuses passes that begin or end between two layers.
class UndividedTransformer final : public support::WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        if (request.firstLayer > 0 || request.endLayer >= 0)
            return Error{ErrorCode::Unsupported, "Passes cannot be divided here.", ""};
        return inner().forwardInto(request, cache, result);
    }
};

std::vector<DecodeStep> run(Decoder& decoder,
                            const std::vector<TokenId>& prompt,
                            int tokens,
                            std::string_view task = "stream") {
    return support::answer(decoder, {.tokens = prompt, .maxTokens = tokens, .task = task});
}

bool skipsExactlyTheQuietLayers(const LayerPlan& plan) {
    for (int layer = 0; layer < kLayers; ++layer) {
        const bool isQuiet = layer >= kQuiet.first && layer < kQuiet.end;
        if (plan.runsAttention(layer) == isQuiet || plan.runsMlp(layer) == isQuiet)
            return false;
    }
    return true;
}

} // namespace

class SwiftStreamTest : public QObject {
    Q_OBJECT

private slots:
    void theProfilesOfThePaperAndItsCodeBeginWithTheirOwnSets();
    void aBackendThatRefusesItStartsUniformAndSaysWhy();
    void theFirstRoundDraftsWithTheSetOfTheStream();
    void aBudgetInBytesIsNeverExceeded();
    void aPromptOfOneTokenWaitsForTheFirstPass();
    void aRatioThatLeavesNothingOutStartsUniform();
    void anotherSettingWhileRunningFollowsTheStreamAtOnce();
    void itIsCancelledBetweenPasses();
    void anotherTaskBeginsWithASetThatIsProven();
    void aSetThatIsNotProvenIsNoStartForOthers();
};

void SwiftStreamTest::theFirstRoundDraftsWithTheSetOfTheStream() {
    const auto decoder = swiftWith({{"r", 0.5}, {"gamma", 8.0}, {"early_stop", 0.0}});
    const auto steps = run(*decoder, {3, 1, 4, 1, 5}, 24);
    const DecodeStep& first = steps.front();
    QCOMPARE(first.search.planChanges.size(), std::size_t{1});
    QCOMPARE(first.search.planChanges.front().reason, std::string("start"));
    QVERIFY(skipsExactlyTheQuietLayers(first.search.planChanges.front().plan));
    QVERIFY(first.search.searchMs > 0.0); // the passes of the dynamic programme
    QCOMPARE(first.planId, std::uint64_t{1});
    QVERIFY(first.draft.size() > 0 && !first.path.empty());
    const auto scored = std::find_if(steps.begin(), steps.end(), [](const DecodeStep& step) {
        return !step.search.trials.empty();
    });
    QVERIFY(scored != steps.end());
    QCOMPARE(scored->search.trials.front().kind, std::string("start"));
    QVERIFY(scored->search.trials.front().score >= 0.95);
}

void SwiftStreamTest::theProfilesOfThePaperAndItsCodeBeginWithTheirOwnSets() {
    const auto startOf = [](const char* profile) {
        const auto decoder = swiftWith({{"profile", std::string(profile)}, {"r", 0.5}});
        return run(*decoder, {3, 1, 4, 1, 5}, 4).front().search.planChanges.front().plan;
    };
    const SkipChoices choices(model().config(), BudgetUnit::Sublayers);
    QVERIFY(skipsExactlyTheQuietLayers(startOf("ours")));
    QCOMPARE(startOf("paper"), choices.space().uniform(0.5));
    QCOMPARE(startOf("code"), choices.space().oddLayers());
}

void SwiftStreamTest::aBackendThatRefusesItStartsUniformAndSaysWhy() {
    UndividedTransformer undivided(model());
    const auto decoder = swiftWith({{"r", 0.5}}, undivided);
    const auto steps = run(*decoder, {3, 1, 4, 1, 5}, 12);
    const SkipChoices choices(model().config(), BudgetUnit::Sublayers);
    QCOMPARE(steps.front().search.planChanges.front().plan, choices.space().uniform(0.5));
    QCOMPARE(steps.front().search.notes,
             std::vector<std::string>{"The stream of a token could not be followed, so the search "
                                      "begins with the uniform set: Passes cannot be divided "
                                      "here."});
    QVERIFY(steps.size() > 1);
}

void SwiftStreamTest::aBudgetInBytesIsNeverExceeded() {
    for (const double ratio : {0.1, 0.25, 0.4, 0.6, 0.9}) {
        const auto decoder = swiftWith({{"r", ratio}, {"budget", std::string("bytes")}});
        const auto steps = run(*decoder, {3, 1, 4, 1, 5}, 2);
        const LayerPlan plan = steps.front().search.planChanges.front().plan;
        const SkipChoices choices(model().config(), BudgetUnit::Bytes);
        QVERIFY(choices.ratioOf(plan) <= ratio + 1e-9);
        QVERIFY(choices.ratioOf(plan) > 0.6 * ratio);
    }
}

/// Nothing is cached before it, so there is no stream to follow yet.
void SwiftStreamTest::aPromptOfOneTokenWaitsForTheFirstPass() {
    const auto decoder = swiftWith({{"r", 0.5}});
    const auto steps = run(*decoder, {7}, 6);
    QVERIFY(steps[0].isPlain() && steps[0].search.planChanges.empty());
    QCOMPARE(steps[1].search.planChanges.size(), std::size_t{1});
    QVERIFY(skipsExactlyTheQuietLayers(steps[1].search.planChanges.front().plan));
}

void SwiftStreamTest::aRatioThatLeavesNothingOutStartsUniform() {
    const auto decoder = swiftWith({{"r", 0.01}});
    const auto steps = run(*decoder, {3, 1, 4}, 4);
    QCOMPARE(steps.front().search.planChanges.front().plan, LayerPlan::full(kLayers));
    QCOMPARE(steps.front().search.notes.size(), std::size_t{1});
    QVERIFY(steps.front().search.notes.front().find("uniform set") != std::string::npos);
}

void SwiftStreamTest::anotherSettingWhileRunningFollowsTheStreamAtOnce() {
    const auto decoder = swiftWith({{"r", 0.25}});
    run(*decoder, {3, 1, 4, 1, 5}, 6);
    const DecoderInfo info = support::registry().info("swift").value();
    const SettingValues given = {{"start", std::string("stream")}, {"r", 0.5}};
    const auto report = decoder->configure(resolveSettings(info, given).value(), given);
    QVERIFY(report.hasValue());
    QCOMPARE(report.value().planChanges.size(), std::size_t{1});
    QVERIFY(skipsExactlyTheQuietLayers(report.value().planChanges.front().plan));
    QVERIFY(report.value().searchMs > 0.0);
}

void SwiftStreamTest::itIsCancelledBetweenPasses() {
    const auto decoder = swiftWith({{"r", 0.5}});
    std::stop_source source;
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    QVERIFY(decoder->begin({.tokens = prompt, .task = "stream"}, {.stop = source.get_token()})
                .hasValue());
    source.request_stop();
    const auto step = decoder->step();
    QVERIFY(!step.hasValue());
    QCOMPARE(step.error().code, ErrorCode::Cancelled);
    QVERIFY(decoder->begin({.tokens = prompt, .task = "stream"}, {}).hasValue());
    QVERIFY(decoder->step().hasValue());
}

/// The stream is followed once, then the set is only scored on the other task's tokens.
void SwiftStreamTest::anotherTaskBeginsWithASetThatIsProven() {
    const auto decoder = swiftWith({{"r", 0.5}, {"gamma", 8.0}});
    run(*decoder, {3, 1, 4, 1, 5}, 24);
    const auto steps = run(*decoder, {9, 2, 6, 5, 3}, 24, "other");
    const SearchReport& first = steps.front().search;
    QCOMPARE(first.planChanges.size(), std::size_t{1});
    QCOMPARE(first.planChanges.front().task, std::string("other"));
    QVERIFY(skipsExactlyTheQuietLayers(first.planChanges.front().plan));
    QCOMPARE(first.searchMs, 0.0);
    int trials = 0;
    for (const DecodeStep& step : steps)
        trials += static_cast<int>(step.search.trials.size());
    QCOMPARE(trials, 1);
}

void SwiftStreamTest::aSetThatIsNotProvenIsNoStartForOthers() {
    const auto decoder = swiftWith({{"r", 0.5}, {"gamma", 8.0}, {"stop_score", 1.0}, {"S", 1.0}});
    run(*decoder, {3, 1, 4, 1, 5}, 4); // too short to be scored
    QVERIFY(run(*decoder, {9, 2, 6, 5, 3}, 4, "other").front().search.searchMs > 0.0);
}

QTEST_GUILESS_MAIN(SwiftStreamTest)
#include "swift_stream_test.moc"
