// SPDX-License-Identifier: Apache-2.0
// What auto drafts with, on networks whose right answer is known and at made-up prices: no clock of
// the machine is asked.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/priced_transformer.h"
#include "tests/support/transformers/spy_transformer.h"

#include <QTest>

#include <functional>
#include <map>
#include <utility>

using namespace engine;
using support::PricedTransformer;
using support::Prices;

namespace {

constexpr int kOriginals = 6;
constexpr float kSilence = 1e-3F;

std::unique_ptr<Transformer> plain(const ModelConfig& config, const WeightSource& weights) {
    return makePlainTransformer(config, weights, {.precision = Precision::F32}).value();
}

/// Twelve layers, every second of them a near-silent copy of its neighbour.
Transformer& redundant() {
    static const auto made = [] {
        const ModelConfig config = support::layeredConfig(kOriginals);
        const support::MemoryWeights weights = support::randomWeights(config, 11);
        return plain(withSilentCopies(config).value(), weights);
    }();
    return *made;
}

/// Twelve layers, none of which can be left out.
Transformer& dense() {
    static const auto made = [] {
        const ModelConfig config = support::layeredConfig(2 * kOriginals);
        return plain(config, support::randomWeights(config, 12));
    }();
    return *made;
}

/// Twelve layers, the second half of which is near-silent.
Transformer& early() {
    static const auto made = [] {
        const ModelConfig config = support::layeredConfig(2 * kOriginals);
        support::MemoryWeights weights = support::randomWeights(config, 13);
        for (int layer = kOriginals; layer < 2 * kOriginals; ++layer)
            support::quietenLayer(weights, layer, kSilence);
        return plain(config, weights);
    }();
    return *made;
}

/// Without what has been seen before: it would win on the loops that tiny networks fall into. And
/// without the search beside, which has tests of its own (auto_beside_test).
const SettingValues kPassesOnly = {{"lookup", 0.0}, {"successors", 0.0}, {"search_beside", 0.0}};

/// Answers of one decoder, and what they cost.
struct Run {
    std::vector<TokenId> tokens;
    std::vector<DraftChoice> choices; ///< by round
    std::vector<TrialRecord> trials;
    std::vector<PlanChange> plans;
    int mixedRounds = 0; ///< passes and free drafts in one tree
    double ms = 0.0;

    std::map<std::string_view, int> drafters(std::size_t lastRounds) const {
        std::map<std::string_view, int> counts;
        for (std::size_t i = choices.size() - std::min(lastRounds, choices.size());
             i < choices.size();
             ++i)
            ++counts[choices[i].drafter];
        return counts;
    }
};

/// Who answers, and how.
struct Answerer {
    std::string decoder = "auto";
    SettingValues settings = {};
    SkipSetMemory* memory = nullptr;
    SamplingOptions sampling = {};
};

class Answers {
public:
    Answers(PricedTransformer& model, const Answerer& answerer)
        : m_model(model) {
        m_decoder = support::openDecoder(answerer.decoder,
                                         {.transformer = model,
                                          .sampling = answerer.sampling,
                                          .contextLength = 512,
                                          .settings = answerer.settings,
                                          .memory = answerer.memory,
                                          .clock = model.clock()});
    }

    /// Told every step.
    std::function<void(const DecodeStep&)> watch = [](const DecodeStep&) {};

    /// Answers of 200 tokens, to one prompt after the other.
    Run make(int answers) {
        Run run;
        const double startMs = m_model.nowMs;
        for (int i = 0; i < answers; ++i)
            answer(run);
        run.ms = m_model.nowMs - startMs;
        return run;
    }

private:
    static constexpr std::size_t kTokens = 200;

    void answer(Run& run) {
        std::vector<TokenId> prompt;
        for (int i = 0; i < 8; ++i)
            prompt.push_back((m_seed * 37 + i * 23) % 160);
        ++m_seed;
        const double startMs = m_model.nowMs;
        const auto begun = m_decoder->begin(
            {.tokens = prompt, .maxTokens = static_cast<int>(kTokens), .task = "task"}, {});
        ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
        m_model.nowMs = startMs; // reading the prompt is not what is measured here
        for (std::size_t count = 0; count < kTokens;) {
            auto step = support::valueOf(m_decoder->step());
            count += step.tokens.size();
            watch(step);
            take(std::move(step), run);
        }
        ENGINE_CHECK(m_decoder->endAnswer().hasValue(), "an answer's end");
    }

    static void take(DecodeStep step, Run& run) {
        run.tokens.insert(run.tokens.end(), step.tokens.begin(), step.tokens.end());
        run.choices.push_back(step.choice);
        const bool isByPasses = step.planId != 0;
        run.mixedRounds += isByPasses && step.draft.size() > step.draft.draftSteps() ? 1 : 0;
        for (TrialRecord& trial : step.search.trials)
            run.trials.push_back(std::move(trial));
        for (PlanChange& change : step.search.planChanges)
            run.plans.push_back(std::move(change));
    }

    PricedTransformer& m_model;
    std::unique_ptr<Decoder> m_decoder;
    int m_seed = 1;
};

/// Each network's are made once for all functions.
std::vector<TokenId>
vanillaTokens(Transformer& inner, int answers, const SamplingOptions& sampling = {}) {
    static std::map<std::pair<Transformer*, double>, std::pair<int, std::vector<TokenId>>> known;
    auto& [count, tokens] = known[{&inner, sampling.temperature}];
    if (count < answers) {
        PricedTransformer model(inner);
        tokens = Answers(model, {.decoder = "vanilla", .sampling = sampling}).make(answers).tokens;
        count = answers;
    }
    const std::size_t each = tokens.size() / static_cast<std::size_t>(count); // alike in all
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(each) * answers};
}

constexpr double kPlainMs = 10.0;

/// Draft passes that are made for their time alone.
constexpr int kPricePasses = 3;

/// The time of vanilla for as many tokens.
double plainMs(const Run& run) { return kPlainMs * static_cast<double>(run.tokens.size()); }

} // namespace

class AutoChoiceTest : public QObject {
    Q_OBJECT

private slots:

    void aRedundantNetworkComesToBeDraftedWithASkipSet() {
        PricedTransformer model(redundant());
        Answers answers(model, {.settings = kPassesOnly});
        const Run first = answers.make(3);
        QVERIFY(first.tokens == vanillaTokens(redundant(), 3));
        const Run run = answers.make(3);
        report("redundant", model, run);
        QVERIFY(run.drafters(30)["skip"] >= 27);
        QVERIFY(plainMs(run) / run.ms > 1.4);
        QVERIFY(model.trials < 30);
    }

    void whereADraftPassCostsAsMuchAsAStepNothingIsEverTried() {
        PricedTransformer model(redundant(), {.savesByBytes = false});
        const Run run = Answers(model, {.settings = kPassesOnly}).make(8);
        report("no saving", model, run);
        QCOMPARE(run.trials.size(), std::size_t{0});
        QVERIFY(model.draftPasses <= kPricePasses);
        QVERIFY(run.ms < 1.01 * plainMs(run));
    }

    void whereRowsAreDearNothingIsEverTried() {
        PricedTransformer model(redundant(), {.rowPart = 0.9});
        const Run run = Answers(model, {.settings = kPassesOnly}).make(8);
        report("dear rows", model, run);
        QCOMPARE(run.trials.size(), std::size_t{0});
        QVERIFY(model.draftPasses <= kPricePasses);
        QVERIFY(run.ms < 1.01 * plainMs(run));
    }

    void aDenseNetworkIsProbedInLessThanAHundredthOfTheTime() {
        PricedTransformer model(dense());
        const Run run = Answers(model, {.settings = kPassesOnly}).make(10);
        report("dense", model, run);
        QVERIFY(!run.trials.empty()); // it was tried
        QVERIFY(model.trialMs + model.draftMs < 0.01 * run.ms);
        QVERIFY(run.ms < 1.01 * plainMs(run));
        QVERIFY(run.tokens == vanillaTokens(dense(), 10));
    }

    /// All that is known speaks for skipping, but it never helps: the search gives up.
    void aSearchWithoutSuccessEnds() {
        PricedTransformer model(redundant(), {.isWrongSkipping = true});
        Answers answers(model, {.settings = kPassesOnly});
        const Run first = answers.make(10);
        report("hopeless", model, first);
        QVERIFY(first.trials.size() >= 2);
        QVERIFY(first.ms < 1.02 * plainMs(first));
        const double before = model.trialMs + model.draftMs;
        const Run later = answers.make(10);
        report("hopeless, later", model, later);
        QVERIFY(model.trialMs + model.draftMs - before < 0.01 * later.ms);
        QVERIFY(later.ms < 1.01 * plainMs(later));
    }

    /// Its passes are paid from the purse as a trial is.
    void theNewestTokensStreamIsFollowedBesideLeastInfluence() {
        PricedTransformer model(redundant(), {.isWrongSkipping = true});
        const Run run = Answers(model, {.settings = kPassesOnly}).make(10);
        std::vector<std::string> kinds;
        for (const TrialRecord& trial : run.trials)
            kinds.push_back(trial.kind);
        const auto influence = std::find(kinds.begin(), kinds.end(), "influence");
        QVERIFY(std::find(influence, kinds.end(), "stream") != kinds.end());
        QVERIFY(run.ms < 1.02 * plainMs(run));
    }

    void aSkipSetThatPaysNoMoreIsOnlyProbed() {
        PricedTransformer model(redundant());
        Answers answers(model, {.settings = kPassesOnly});
        answers.make(4);
        model.prices.isWrongSkipping = true;
        answers.make(4); // learns that
        const double before = model.trialMs + model.draftMs;
        const Run run = answers.make(10);
        report("pays no more", model, run);
        QVERIFY(model.trialMs + model.draftMs - before < 0.01 * run.ms);
        QVERIFY(run.ms < 1.01 * plainMs(run));
        for (const DraftChoice& choice : run.choices)
            QVERIFY(choice.drafter != "skip" || choice.isProbe);
    }

    void anEarlyExitIsFoundByProbing() {
        PricedTransformer model(early());
        SettingValues settings = kPassesOnly;
        settings["skip_layers"] = 0.0;
        Answers answers(model, {.settings = settings});
        answers.make(8);
        const Run run = answers.make(2);
        report("early", model, run);
        QVERIFY(run.drafters(25)["exit"] >= 23);
        QVERIFY(plainMs(run) / run.ms > 1.4);
    }

    void roundsByEarlyExitResumeBehindIt_data() {
        QTest::addColumn<bool>("hasFreeDrafts");
        QTest::newRow("chains") << false;
        QTest::newRow("chains and what is beside them") << true;
    }

    /// Each row goes through each layer once: none of those that drafted it again.
    void roundsByEarlyExitResumeBehindIt() {
        QFETCH(bool, hasFreeDrafts);
        SettingValues settings = hasFreeDrafts ? SettingValues{{"lookup", 0.0}} : kPassesOnly;
        settings["skip_layers"] = 0.0;
        settings["probing"] = hasFreeDrafts ? 1.0 : 0.005; // where free drafts are the better ones
        support::SpyTransformer spy(early());
        PricedTransformer model(spy, {.rowPart = hasFreeDrafts ? 0.0 : 0.05});
        Answers answers(model, {.settings = settings});
        const int layers = model.config().layerCount;
        int rounds = 0;
        int mixed = 0;
        long before = 0;
        std::size_t made = 0; // tokens
        answers.watch = [&](const DecodeStep& step) {
            long rowLayers = spy.rowLayers - std::exchange(before, spy.rowLayers);
            const bool readsPrompt = std::exchange(made, made + step.tokens.size()) % 200 == 0;
            const bool isPriced = step.search.searchMs > 0.0 && step.search.trials.empty();
            if (step.planId == 0 || isPriced || readsPrompt)
                return;
            for (const TrialRecord& trial : step.search.trials)
                rowLayers -=
                    static_cast<long>(trial.window.size()) * (trial.plan.exitAfterLayer + 1);
            const int chain = step.draft.draftSteps();
            const double exit = layers - step.verifyLayers;
            QCOMPARE(rowLayers, static_cast<long>(step.verifiedRows) * layers);
            QVERIFY(exit > 0.0);
            QCOMPARE(step.draftLayers, exit * (chain + 1));
            ++rounds;
            mixed += step.draft.size() > chain ? 1 : 0;
        };
        const int answered = 8;
        const Run run = answers.make(answered);
        qInfo("%d rounds by exit, %d of them with free nodes", rounds, mixed);
        QVERIFY(rounds > 20);
        QCOMPARE(mixed > 0, hasFreeDrafts);
        QVERIFY(run.tokens == vanillaTokens(early(), answered));
    }

    /// A chain of n is n passes of half the network, then its other half: not more. What is told is
    /// the mean of earlier rounds.
    void theCostOfARoundByExitIsThatOfItsPasses() {
        PricedTransformer model(early());
        SettingValues settings = kPassesOnly;
        settings["skip_layers"] = 0.0;
        Answers answers(model, {.settings = settings});
        answers.make(8);
        double told = 0.0;
        double spent = 0.0;
        answers.watch = [&](const DecodeStep& step) {
            if (step.choice.drafter != "exit")
                return;
            told += step.choice.expectedCost * step.choice.plainMs;
            spent += step.draftMs + step.verifyMs;
        };
        answers.make(6);
        qInfo("rounds by exit were said to cost %.0f ms and cost %.0f ms", told, spent);
        QVERIFY(spent > 0.0);
        QVERIFY(std::abs(told / spent - 1.0) < 0.08); // a whole verification costs more than that
    }

    /// What the window's notice promises: "Auto drafts in another way instead".
    void whereSkippingDoesNotPayWhatWasWrittenBeforeIsDrafted() {
        PricedTransformer model(dense(), {.isWrongSkipping = true});
        const Run run = Answers(model, {}).make(4);
        report("instead", model, run);
        const auto drafters = run.drafters(run.choices.size());
        QVERIFY(drafters.contains("free"));
        QVERIFY(!drafters.contains("skip"));
        QVERIFY(run.ms < plainMs(run));
        QVERIFY(run.tokens == vanillaTokens(dense(), 4));
    }

    /// Where both pay they are used by turns and lose nothing by it.
    void skippingAndFreeDraftsTogetherAreAsGoodAsTheBetterOne() {
        const auto speed = [](const SettingValues& settings) {
            PricedTransformer model(redundant());
            Answers answers(model, {.settings = settings});
            answers.make(4);
            const Run run = answers.make(3);
            return plainMs(run) / run.ms;
        };
        const double both = speed({});
        const double skipping = speed(kPassesOnly);
        const double free = speed({{"skip_layers", 0.0}, {"early_exit", 0.0}});
        qInfo("both %.3f, skipping %.3f, free %.3f", both, skipping, free);
        QVERIFY(both > 0.98 * std::max(skipping, free));
    }

    void whereRowsCostNothingFreeNodesAreVerifiedBesideThoseOfPasses() {
        PricedTransformer model(redundant(), {.rowPart = 0.0});
        const Run run = Answers(model, {}).make(3);
        QVERIFY(run.mixedRounds > 0);
        QVERIFY(run.tokens == vanillaTokens(redundant(), 3));
    }

    void everyChoiceNamesWhatItRefused() {
        PricedTransformer model(redundant());
        const Run run = Answers(model, {.settings = kPassesOnly}).make(5);
        bool hasRefusal = false;
        for (const DraftChoice& choice : run.choices) {
            QVERIFY(choice.refused != choice.drafter);
            const double rate = choice.expectedTokens / choice.expectedCost;
            if (choice.drafter == "skip" && !choice.isProbe) {
                QVERIFY(rate > 1.02);
                QVERIFY(rate >= choice.refusedTokens / choice.refusedCost);
            }
            hasRefusal = hasRefusal || !choice.refused.empty();
        }
        QVERIFY(hasRefusal);
        QVERIFY(std::abs(run.choices.back().plainMs - kPlainMs) < 0.5);
    }

    void constantProbingChangesNoToken_data() {
        QTest::addColumn<QString>("drafter");
        QTest::addColumn<double>("temperature");
        for (const char* drafter : {"skip", "exit"})
            for (const double temperature : {0.0, 0.8})
                QTest::addRow("%s, temperature %.1f", drafter, temperature)
                    << drafter << temperature;
    }

    /// A drafter at all times, whatever it gives: tokens stay vanilla's, drawn ones as well.
    void constantProbingChangesNoToken() {
        QFETCH(QString, drafter);
        QFETCH(double, temperature);
        SettingValues settings = kPassesOnly;
        settings["margin"] = -1.0;
        settings["probing"] = 1.0;
        settings[drafter == "skip" ? "early_exit" : "skip_layers"] = 0.0;
        const SamplingOptions sampling{.temperature = temperature, .seed = 5};
        PricedTransformer model(dense());
        const Run run = Answers(model, {.settings = settings, .sampling = sampling}).make(1);
        auto drafters = run.drafters(run.choices.size());
        QVERIFY(drafters[drafter.toStdString()] > 50);
        QVERIFY(run.trials.size() > 20);
        QVERIFY(run.tokens == vanillaTokens(dense(), 1, sampling));
    }

    void theSamePricesGiveTheSameChoices() {
        const auto choices = [] {
            PricedTransformer model(redundant());
            std::vector<std::pair<std::string, int>> told;
            for (const DraftChoice& choice : Answers(model, {}).make(4).choices)
                told.emplace_back(choice.drafter, choice.nodes);
            return told;
        };
        QVERIFY(choices() == choices());
    }

    void whatWasFoundIsStoredAndTriedFirstInTheNextRun() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", redundant().config().layerCount);
        PricedTransformer model(redundant());
        const Run first = Answers(model, {.settings = kPassesOnly, .memory = &memory}).make(5);
        const auto stored = memory.find("task").value();
        QVERIFY(stored.has_value());
        QCOMPARE(stored->decoder, std::string("auto"));
        QVERIFY(planOf(stored->set, model.config().layerCount).value() == first.plans.back().plan);
        const Run second = Answers(model, {.settings = kPassesOnly, .memory = &memory}).make(1);
        QVERIFY(!second.trials.empty());
        QCOMPARE(second.trials.front().kind, std::string("stored"));
        QCOMPARE(second.plans.front().reason, std::string("stored"));
        QVERIFY(second.drafters(10)["skip"] >= 9);
    }

private:
    static void report(const char* name, const PricedTransformer& model, const Run& run) {
        auto last = run.drafters(50);
        qInfo("%s: %.3f of vanilla's speed, %d trials (%.1f ms), %d draft passes (%.1f ms) in all; "
              "last rounds: %d none, %d free, %d skip, %d exit",
              name,
              plainMs(run) / run.ms,
              model.trials,
              model.trialMs,
              model.draftPasses,
              model.draftMs,
              last["none"],
              last["free"],
              last["skip"],
              last["exit"]);
    }
};

QTEST_GUILESS_MAIN(AutoChoiceTest)
#include "auto_choice_test.moc"
