// SPDX-License-Identifier: Apache-2.0
// What a number of a report is measured on: prompts, seeds and searches.
#include "engine/metrics/sample_statistics.h"
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

#include <algorithm>
#include <array>

using namespace engine;
using namespace test_support;

namespace {

/// The first shard once more, under another seed.
void addSeed(SampleRun& run, std::uint64_t seed) {
    PlannedShard planned = run.plan.shards[0];
    ShardResult shard = run.shards[0];
    planned.index = shard.shard = static_cast<int>(run.plan.shards.size());
    planned.seed = seed;
    for (ShardAnswer& answer : shard.answers)
        answer.seed = seed;
    run.plan.shards.push_back(planned);
    run.shards.push_back(shard);
}

ShardRound roundOf(std::vector<std::string> tokens) {
    ShardRound round;
    round.variant = "swift";
    round.tokens = std::move(tokens);
    round.ranks = std::vector<int>(round.tokens.size(), 1);
    return round;
}

/// The texts of the only row, behind the name of the variant.
std::vector<std::string> rowOf(const SampleRun& run) {
    std::vector<std::string> texts;
    const ExperimentResult result = run.result();
    for (const ResultCell& cell : result.tables.at(0).rows.at(0))
        texts.push_back(cell.text);
    texts.erase(texts.begin());
    return texts;
}

} // namespace

class ReportCountsTest : public QObject {
    Q_OBJECT

private slots:

    void whereAnAnswerDiffersIsNamed() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.isEqual) {
                answer.isEqual = false;
                answer.differsAt = 16;
                answer.gap = 0.25;
            }
        const auto notes = run.result().notes;
        const std::string wanted = "SWIFT differs from vanilla at token 17 of its answer to prompt "
                                   "1 (Math), where vanilla's two best logits are 0.25 apart.";
        QVERIFY(std::find(notes.begin(), notes.end(), wanted) != notes.end());
    }

    void theTextsOfSeveralSeedsStayApart() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        run.shards[0].rounds = {roundOf({"a", "b"})};
        addSeed(run, 2);
        run.shards[1].rounds = {roundOf({"c"})};
        const auto origins = run.result().origins;
        QCOMPARE(origins.size(), std::size_t{2});
        QCOMPARE(origins[0].title, std::string("SWIFT, prompt 1, seed 0"));
        QCOMPARE(origins[0].tokens.size(), std::size_t{2});
        QCOMPARE(origins[1].title, std::string("SWIFT, prompt 1, seed 2"));
        QCOMPARE(origins[1].tokens.size(), std::size_t{1});
        QCOMPARE(origins[1].tokens[0].text, std::string("c"));
    }

    /// Such as an end, or the first bytes of a character.
    void aTokenThatCompletesNoTextIsNoPartOfOne() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        run.shards[0].rounds = {roundOf({"a", "", "\xE2\x82\xAC", ""})};
        run.shards[0].rounds[0].ranks = {1, 1, 0, 0};
        const auto origins = run.result().origins;
        QCOMPARE(origins.at(0).tokens.size(), std::size_t{2});
        QCOMPARE(origins[0].tokens[1].text, std::string("\xE2\x82\xAC"));
        QCOMPARE(origins[0].tokens[1].rank, 0);
    }

    void aSearchUnderSeveralSeedsIsOne() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.variant == "swift")
                answer.decoding.searchMs = 1500.0;
        for (const double at : {2.0, 4.0})
            run.shards[0].trials.push_back(
                {.variant = "swift", .task = "math", .kind = "random", .at = at});
        run.recipe.tables = {
            tableOf("variant", {"trials", "random_trials", "search_seconds"}, {"swift"})};
        const std::vector<std::string> once = {"2", "2", "1.5"};
        QCOMPARE(rowOf(run), once);
        addSeed(run, 2);
        QCOMPARE(rowOf(run), once);
        run.shards[1].trials.clear(); // the mean of both
        for (ShardAnswer& answer : run.shards[1].answers)
            answer.decoding.searchMs = 500.0;
        QCOMPARE(rowOf(run), (std::vector<std::string>{"1", "1", "1.0"}));
    }

    /// Its seconds are those of its last trial.
    void aSearchBesideNoAnswerIsOneUnderSeveralSeeds() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        run.shards[0].answers.clear();
        run.shards[0].trials.push_back(
            {.variant = "swift", .task = "math", .kind = "bayesian", .at = 4.0});
        addSeed(run, 2);
        run.recipe.tables = {tableOf("variant", {"bayesian_trials", "search_seconds"}, {"swift"})};
        QCOMPARE(rowOf(run), (std::vector<std::string>{"1", "4.0"}));
    }

    /// Of each prompt 20, 25 or 30 of 40 drafted tokens are kept, twice.
    void everySetOnEveryTaskHasAnAcceptanceWithItsInterval() {
        SampleRun run;
        SampleVariant first = kSwift;
        first.name = "set of translation";
        first.setTask = "translation";
        SampleVariant second = first;
        second.name = "set of story";
        second.setTask = "story";
        run.add({"translation", "story"}, 3, {first, second});
        for (ShardResult& shard : run.shards)
            for (ShardAnswer& answer : shard.answers)
                if (answer.variant != "vanilla") {
                    answer.decoding.draftSteps = 40;
                    answer.decoding.accepted = 20 + 5 * (answer.prompt % 3);
                }
        FigureWish wish = figureOf("matrix", "set", {"acceptance"});
        wish.series = "task";
        run.recipe.figures = {wish};
        const ExperimentResult result = run.result();
        const RatioEstimate expected =
            ratioOfSums(std::array{40.0, 50.0, 60.0}, std::array{80.0, 80.0, 80.0});
        QVERIFY(expected.low < expected.high);
        for (const auto& row : result.figures.at(0).panels.at(0).cells)
            for (const Estimate& cell : row) {
                QCOMPARE(cell.value, 0.625);
                QCOMPARE(cell.count, 3);
                QVERIFY(cell.low && cell.high);
                QCOMPARE(*cell.low, expected.low);
                QCOMPARE(*cell.high, expected.high);
            }
    }

    void aSinglePromptHasAnAcceptanceWithoutInterval() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        run.recipe.tables = {tableOf("variant", {"acceptance"}, {"swift"})};
        QCOMPARE(rowOf(run), std::vector<std::string>{".90"});
    }

    void aTableSaysOverHowManyPromptsItsIntervalsAre() {
        SampleRun run;
        run.add({"math", "story"}, 3, {kSwift});
        run.recipe.tables = {tableOf("task", {"speedup"}, {"swift"})};
        QVERIFY(contains(run.result().tables.at(0).note, "over prompts, n = 3."));
        run.recipe.tables = {tableOf("variant_task", {"speedup"})};
        QVERIFY(contains(run.result().tables.at(0).note, "over prompts, n = 3 to 6."));
        run.recipe.tables = {tableOf("variant", {"M"})};
        QVERIFY(run.result().tables.at(0).note.empty());
        run.recipe.tables = {tableOf("variant", {"speedup"})};
        QCOMPARE(run.result().tables.at(0).note,
                 std::string("± is half of the 95 % interval over prompts, n = 6."));
    }

    /// Two passes and two seeds make no other prompts of them.
    void theSumsOfAnswersAreOfPrompts() {
        SampleRun run;
        run.add({"math"}, 3, {kSwift});
        addSeed(run, 2);
        run.recipe.tables = {tableOf("variant", {"M", "tokens_per_second"}, {"swift"})};
        const ResultTable table = run.result().tables.at(0);
        for (const std::size_t column : {std::size_t{1}, std::size_t{2}}) {
            QVERIFY(table.rows[0][column].value);
            QCOMPARE(table.rows[0][column].value->count, 3);
        }
    }
};

QTEST_APPLESS_MAIN(ReportCountsTest)
#include "report_counts_test.moc"
