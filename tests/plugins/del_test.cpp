// SPDX-License-Identifier: Apache-2.0
// What DEL learns from and does with it: which rows it compares, that its statistics are those of
// fresh passes, what a round loads, and by milliseconds at made-up prices what it drafts.
#include "engine/decoding/exit_drafter.h"
#include "plugins/del/head_reader.h"
#include "tests/support/forward_helpers.h"
#include "tests/support/tiny_decoders.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace engine;
using support::registry;

namespace {

using Ids = std::vector<TokenId>;

constexpr int kLayers = 8;
constexpr int kContext = 400;

/// Layers from `firstQuiet` on add little, so that exits behind them are often right.
std::unique_ptr<Transformer> quietModel(int firstQuiet, float part) {
    ModelConfig config = support::tinyConfig();
    config.layerCount = kLayers;
    config.layerWindows.assign(kLayers, 0);
    support::MemoryWeights weights = support::randomWeights(config, 21);
    for (int layer = firstQuiet; layer < kLayers; ++layer)
        for (const char* name : {"self_attn.o_proj", "mlp.down_proj"})
            for (float& weight :
                 weights.values(fmt::format("model.layers.{}.{}.weight", layer, name)))
                weight *= part;
    return std::move(makePlainTransformer(config, weights, {.precision = Precision::F64})).value();
}

/// Exits from the second on are right now and then, later ones more often.
Transformer& model() {
    static const auto made = quietModel(1, 0.15F);
    return *made;
}

/// Exits are hardly ever right.
Transformer& dense() {
    static const auto made = support::layeredModel(kLayers, 4);
    return *made;
}

/// What passes cost: layers and head in milliseconds for one row, a row more a part of that.
struct Prices {
    double layerMs = 1.0;
    double headMs = 0.5;
    double rowPart = 0.05;
};

/// Writes down the passes of another transformer and moves a clock by their prices.
class WatchedTransformer final : public Transformer {
public:
    explicit WatchedTransformer(Transformer& inner, Prices prices = {})
        : m_inner(inner)
        , m_prices(prices) {}

    StepClock clock() const {
        return [this] { return nowMs; };
    }

    const ModelConfig& config() const override { return m_inner.config(); }

    Precision precision() const override { return m_inner.precision(); }

    Result<KvCache> makeCache(Position capacity) const override {
        return m_inner.makeCache(capacity);
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
        return m_inner.forwardInto(request, cache, result);
    }

    std::size_t weightBytes() const override { return m_inner.weightBytes(); }

    double nowMs = 0.0;
    int comparedRows = 0;   ///< of passes that were only the head
    int mostRowsAtOnce = 0; ///< of one of those
    int logitRows = 0;      ///< of those

private:
    double factor(int rows) const { return 1.0 + m_prices.rowPart * (rows - 1); }

    Transformer& m_inner;
    Prices m_prices;
};

Ids randomPrompt(unsigned seed, int length) {
    std::mt19937 random(seed);
    Ids ids;
    while (static_cast<int>(ids.size()) < length)
        ids.push_back(static_cast<TokenId>(random() % 160));
    return ids;
}

std::unique_ptr<Decoder> make(const std::string& name,
                              Transformer& transformer,
                              const SettingValues& settings = {},
                              const SamplingOptions& sampling = {},
                              StepClock clock = {}) {
    auto made = registry().make(name,
                                {.transformer = transformer,
                                 .sampling = sampling,
                                 .contextLength = kContext,
                                 .settings = settings,
                                 .clock = std::move(clock)});
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return std::move(made).value();
}

DecodeStep stepOf(Decoder& decoder) {
    auto step = decoder.step();
    ENGINE_CHECK(step.hasValue(), "{}", step.error().message);
    return std::move(step).value();
}

void begin(Decoder& decoder, const Ids& prompt, int maxTokens = 1000) {
    ENGINE_CHECK(decoder.begin({.tokens = prompt, .maxTokens = maxTokens}, {}).hasValue(), "begin");
}

/// All exits in every round.
const SettingValues kAll = {{"every", 1.0}, {"compare_every", 1.0}};

/// What each layer, as an exit, says behind every row of these tokens, from one fresh pass.
std::vector<HeadSummary> freshSummaries(Transformer& network, const Ids& tokens, int exit) {
    KvCache cache = support::emptyCache(network, kContext);
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    auto pass =
        network.forward({.plan = exitPlan(kLayers, exit),
                         .layout = AttentionLayout::chain(0, static_cast<int>(tokens.size())),
                         .tokens = tokens,
                         .summaryRows = rows},
                        cache);
    return std::move(pass).value().summaries;
}

double cell(const StepTable& table, std::size_t row, std::size_t column) {
    return std::get<double>(table.rows[row][column]);
}

/// One exit's rounds, summed up the slow way.
struct SlowStatistics {
    struct Round {
        double matches = 0.0;
        double counted = 0.0;
        double matchConfidence = 0.0;
        double mismatchConfidence = 0.0;
    };

    std::vector<Round> rounds;

    double sum(double Round::*number) const {
        double all = 0.0;
        for (std::size_t i = 0; i < rounds.size(); ++i)
            all += std::pow(0.95, static_cast<double>(rounds.size() - 1 - i)) * rounds[i].*number;
        return all;
    }

    double alpha() const {
        const double matches = sum(&Round::matches);
        const double counted = sum(&Round::counted);
        return counted > 0.0 ? matches / counted : (matches > 0.0 ? 1.0 : 0.0);
    }

    double threshold() const {
        const double matches = sum(&Round::matches);
        const double mismatches = sum(&Round::counted) - matches;
        if (matches <= 0.0)
            return 1.0;
        const double low = mismatches > 1e-12 ? sum(&Round::mismatchConfidence) / mismatches : 0.0;
        return std::min((sum(&Round::matchConfidence) / matches + low) / 2.0, 0.99);
    }
};

/// The rounds of all exits, from fresh passes over prompt, answer and draft.
class SlowReference {
public:
    explicit SlowReference(Transformer& network)
        : m_network(network) {}

    /// Rows [first, first + count) of these tokens are compared.
    void addRound(const Ids& tokens, std::size_t first, std::size_t count, double counted) {
        const auto full = freshSummaries(m_network, tokens, kLayers);
        for (int exit = 1; exit < kLayers; ++exit) {
            const auto found = freshSummaries(m_network, tokens, exit);
            SlowStatistics::Round round;
            round.counted = counted;
            for (std::size_t row = first; row < first + count; ++row) {
                const double confidence = found[row].probability(0);
                if (found[row].best() == full[row].best()) {
                    round.matches += 1.0;
                    round.matchConfidence += confidence;
                } else {
                    round.mismatchConfidence += confidence;
                }
            }
            m_exits[exit].rounds.push_back(round);
        }
    }

    const SlowStatistics& exit(int exit) { return m_exits[exit]; }

private:
    Transformer& m_network;
    std::map<int, SlowStatistics> m_exits;
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
    void statisticsAreThoseOfFreshPasses_data();
    void statisticsAreThoseOfFreshPasses();
    void aRoundLoadsItsExitAndTheRest();
    void whereNothingPaysStepsArePlainAndStillTeach();
    void statisticsAreKeptOnRequestOnly();
    void lawsAreComparedByWhatTheyShare();
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
    WatchedTransformer watched(model());
    SettingValues settings = kAll;
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

void DelTest::statisticsAreThoseOfFreshPasses_data() {
    QTest::addColumn<QString>("rule");
    QTest::addColumn<bool>("isDense");
    for (const char* rule : {"ours", "paper", "code"})
        for (const bool isDense : {false, true})
            QTest::addRow("%s, %s", rule, isDense ? "dense" : "quiet") << rule << isDense;
}

void DelTest::statisticsAreThoseOfFreshPasses() {
    QFETCH(QString, rule);
    QFETCH(bool, isDense);
    Transformer& network = isDense ? dense() : model();
    SettingValues settings = kAll;
    settings["rule"] = rule.toStdString();
    int drafted = 0;
    int uncut = 0;
    for (const int length : {1, 9, 40}) {
        Ids all = randomPrompt(static_cast<unsigned>(length), length);
        const auto decoder = make("del", network, settings);
        begin(*decoder, all);
        SlowReference reference(network);
        for (int round = 0; round < 14; ++round) {
            const DecodeStep step = stepOf(*decoder);
            drafted += step.draft.size();
            bool isCut = true;
            if (round > 0) {
                QCOMPARE(step.tables.size(), std::size_t{1});
                const StepTable& table = step.tables.front();
                QCOMPARE(table.rows.size(), std::size_t{kLayers - 1});
                for (std::size_t row = 0; row < table.rows.size(); ++row) {
                    const int exit = static_cast<int>(cell(table, row, 0));
                    QVERIFY(std::abs(cell(table, row, 1) - reference.exit(exit).alpha()) < 1e-9);
                    if (rule != "paper") // whose mismatches need not be positive
                        QVERIFY(std::abs(cell(table, row, 2) - reference.exit(exit).threshold()) <
                                1e-9);
                }
                const auto chosen = static_cast<std::size_t>(std::max(table.chosenRow, 0));
                isCut = rule != "code" || cell(table, chosen, 3) > 0.0;
            }
            const std::size_t context = round == 0 ? std::min<std::size_t>(all.size() - 1, 32) : 0;
            const std::size_t own =
                isCut ? step.tokens.size() : static_cast<std::size_t>(step.draft.size()) + 1;
            uncut += isCut ? 0 : 1;
            Ids tokens = all;
            for (const DraftNode& node : step.draft.nodes())
                tokens.push_back(node.token);
            const bool isPrinted = rule == "paper" && context == 0;
            reference.addRound(tokens,
                               all.size() - 1 - context,
                               context + own,
                               static_cast<double>(context + own) - (isPrinted ? 1.0 : 0.0));
            all.insert(all.end(), step.tokens.begin(), step.tokens.end());
        }
    }
    QVERIFY(isDense || drafted > 20);
    QVERIFY(rule != "code" || !isDense || uncut > 5);
}

void DelTest::aRoundLoadsItsExitAndTheRest() {
    for (const char* rule : {"ours", "paper"}) {
        SettingValues settings = kAll;
        settings["rule"] = std::string(rule);
        const auto decoder = make("del", model(), settings);
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
    WatchedTransformer watched(dense());
    const auto decoder = make("del", watched, kAll);
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
        SettingValues settings = kAll;
        settings["keep_statistics"] = keeps ? 1.0 : 0.0;
        const auto decoder = make("del", model(), settings);
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
    const auto quiet = quietModel(2, 0.001F); // everything is known behind two layers
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
    const Priced first = answersOf("del-ms", model(), {});
    const Priced second = answersOf("del-ms", model(), {});
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
    add("del", "official_nan=maybe");
    add("del", "compare_share=0.1"); // the other one's
    add("del-ms", "compare_share=1.5");
    add("del-ms", "margin=-2");
    add("del-ms", "rule=code"); // the other one's
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
        {.transformer = model(), .contextLength = kContext, .settings = {parsed.value()}});
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
