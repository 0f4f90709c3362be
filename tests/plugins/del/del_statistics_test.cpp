// SPDX-License-Identifier: Apache-2.0
// DEL's statistics, as its table of exits tells them, are those of fresh passes over prompt, answer
// and draft, summed up the slow way.
#include "engine/decoding/drafts/exit_drafter.h"
#include "tests/plugins/del/del_support.h"
#include "tests/support/transformers/forward_helpers.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace engine;
using support::begin;
using support::cell;
using support::Ids;
using support::kContext;
using support::kLayers;
using support::make;
using support::randomPrompt;
using support::stepOf;

namespace {

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

} // namespace

class DelStatisticsTest : public QObject {
    Q_OBJECT

private slots:
    void statisticsAreThoseOfFreshPasses_data();
    void statisticsAreThoseOfFreshPasses();
};

void DelStatisticsTest::statisticsAreThoseOfFreshPasses_data() {
    QTest::addColumn<QString>("rule");
    QTest::addColumn<bool>("isDense");
    for (const char* rule : {"ours", "paper", "code"})
        for (const bool isDense : {false, true})
            QTest::addRow("%s, %s", rule, isDense ? "dense" : "quiet") << rule << isDense;
}

void DelStatisticsTest::statisticsAreThoseOfFreshPasses() {
    QFETCH(QString, rule);
    QFETCH(bool, isDense);
    Transformer& network = isDense ? support::dense() : support::quiet();
    SettingValues settings = support::kAllCompared;
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

QTEST_GUILESS_MAIN(DelStatisticsTest)
#include "del_statistics_test.moc"
