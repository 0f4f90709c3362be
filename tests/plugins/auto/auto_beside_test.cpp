// SPDX-License-Identifier: Apache-2.0
// SWIFT's search beside Auto's own drafts: what it may cost, what it tells, and that no token hangs
// on it. Costs are invented, so no clock of the machine is asked.
#include "engine/decoding/drafts/draft_settings.h"
#include "engine/decoding/statistics/skip_set_memory.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/priced_transformer.h"

#include <QTest>

#include <array>

using namespace engine;
using support::PricedTransformer;
using support::Prices;

namespace {

constexpr int kLayers = 12;

/// No layer of it can be left out without harm.
Transformer& model() {
    static const auto made = support::layeredModel(kLayers, 21);
    return *made;
}

/// Auto's own trials are off, so that all trials are those beside.
const SettingValues kOnlyBeside = {{"probing", 0.0}, {"early_exit", 0.0}};

/// A conversation with Auto or another decoder, and everything that it told.
class Talk {
public:
    explicit Talk(Transformer& inner,
                  const SettingValues& settings = kOnlyBeside,
                  const SamplingOptions& sampling = {},
                  SkipSetMemory* memory = nullptr,
                  Prices prices = {.rowPart = 0.2},
                  const char* name = "auto")
        : priced(inner, prices)
        , decoder(support::openDecoder(name,
                                       {.transformer = priced,
                                        .sampling = sampling,
                                        .contextLength = 512,
                                        .settings = settings,
                                        .memory = memory,
                                        .clock = priced.clock()})) {}

    void answer(int tokens = 200, std::string_view task = "chat") {
        std::vector<TokenId> prompt;
        for (int i = 0; i < 8; ++i)
            prompt.push_back((m_seed * 37 + i * 23) % 160);
        ++m_seed;
        for (DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = tokens, .task = task})) {
            tokensOut.insert(tokensOut.end(), step.tokens.begin(), step.tokens.end());
            decodeMs += step.draftMs + step.verifyMs;
            searchMs += step.search.searchMs;
            usedPlans += step.planId != 0 ? 1 : 0;
            take(step.search);
        }
        const SearchReport end = decoder->endAnswer().value();
        phase = end.phase;
        take(end);
    }

    /// The pieces of work in the pause, at most so many.
    int pause(int most = 100'000) {
        for (int pieces = 0; pieces < most; ++pieces) {
            const auto report = decoder->idle({}).value();
            if (!report)
                return pieces;
            take(*report);
            phase = report->phase;
        }
        return most;
    }

    PricedTransformer priced;
    std::unique_ptr<Decoder> decoder;
    std::vector<TokenId> tokensOut;
    std::vector<TrialRecord> trials;
    std::vector<PlanChange> plans;
    std::optional<DraftForecast> forecast; // the newest
    DecoderPhase phase = DecoderPhase::Plain;
    double decodeMs = 0.0;
    double searchMs = 0.0;
    int usedPlans = 0; // steps that were drafted with one

private:
    void take(const SearchReport& report) {
        trials.insert(trials.end(), report.trials.begin(), report.trials.end());
        plans.insert(plans.end(), report.planChanges.begin(), report.planChanges.end());
        if (report.forecast)
            forecast = report.forecast;
    }

    int m_seed = 1;
};

/// Passes with skipped layers are the only drafts.
const SettingValues kFreeless = {{"early_exit", 0.0}, {"lookup", 0.0}, {"successors", 0.0}};

SettingValues without() {
    SettingValues settings = kOnlyBeside;
    settings["search_beside"] = 0.0;
    return settings;
}

} // namespace

class AutoBesideTest : public QObject {
    Q_OBJECT

private slots:

    void theFirstAnswerAlreadyShowsASetAndItsScore() {
        Talk talk(model());
        talk.answer(150);
        QVERIFY(!talk.plans.empty());
        QVERIFY(!talk.trials.empty());
        QCOMPARE(talk.trials.front().kind, std::string("start"));
        QVERIFY(talk.trials.front().plan == talk.plans.front().plan);
    }

    void inAPauseTheBestScoreIsOfTheTokensOfTheTrial() {
        Talk talk(model());
        talk.answer(150);
        talk.pause(40);
        QVERIFY(talk.trials.size() > 10);
        const TrialRecord* best = nullptr;
        for (const TrialRecord& trial : talk.trials) {
            best = trial.isBest ? &trial : best;
            QVERIFY(best != nullptr && best->window == trial.window);
            QCOMPARE(trial.best, best->score);
        }
    }

    void trialsBesideTheAnswersTakeTwoHundredthsOfTheTimeAtMost_data() {
        QTest::addColumn<double>("rowPart");
        QTest::addColumn<double>("probing");
        support::FewCases few(2, !support::takesAllCases());
        for (const double rowPart : {0.02, 0.2, 1.0})
            for (const double probing :
                 rowPart == 0.2 ? std::array{0.005, 0.0} : std::array{0.0, 0.005})
                if (!few.skipsNext())
                    QTest::addRow("a further row costs %.2f, probing %.3f", rowPart, probing)
                        << rowPart << probing;
    }

    void trialsBesideTheAnswersTakeTwoHundredthsOfTheTimeAtMost() {
        QFETCH(double, rowPart);
        QFETCH(double, probing);
        SettingValues settings = kOnlyBeside;
        settings["probing"] = probing;
        Talk talk(model(), settings, {}, nullptr, {.rowPart = rowPart});
        // What rows cost is not known before the first pass of four is paid for as one of one.
        const double overdrawn = probing > 0.0 ? 3.0 * rowPart * talk.priced.prices.plainMs : 0.0;
        for (int answers = 0; answers < 12; ++answers) {
            if (answers > 4 && talk.trials.size() >= 2 && !support::takesAllCases())
                break;
            talk.answer();
            QVERIFY2(talk.searchMs <= 0.02 * talk.decodeMs + overdrawn + 1e-9,
                     qPrintable(QString("%1 of %2 ms").arg(talk.searchMs).arg(talk.decodeMs)));
        }
        QVERIFY(talk.trials.size() >= 2);
        QVERIFY(talk.searchMs > 0.0);
    }

    void whatIsFoundIsToldAsBesideAndNeverDraftedWith() {
        Talk talk(model());
        talk.answer();
        talk.pause();
        talk.answer();
        QVERIFY(talk.trials.size() > 10);
        for (const TrialRecord& trial : talk.trials)
            QVERIFY(trial.isBeside);
        for (const PlanChange& change : talk.plans) {
            QVERIFY(change.isBeside);
            QCOMPARE(change.planId, std::uint64_t{0});
        }
        QCOMPARE(talk.usedPlans, 0);
    }

    void noTokenHangsOnIt_data() {
        QTest::addColumn<double>("temperature");
        QTest::newRow("greedy") << 0.0;
        QTest::newRow("drawn") << 0.9;
    }

    void noTokenHangsOnIt() {
        QFETCH(double, temperature);
        const SamplingOptions sampling{.temperature = temperature, .seed = 7};
        Talk with(model(), kOnlyBeside, sampling);
        Talk plain(model(), without(), sampling);
        for (int answers = 0; answers < 4; ++answers) {
            with.answer(60);
            with.pause(answers * 10); // also an interrupted one
            plain.answer(60);
            QCOMPARE(plain.pause(), 0);
        }
        QVERIFY(with.trials.size() > 20);
        QVERIFY(plain.trials.empty());
        QVERIFY(with.tokensOut == plain.tokensOut);
    }

    void aPieceOfThePauseIsOnePassAtMost() {
        Talk talk(model());
        talk.answer(60);
        for (bool hasMore = true; hasMore;) {
            const double before = talk.priced.nowMs;
            hasMore = talk.pause(1) == 1;
            // 32 rows in one full pass: what the dearest piece can cost
            QVERIFY(talk.priced.nowMs - before <= 10.0 * (1.0 + 0.2 * 31));
        }
    }

    void thePauseEndsWithTheSearch() {
        Talk talk(model());
        talk.answer(60);
        const int pieces = talk.pause();
        QVERIFY2(pieces > 20 && pieces < 400, qPrintable(QString::number(pieces)));
        QCOMPARE(talk.phase, DecoderPhase::Plain);
        // The search of this task is over for good; another task has one of its own.
        const std::size_t trials = talk.trials.size();
        talk.answer(60);
        QCOMPARE(talk.pause(), 1); // what it found is tried on this answer
        QCOMPARE(talk.pause(), 0);
        QCOMPARE(talk.trials.size(), trials);
        talk.answer(60, "code");
        QVERIFY(talk.pause() > 20);
    }

    /// Auto's own search, which would pay here, cannot go on before the next answer.
    void aSearchOfItsOwnThatWouldPayDoesNotKeepThePauseEmpty() {
        const auto quiet = support::quietModel(kLayers, 22, {.first = 3, .end = 9, .part = 1e-4F});
        Talk talk(*quiet, kFreeless, {}, nullptr, {.rowPart = 0.02});
        talk.answer(60);
        QCOMPARE(talk.usedPlans, 0);
        talk.pause();
        QVERIFY2(talk.trials.size() > 5, qPrintable(QString::number(talk.trials.size())));
        QVERIFY(talk.forecast.has_value());
    }

    /// The window says of a search that it goes on while its phase says so.
    void noPhaseSaysThatASearchGoesOnWhenItDoesNot() {
        const auto quiet = support::quietModel(kLayers, 22, {.first = 3, .end = 9, .part = 1e-4F});
        for (const bool isQuiet : {false, true})
            for (const int tokens : {5, 12, 60}) {
                Talk talk(isQuiet ? *quiet : model(), kFreeless, {}, nullptr, {.rowPart = 0.02});
                for (int answers = 0; answers < 3; ++answers) {
                    talk.answer(tokens);
                    QVERIFY(talk.phase != DecoderPhase::Optimise);
                    if (talk.pause(8) == 8)
                        QCOMPARE(talk.phase, DecoderPhase::Optimise);
                    talk.pause();
                    QVERIFY(talk.phase != DecoderPhase::Optimise);
                }
            }
    }

    void anAnswerThatIsTooShortForAWindowHasNoPause() {
        Talk talk(model());
        talk.answer(5);
        QCOMPARE(talk.pause(), 0);
        QVERIFY(talk.trials.empty());
    }

    void aClockThatStandsStillDoesNotKeepThePauseGoing() {
        Talk talk(model(), kOnlyBeside, {}, nullptr, {.plainMs = 0.0});
        talk.answer(60);
        QVERIFY(talk.pause() < 400);
    }

    void whereDraftPassesSaveNothingTheForecastIsALoss() {
        Talk talk(model(), kOnlyBeside, {}, nullptr, {.rowPart = 0.2, .savesByBytes = false});
        talk.answer(100);
        talk.pause();
        QVERIFY(talk.forecast.has_value());
        const DraftForecast& told = *talk.forecast;
        QVERIFY(std::abs(told.draftCost - 1.0) < 0.05);
        QVERIFY(told.verifyCost > 1.2 && told.verifyCost < 1.0 + 0.2 * 7 + 0.05);
        QVERIFY(told.speedup() < 1.0);
        QCOMPARE(told.speedup(),
                 told.tokensPerRound / (told.draftSteps * told.draftCost + told.verifyCost));
        QCOMPARE(told.searchingSpeedup(), told.speedup() / (1.0 + kSwiftSearchShare));
    }

    /// In an answer other work may slow passes down; what they cost is compared within the pause.
    void aPauseInWhichAllPassesAreFasterPromisesNothingMore() {
        for (const double pauseMs : {10.0, 6.0, 16.0}) {
            Talk talk(model(), kOnlyBeside, {}, nullptr, {.rowPart = 0.2});
            talk.answer(100);
            talk.priced.prices.plainMs = pauseMs;
            talk.pause();
            QVERIFY(talk.forecast.has_value());
            const double share = weightShare(talk.plans.back().plan, model().config());
            QVERIFY2(std::abs(talk.forecast->draftCost - share) < 0.05,
                     qPrintable(QString::number(talk.forecast->draftCost)));
            QVERIFY(talk.forecast->verifyCost < 1.0 + 0.2 * 7 + 0.05);
        }
    }

    /// An answer that ends with the window has shown the best set no other tokens.
    void tokensThatASetWasChosenByMakeNoForecast() {
        Talk talk(model());
        talk.answer(33);
        talk.pause();
        QVERIFY(talk.trials.size() > 20);
        QVERIFY(!talk.forecast.has_value());
        talk.answer(33 + 16);
        talk.pause();
        QVERIFY(talk.forecast.has_value());
        QCOMPARE(talk.forecast->tokens, 16);
    }

    void theForecastIsWhatSwiftThenMeasures_data() {
        QTest::addColumn<double>("rowPart");
        QTest::addColumn<bool>("isQuiet");
        for (const double rowPart : {0.02, 0.2})
            for (const bool isQuiet : {false, true})
                if (isQuiet == (rowPart < 0.1) || support::takesAllCases())
                    QTest::addRow(
                        "%s, a further row costs %.2f", isQuiet ? "quiet" : "dense", rowPart)
                        << rowPart << isQuiet;
    }

    void theForecastIsWhatSwiftThenMeasures() {
        QFETCH(double, rowPart);
        QFETCH(bool, isQuiet);
        const auto quiet = support::quietModel(kLayers, 22, {.first = 3, .end = 9, .part = 1e-3F});
        Transformer& inner = isQuiet ? *quiet : model();
        SettingValues settings = kOnlyBeside;
        settings.insert(kFreeless.begin(), kFreeless.end());
        Talk talk(inner, settings, {}, nullptr, {.rowPart = rowPart});
        for (int answers = 0; answers < 6; ++answers) {
            talk.answer(100);
            talk.pause();
        }
        QVERIFY(talk.forecast.has_value());
        const std::string set = skipSetJson(skipSetOf(talk.plans.back().plan));
        Talk swift(inner,
                   {{"start", std::string("manual")}, {"skip_set", set}, {"optimise", 0.0}},
                   {},
                   nullptr,
                   {.rowPart = rowPart},
                   "swift");
        for (int answers = 0; answers < 6; ++answers)
            swift.answer(200);
        const double plainMs = static_cast<double>(swift.tokensOut.size()) * 10.0;
        const double measured = plainMs / swift.priced.nowMs; // prompts included: 1 to 2 % of it
        qInfo("forecast %.3f, measured %.3f", talk.forecast->speedup(), measured);
        QVERIFY(std::abs(talk.forecast->speedup() / measured - 1.0) < 0.1);
    }

    void whatWasFoundIsStoredAndTheNextRunBeginsWithIt() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
        LayerPlan found;
        {
            Talk talk(model(), kOnlyBeside, {}, &memory);
            talk.answer();
            talk.pause(40);
            QCOMPARE(talk.decoder->storeStatistics(), std::vector<std::string>());
            found = talk.plans.back().plan;
        }
        const auto stored = memory.find("chat").value();
        QVERIFY(stored.has_value());
        QVERIFY(planOf(stored->set, kLayers).value() == found);
        QVERIFY(stored->trials > 0);
        Talk next(model(), kOnlyBeside, {}, &memory);
        next.answer();
        QVERIFY(next.plans.front().plan == found);
        QCOMPARE(next.usedPlans, 0); // it has never paid, so it is not tried in the first answer
    }

    void whatIsSwitchedOffWhileItRunsIsNotStored() {
        const test_support::TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
        Talk talk(model(), kOnlyBeside, {}, &memory);
        SettingValues settings = kOnlyBeside;
        settings["remember"] = 0.0;
        const DecoderInfo info = support::registry().info("auto").value();
        const auto changed =
            talk.decoder->configure(resolveSettings(info, settings).value(), settings);
        QVERIFY(changed.hasValue());
        talk.answer();
        talk.pause(40);
        QCOMPARE(talk.decoder->storeStatistics(), std::vector<std::string>());
        QVERIFY(!memory.find("chat").value().has_value());
    }

    void whoWantsNoSkippedLayersGetsNoSearch() {
        SettingValues settings = kOnlyBeside;
        settings["skip_layers"] = 0.0;
        Talk talk(model(), settings);
        talk.answer();
        QCOMPARE(talk.pause(), 0);
        QVERIFY(talk.trials.empty() && talk.plans.empty());
    }

    /// Where it pays, Auto's own search takes over and what it found is drafted with.
    void whereASkipSetPaysAutoDraftsWithOne() {
        const auto quiet = support::quietModel(kLayers, 22, {.first = 3, .end = 9, .part = 1e-4F});
        Talk talk(*quiet, kFreeless, {}, nullptr, {.rowPart = 0.02});
        for (int answers = 0; answers < 4; ++answers) {
            talk.answer();
            talk.pause(50);
        }
        QVERIFY(talk.usedPlans > 0);
        const std::size_t trials = talk.trials.size();
        QCOMPARE(talk.pause(), 0);
        QCOMPARE(talk.trials.size(), trials);
    }
};

QTEST_GUILESS_MAIN(AutoBesideTest)
#include "auto_beside_test.moc"
