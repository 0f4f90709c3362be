// SPDX-License-Identifier: Apache-2.0
// What DEL does: which rows it compares, what a round loads, what it keeps, and by milliseconds at
// made-up prices what it drafts.
#include "plugins/del/head_reader.h"
#include "tests/plugins/del/del_support.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace engine;
using support::begin;
using support::cell;
using support::Ids;
using support::kContext;
using support::kLayers;
using support::make;
using support::randomPrompt;
using support::registry;
using support::stepOf;

namespace {

/// What passes cost: layers and head in milliseconds for one row, a row more a part of that.
struct Prices {
    double layerMs = 1.0;
    double headMs = 0.5;
    double rowPart = 0.05;
};

/// Writes down the passes of another transformer and moves a clock by their prices.
class WatchedTransformer final : public support::WrappingTransformer {
public:
    explicit WatchedTransformer(Transformer& inner, Prices prices = {})
        : WrappingTransformer(inner)
        , m_prices(prices) {}

    StepClock clock() const {
        return [this] { return nowMs; };
    }

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        const int end = request.endLayer >= 0 ? request.endLayer : request.plan.exitAfterLayer + 1;
        const int rows = request.layout.rowCount();
        const int headRows = static_cast<int>(request.summaryRows.size());
        nowMs += m_prices.layerMs * (end - request.firstLayer) * factor(rows);
        nowMs += headRows > 0 ? m_prices.headMs * factor(headRows) : 0.0;
        if (end == request.firstLayer) {
            comparedRows += rows;
            mostRowsAtOnce = std::max(mostRowsAtOnce, rows);
            logitRows += static_cast<int>(request.logitRows.size());
        }
        return inner().forwardInto(request, cache, result);
    }

    double nowMs = 0.0;
    int comparedRows = 0;   ///< of passes that were only the head
    int mostRowsAtOnce = 0; ///< of one of those
    int logitRows = 0;      ///< of those

private:
    double factor(int rows) const { return 1.0 + m_prices.rowPart * (rows - 1); }

    Prices m_prices;
};

HeadSummary summaryOf(const std::vector<std::pair<TokenId, double>>& probabilities) {
    HeadSummary summary;
    for (const auto& [id, probability] : probabilities) {
        summary.ids[static_cast<std::size_t>(summary.count)] = id;
        summary.logits[static_cast<std::size_t>(summary.count)] = std::log(probability);
        ++summary.count;
    }
    return summary;
}

/// A decoder's answers at prices, and vanilla's.
struct Priced {
    Ids tokens;
    double ms = 0.0;
    int draftedRounds = 0;
    int rounds = 0;
    std::vector<int> exits; ///< by round; 0 = plain
};

Priced answersOf(const std::string& decoder, Transformer& inner, Prices prices) {
    WatchedTransformer watched(inner, prices);
    const auto made = make(decoder, watched, {}, {}, watched.clock());
    Priced priced;
    for (unsigned seed = 1; seed <= 3; ++seed) {
        begin(*made, randomPrompt(seed, 6), 100);
        int exit = 0;
        for (std::size_t left = 100; left > 0;) {
            const DecodeStep step = stepOf(*made);
            for (const PlanChange& change : step.search.planChanges)
                exit = change.plan.exitAfterLayer + 1;
            priced.tokens.insert(priced.tokens.end(), step.tokens.begin(), step.tokens.end());
            priced.draftedRounds += step.isPlain() ? 0 : 1;
            priced.exits.push_back(step.isPlain() ? 0 : exit);
            ++priced.rounds;
            left -= step.tokens.size();
        }
    }
    priced.ms = watched.nowMs;
    return priced;
}

} // namespace

class DelTest : public QObject {
    Q_OBJECT

private slots:
    void theFirstRoundComparesTheRowsThatThePromptHas_data();
    void theFirstRoundComparesTheRowsThatThePromptHas();
    void aRoundLoadsItsExitAndTheRest();
    void whereNothingPaysStepsArePlainAndStillTeach();
    void statisticsAreKeptOnRequestOnly();
    void lawsAreComparedByWhatTheyShare();
    void aFixedExitDraftsEveryRound();
    void chosenLengthsAreThoseOfTheTable();
    void millisecondsAreToldWithTheChoice();
    void cheapHeadsAreDraftedWithAndDearOnesAreNot();
    void theSamePricesGiveTheSameRounds();
    void badSettingsAreRefused_data();
    void badSettingsAreRefused();
    void aModelOfOneLayerIsRefused();
    void bothDecodersExplainThemselves();
};

void DelTest::theFirstRoundComparesTheRowsThatThePromptHas_data() {
    QTest::addColumn<QString>("start");
    QTest::addColumn<int>("length");
    QTest::addColumn<int>("context");
    for (const QString start : {"fused", "prefill"})
        for (const auto& [length, context] : {std::pair(1, 0),
                                              std::pair(20, 19),
                                              std::pair(33, 32),
                                              std::pair(100, 32),
                                              std::pair(200, 32)})
            QTest::addRow("%s, %d", qPrintable(start), length) << start << length << context;
}

void DelTest::theFirstRoundComparesTheRowsThatThePromptHas() {
    QFETCH(QString, start);
    QFETCH(int, length);
    QFETCH(int, context);
    WatchedTransformer watched(support::quiet());
    SettingValues settings = support::kAllCompared;
    settings["start"] = start.toStdString();
    const auto decoder = make("del", watched, settings);
    begin(*decoder, randomPrompt(5, length));
    const DecodeStep step = stepOf(*decoder);
    QCOMPARE(step.draft.size(), start == "fused" ? 1 : 0);
    const int rows = context + static_cast<int>(step.tokens.size());
    QCOMPARE(watched.comparedRows, context + (kLayers - 1) * rows);
    QVERIFY(watched.mostRowsAtOnce <= 32);
    QCOMPARE(watched.logitRows, 0);
    QVERIFY(step.tables.empty()); // it was chosen from nothing
    const int before = watched.comparedRows;
    const DecodeStep second = stepOf(*decoder);
    QCOMPARE(watched.comparedRows - before, (kLayers - 1) * static_cast<int>(second.tokens.size()));
}

void DelTest::aRoundLoadsItsExitAndTheRest() {
    for (const char* rule : {"ours", "paper"}) {
        SettingValues settings = support::kAllCompared;
        settings["rule"] = std::string(rule);
        const auto decoder = make("del", support::quiet(), settings);
        begin(*decoder, randomPrompt(3, 12));
        int exit = 0;
        int drafted = 0;
        for (int round = 0; round < 40; ++round) {
            const DecodeStep step = stepOf(*decoder);
            for (const PlanChange& change : step.search.planChanges) {
                QVERIFY(change.plan.exitAfterLayer + 1 != exit);
                exit = change.plan.exitAfterLayer + 1;
            }
            QCOMPARE(step.planId == 0, step.isPlain());
            if (round == 0) {
                QCOMPARE(exit, 1);
                QCOMPARE(step.draft.size(), 1);
            }
            if (step.draftLayers == 0.0) {
                QVERIFY(step.isPlain());
                QCOMPARE(step.verifyLayers, static_cast<double>(kLayers));
                continue;
            }
            ++drafted;
            if (round > 0) {
                const StepTable& table = step.tables.front();
                QCOMPARE(cell(table, static_cast<std::size_t>(table.chosenRow), 0),
                         static_cast<double>(exit));
            }
            const double steps = (step.draftLayers - exit) / exit;
            QCOMPARE(step.draftLayers + step.verifyLayers, steps * exit + kLayers);
            QCOMPARE(step.verifyLayers, static_cast<double>(kLayers - exit));
            if (std::string(rule) == "ours")
                QCOMPARE(steps, static_cast<double>(step.draft.size()));
            else
                QVERIFY(steps >= step.draft.size());
        }
        QVERIFY(drafted > 5);
    }
}

void DelTest::whereNothingPaysStepsArePlainAndStillTeach() {
    WatchedTransformer watched(support::dense());
    const auto decoder = make("del", watched, support::kAllCompared);
    begin(*decoder, randomPrompt(3, 60));
    stepOf(*decoder);
    int plain = 0;
    for (int round = 0; round < 30; ++round) {
        const int before = watched.comparedRows;
        const DecodeStep step = stepOf(*decoder);
        if (!step.isPlain())
            continue;
        ++plain;
        QCOMPARE(watched.comparedRows - before, kLayers - 1);
        QCOMPARE(step.tables.front().chosenRow, -1);
        for (std::size_t row = 0; row < step.tables.front().rows.size(); ++row)
            QCOMPARE(cell(step.tables.front(), row, 3), 0.0); // best k
    }
    QVERIFY(plain > 5);
}

void DelTest::statisticsAreKeptOnRequestOnly() {
    for (const bool keeps : {false, true}) {
        SettingValues settings = support::kAllCompared;
        settings["keep_statistics"] = keeps ? 1.0 : 0.0;
        const auto decoder = make("del", support::quiet(), settings);
        begin(*decoder, randomPrompt(3, 30));
        for (int round = 0; round < 8; ++round)
            stepOf(*decoder);
        begin(*decoder, randomPrompt(4, 30));
        const DecodeStep step = stepOf(*decoder);
        QCOMPARE(step.tables.empty(), !keeps);
        if (!keeps)
            QCOMPARE(step.draftLayers, 2.0); // one token at the first layer
    }
}

/// The ablation DEL-γ: the threshold alone decides how long drafts are.
void DelTest::aFixedExitDraftsEveryRound() {
    for (const int exit : {1, 5}) {
        SettingValues settings = support::kAllCompared;
        settings["exit_layer"] = static_cast<double>(exit);
        // At the first layer of a network where DEL itself would rather not draft.
        WatchedTransformer watched(exit == 1 ? support::dense() : support::quiet());
        const auto decoder = make("del", watched, settings);
        begin(*decoder, randomPrompt(3, 40));
        std::set<int> lengths;
        for (int round = 0; round < 30; ++round) {
            const int before = watched.comparedRows;
            const DecodeStep step = stepOf(*decoder);
            lengths.insert(step.draft.size());
            QVERIFY(step.draft.size() > 0);
            QCOMPARE(step.verifyLayers, static_cast<double>(kLayers - exit));
            for (const PlanChange& change : step.search.planChanges)
                QCOMPARE(change.plan.exitAfterLayer + 1, exit);
            if (round == 0)
                continue;
            QCOMPARE(step.tables.front().rows.size(), std::size_t{1});
            QCOMPARE(cell(step.tables.front(), 0, 0), static_cast<double>(exit));
            QCOMPARE(watched.comparedRows - before, static_cast<int>(step.tokens.size()));
        }
        QVERIFY(exit == 1 || lengths.size() > 1);
    }
}

/// The ablation DEL-E: as many tokens as the exit was chosen for.
void DelTest::chosenLengthsAreThoseOfTheTable() {
    SettingValues settings = support::kAllCompared;
    settings["length"] = std::string("chosen");
    const auto decoder = make("del", support::quiet(), settings);
    begin(*decoder, randomPrompt(3, 40));
    int drafted = 0;
    for (int round = 0; round < 40; ++round) {
        const DecodeStep step = stepOf(*decoder);
        if (round == 0 || step.isPlain())
            continue;
        const StepTable& table = step.tables.front();
        QCOMPARE(static_cast<double>(step.draft.size()),
                 cell(table, static_cast<std::size_t>(table.chosenRow), 3));
        ++drafted;
    }
    QVERIFY(drafted > 10);
}

void DelTest::millisecondsAreToldWithTheChoice() {
    const auto quiet = support::quietModel(2, 0.001F);
    WatchedTransformer watched(*quiet);
    const auto decoder = make("del-ms", watched, {}, {}, watched.clock());
    begin(*decoder, randomPrompt(3, 20));
    int told = 0;
    for (int round = 0; round < 40; ++round) {
        const DecodeStep step = stepOf(*decoder);
        if (round == 0) {
            QVERIFY(step.choice.drafter.empty()); // it was chosen from nothing
            continue;
        }
        QCOMPARE(step.choice.drafter, std::string_view(step.isPlain() ? "none" : "exit"));
        QCOMPARE(step.choice.nodes, step.draft.size());
        if (step.isPlain())
            continue;
        QVERIFY(step.choice.expectedTokens > 1.0);
        QVERIFY(step.choice.expectedTokens / step.choice.expectedCost > 1.0);
        ++told;
    }
    QVERIFY(told > 20);
    const auto byLayers = make("del", *quiet);
    begin(*byLayers, randomPrompt(3, 20));
    for (int round = 0; round < 5; ++round)
        QVERIFY(stepOf(*byLayers).choice.drafter.empty()); // its table tells why
}

void DelTest::lawsAreComparedByWhatTheyShare() {
    const HeadSummary exit = summaryOf({{7, 0.6}, {3, 0.3}, {5, 0.1}});
    const HeadSummary full = summaryOf({{3, 0.5}, {9, 0.3}, {7, 0.2}});
    const Sampler greedy({});
    const Sampler warm({.temperature = 1.0});
    const Sampler cold({.temperature = 0.5});
    const Sampler sharp({.temperature = 1.0, .topK = 1});
    QCOMPARE(del::compare(exit, full, greedy, true).agreement, 0.0);
    QCOMPARE(del::compare(exit, exit, greedy, true).agreement, 1.0);
    QCOMPARE(del::compare(exit, full, warm, false).agreement, 0.0);
    const del::ShadowToken shared = del::compare(exit, full, warm, true);
    QVERIFY(std::abs(shared.agreement - (0.2 + 0.3)) < 1e-12);
    QCOMPARE(shared.token, 7);
    QVERIFY(std::abs(shared.confidence - 0.6) < 1e-12);
    const double shares = 0.04 / 0.38 + 0.09 / 0.46; // squares over their sums
    QVERIFY(std::abs(del::compare(exit, full, cold, true).agreement - shares) < 1e-12);
    QCOMPARE(del::compare(exit, full, sharp, true).agreement, 0.0);
    QCOMPARE(del::compare(full, full, sharp, true).agreement, 1.0);
}

void DelTest::cheapHeadsAreDraftedWithAndDearOnesAreNot() {
    const auto quiet = support::quietModel(2, 0.001F); // everything is known behind two layers
    const Prices cheap{.layerMs = 1.0, .headMs = 0.5, .rowPart = 0.05};
    const Prices dear{.layerMs = 1.0, .headMs = 40.0, .rowPart = 0.5};
    const Priced vanilla = answersOf("vanilla", *quiet, cheap);
    const Priced fast = answersOf("del-ms", *quiet, cheap);
    qInfo("cheap head: %.2f of vanilla's time, %d of %d rounds drafted",
          fast.ms / vanilla.ms,
          fast.draftedRounds,
          fast.rounds);
    QVERIFY(fast.tokens == vanilla.tokens);
    QVERIFY(fast.ms < 0.7 * vanilla.ms);
    QVERIFY(std::count(fast.exits.end() - 30, fast.exits.end(), 2) > 25);
    const Priced dearVanilla = answersOf("vanilla", *quiet, dear);
    const Priced slow = answersOf("del-ms", *quiet, dear);
    qInfo("dear head: %.2f of vanilla's time, %d of %d rounds drafted",
          slow.ms / dearVanilla.ms,
          slow.draftedRounds,
          slow.rounds);
    QVERIFY(slow.tokens == dearVanilla.tokens);
    QVERIFY(slow.ms < 1.12 * dearVanilla.ms);
    QVERIFY(slow.draftedRounds < 10);
    // By layers alone the same drafts look good, and are not.
    QVERIFY(answersOf("del", *quiet, dear).ms > 1.5 * dearVanilla.ms);
}

void DelTest::theSamePricesGiveTheSameRounds() {
    const Priced first = answersOf("del-ms", support::quiet(), {});
    const Priced second = answersOf("del-ms", support::quiet(), {});
    QCOMPARE(first.exits, second.exits);
    QCOMPARE(first.ms, second.ms);
}

void DelTest::badSettingsAreRefused_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<QString>("setting");
    const auto add = [](const char* decoder, const char* setting) {
        QTest::addRow("%s %s", decoder, setting) << decoder << setting;
    };
    add("del", "max_draft=0");
    add("del", "max_draft=65");
    add("del", "context_rows=129");
    add("del", "w=1.01");
    add("del", "every=0");
    add("del", "near=-1");
    add("del", "compare_every=0");
    add("del", "rule=book");
    add("del", "start=cold");
    add("del", "length=long");
    add("del", "verification=perhaps");
    add("del", "exit_layer=-1");
    add("del", "exit_layer=8"); // of eight layers
    add("del", "official_nan=maybe");
    add("del", "compare_share=0.1"); // the other one's
    add("del-ms", "compare_share=1.5");
    add("del-ms", "margin=-2");
    add("del-ms", "rule=code"); // the other one's
    add("del-ms", "exit_layer=2");
}

void DelTest::badSettingsAreRefused() {
    QFETCH(QString, decoder);
    QFETCH(QString, setting);
    const DecoderInfo info = registry().info(decoder.toStdString()).value();
    const auto parsed = parseSetting(info, setting.toStdString());
    if (!parsed) {
        QVERIFY(parsed.error().code == ErrorCode::InvalidInput);
        return;
    }
    const auto made = registry().make(
        decoder.toStdString(),
        {.transformer = support::quiet(), .contextLength = kContext, .settings = {parsed.value()}});
    QVERIFY(!made.hasValue());
    QVERIFY(made.error().code == ErrorCode::InvalidInput);
    const std::string name = parsed.value().first;
    QVERIFY(made.error().message.find(name) != std::string::npos);
}

void DelTest::aModelOfOneLayerIsRefused() {
    const auto single = support::layeredModel(1, 3);
    for (const char* decoder : {"del", "del-ms"}) {
        const auto made =
            registry().make(decoder, {.transformer = *single, .contextLength = kContext});
        QVERIFY(!made.hasValue());
        QVERIFY(made.error().code == ErrorCode::Unsupported);
        QVERIFY(!made.error().hint.empty());
    }
    const auto two = support::layeredModel(2, 3);
    const auto decoder = make("del", *two);
    begin(*decoder, {1, 2, 3});
    QVERIFY(!stepOf(*decoder).tokens.empty());
}

void DelTest::bothDecodersExplainThemselves() {
    for (const char* decoder : {"del", "del-ms"}) {
        const DecoderInfo info = registry().info(decoder).value();
        QVERIFY(info.explanation.size() > 300);
        for (const SettingInfo& setting : info.settings)
            QVERIFY2(!setting.meaning.empty(), setting.name.c_str());
    }
}

QTEST_GUILESS_MAIN(DelTest)
#include "del_test.moc"
