// SPDX-License-Identifier: Apache-2.0
// What auto keeps of what it has learnt, and for how long: across tasks, seeds, cancelled answers
// and changes of settings, at made-up prices.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/priced_transformer.h"

#include <QTest>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace engine;
using support::PricedTransformer;
using support::Prices;

namespace {

constexpr double kPlainMs = 10.0;

/// Twelve layers, every second of them a near-silent copy of its neighbour.
Transformer& redundant() {
    static const auto made = [] {
        const ModelConfig config = support::layeredConfig(6);
        const support::MemoryWeights weights = support::randomWeights(config, 11);
        return makePlainTransformer(
                   withSilentCopies(config).value(), weights, {.precision = Precision::F32})
            .value();
    }();
    return *made;
}

/// Nothing but skipped layers is drafted with.
const SettingValues kOnlySkips = {
    {"lookup", 0.0}, {"successors", 0.0}, {"search_beside", 0.0}, {"early_exit", 0.0}};

/// Passes that leave layers out predict nothing.
constexpr Prices kHopeless = {.isWrongSkipping = true};

/// A conversation, and what its steps told.
class Talk {
public:
    explicit Talk(const SettingValues& settings,
                  SkipSetMemory* memory = nullptr,
                  const Prices& prices = {})
        : priced(redundant(), prices)
        , decoder(
              support::openDecoder("auto",
                                   {.transformer = priced,
                                    .contextLength = 512,
                                    .settings = settings,
                                    .memory = memory,
                                    .clock = [this] { return clockStands ? 0.0 : priced.nowMs; }}))
        , m_settings(settings) {}

    void answer(int tokens, std::string_view task = "task", bool isCancelled = false) {
        std::vector<TokenId> prompt;
        for (int i = 0; i < 8; ++i)
            prompt.push_back((m_seed * 37 + i * 23) % 160);
        ++m_seed;
        for (DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = tokens, .task = task}))
            steps.push_back(std::move(step));
        if (isCancelled)
            return;
        ENGINE_CHECK(decoder->endAnswer().hasValue(), "an answer's end");
    }

    void change(const std::string& name, double value) {
        m_settings[name] = value;
        const DecoderInfo info = support::registry().info("auto").value();
        const SettingValues given = {{name, value}};
        const auto changed = decoder->configure(resolveSettings(info, m_settings).value(), given);
        ENGINE_CHECK(changed.hasValue(), "{} was not changed", name);
    }

    int trials(const std::string& kind) const {
        int count = 0;
        for (const DecodeStep& step : steps)
            count += static_cast<int>(
                std::count_if(step.search.trials.begin(),
                              step.search.trials.end(),
                              [&](const TrialRecord& trial) { return trial.kind == kind; }));
        return count;
    }

    PricedTransformer priced;
    bool clockStands = false;
    std::unique_ptr<Decoder> decoder;
    std::vector<DecodeStep> steps;

private:
    SettingValues m_settings;
    int m_seed = 1;
};

StoredSkipSet stored(int layer) {
    return {.set = {{layer}, {layer + 1}},
            .score = 0.9,
            .skipRatio = 0.1,
            .decoder = "swift",
            .savedAt = layer,
            .trials = 5};
}

} // namespace

class AutoKeepingTest : public QObject {
    Q_OBJECT

private slots:

    /// Each was tried at once when it was met first; from then on the budget decides.
    void tasksThatComeByTurnsBuyNoMoreTrials() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", redundant().config().layerCount);
        QVERIFY(memory.store({{"a", stored(2)}, {"b", stored(4)}}).hasValue());
        Talk talk(kOnlySkips, &memory, kHopeless);
        for (int answers = 0; answers < 60; ++answers)
            talk.answer(24, answers % 2 == 0 ? "a" : "b");
        qInfo("%d trials of stored sets, %.0f ms", talk.trials("stored"), talk.priced.trialMs);
        QVERIFY(talk.trials("stored") >= 1);
        QVERIFY(talk.priced.trialMs < 0.03 * kPlainMs * 60 * 24);
    }

    void aSetIsStoredForATaskOnceItHasPaidThere() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", redundant().config().layerCount);
        Talk talk(kOnlySkips, &memory);
        for (int answers = 0; answers < 5; ++answers)
            talk.answer(200, "first");
        QVERIFY(memory.find("first").value().has_value());
        talk.answer(1, "second"); // one token is never drafted
        QVERIFY(!memory.find("second").value().has_value());
        talk.answer(100, "second");
        QVERIFY(memory.find("second").value().has_value());
    }

    void whatACancelledAnswerHasShownIsStored() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", redundant().config().layerCount);
        Talk talk(kOnlySkips, &memory);
        for (int answers = 0; answers < 5; ++answers)
            talk.answer(200, "task", true);
        QVERIFY(!memory.find("task").value().has_value());
        QCOMPARE(talk.decoder->storeStatistics(), std::vector<std::string>());
        QVERIFY(memory.find("task").value().has_value());
    }

    /// "Again" asks with another seed each time.
    void anotherSeedBringsBackNoHopeThatHasFailed() {
        Talk talk(kOnlySkips);
        for (int answers = 0; answers < 4; ++answers)
            talk.answer(200);
        talk.priced.prices.isWrongSkipping = true;
        for (int answers = 0; answers < 4; ++answers)
            talk.answer(200); // learns that
        talk.steps.clear();
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            QVERIFY(talk.decoder->changeSampling({.seed = seed}).hasValue());
            talk.answer(60);
        }
        for (const DecodeStep& step : talk.steps)
            QVERIFY(step.choice.drafter != "skip" || step.choice.isProbe);
    }

    /// Where every round is drafted nothing else would tell dear rows from a slow machine.
    void wherePlainRoundsDoNotPayOneIsMadeNowAndThen() {
        Talk talk(kOnlySkips);
        for (int answers = 0; answers < 4; ++answers)
            talk.answer(400);
        talk.steps.clear();
        for (int answers = 0; answers < 10; ++answers)
            talk.answer(400);
        const auto measured =
            std::count_if(talk.steps.begin(), talk.steps.end(), [](const DecodeStep& step) {
                return step.isPlain() && step.draft.end().reason == DraftEndReason::Measuring;
            });
        const auto rounds = static_cast<std::ptrdiff_t>(talk.steps.size());
        qInfo("%td of %td rounds were made to measure", measured, rounds);
        QVERIFY(measured > 0);
        QVERIFY(measured * 50 < rounds);
    }

    /// A set that may not be tried any more is no reason to probe exits whenever there is money.
    void aSwitchedOffSuggestionLeavesTheDistanceBetweenProbes() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", redundant().config().layerCount);
        QVERIFY(memory.store("task", stored(2)).hasValue());
        SettingValues settings = kOnlySkips;
        settings["early_exit"] = 1.0;
        Talk talk(settings, &memory, kHopeless);
        talk.answer(4); // too short for a trial
        talk.change("skip_layers", 0.0);
        for (int answers = 0; answers < 20; ++answers)
            talk.answer(200);
        qInfo("%d exits were tried", talk.trials("exit"));
        QVERIFY(talk.trials("exit") >= 1);
        QVERIFY(talk.trials("exit") <= 8);
    }

    /// Clocks of virtual machines have been seen to stand still.
    void aClockThatStoodStillAtFirstSpoilsNothing() {
        SettingValues settings = kOnlySkips;
        settings["skip_layers"] = 0.0;
        settings["early_exit"] = 1.0;
        Talk talk(settings);
        talk.clockStands = true;
        talk.answer(4);
        talk.clockStands = false;
        for (int answers = 0; answers < 8; ++answers)
            talk.answer(200);
        QVERIFY(talk.trials("exit") >= 1);
    }
};

QTEST_GUILESS_MAIN(AutoKeepingTest)
#include "auto_keeping_test.moc"
