// SPDX-License-Identifier: Apache-2.0
// No speedup is shown where vanilla moved by more than 5 % within its blocks.
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using namespace test_support;

namespace {

/// [rows] the text in the last column.
std::vector<std::string> lastColumn(const ResultTable& table) {
    std::vector<std::string> texts;
    for (const auto& row : table.rows)
        texts.push_back(row.back().text);
    return texts;
}

/// A part that asks each prompt once; vanilla answers the first prompt of each block of four again,
/// `moves` tells how much slower. Every prompt has another speed.
SampleRun singlePass(const std::vector<double>& moves) {
    SampleRun run;
    const auto prompts = static_cast<int>(4 * moves.size());
    run.recipe.isStream = true;
    run.add({"math"}, prompts, {kSwift});
    std::vector<ShardAnswer>& answers = run.shards[0].answers;
    std::erase_if(answers, [](const ShardAnswer& answer) {
        return answer.pass == 1 && (answer.variant != "vanilla" || answer.prompt % 4 != 0);
    });
    for (ShardAnswer& answer : answers) {
        answer.decodeMs *= 1.0 + 0.5 * (answer.prompt % 3);
        if (answer.pass == 1)
            answer.decodeMs *= 1.0 + moves[static_cast<std::size_t>(answer.prompt / 4)];
    }
    return run;
}

} // namespace

class BaselineTest : public QObject {
    Q_OBJECT

private slots:

    void aBaselineThatMovedPrintsNoSpeedup_data() {
        QTest::addColumn<double>("moved");
        QTest::addColumn<bool>("isRefused");
        QTest::newRow("slower") << 1.08 << true;
        QTest::newRow("faster") << 0.92 << true;
        QTest::newRow("within the limit") << 1.04 << false;
    }

    void aBaselineThatMovedPrintsNoSpeedup() {
        QFETCH(double, moved);
        QFETCH(bool, isRefused);
        SampleRun run;
        run.secondPass = moved;
        run.add({"math"}, 4, {kSwift});
        run.recipe.tables = {tableOf("variant", {"M", "acceptance", "speedup"}, {"swift"})};
        run.recipe.figures = {figureOf("dots", "variant", {"speedup"})};
        const ExperimentResult result = run.result();
        QCOMPARE(result.verdict.kind == VerdictKind::Refused, isRefused);
        QCOMPARE(contains(result.verdict.headline, "No speedup is printed: vanilla moved by 8.0 %"),
                 isRefused);
        QCOMPARE(contains(result.verdict.cause, "Repeat on a quiet machine."), isRefused);
        const ResultTable& table = result.tables.at(0);
        QCOMPARE(table.rows[0].back().text.starts_with("– ("), isRefused);
        QCOMPARE(!table.rows[0].back().value, isRefused);
        QCOMPARE(contains(table.note, "Repeat on a quiet machine."), isRefused);
        QCOMPARE(table.rows[0][1].text, std::string("3.20"));
        QCOMPARE(result.figures.empty(), isRefused);
        const auto isNotDrawn = [](const std::string& note) {
            return contains(note, "\"Figure\" is not drawn.");
        };
        QCOMPARE(std::any_of(result.notes.begin(), result.notes.end(), isNotDrawn), isRefused);
    }

    void aTaskWhoseBaselineMovedHasNoSpeedupOfItsOwn() {
        SampleRun run;
        run.secondPassOn = {{"story", 1.2}};
        run.add({"math", "story", "code"}, 3, {kSwift});
        run.recipe.tables = {tableOf("task", {"speedup"}, {"swift"})};
        run.recipe.figures = {figureOf("bars", "task", {"speedup"})};
        const ExperimentResult result = run.result();
        QCOMPARE(lastColumn(result.tables.at(0)),
                 (std::vector<std::string>{"1.25× ± .00", "– (+20.0 %)", "1.25× ± .00"}));
        QVERIFY(contains(result.tables[0].note, "Fewer than 5 prompts have no 95 % interval"));
        const ResultFigure& figure = result.figures.at(0);
        QCOMPARE(figure.panels.at(0).series.at(0).points.size(), std::size_t{2});
        QVERIFY(contains(figure.note, "One speedup is left out"));
        QVERIFY(contains(result.notes.at(0), "On Story vanilla moved by +20.0 %"));
        QCOMPARE(result.verdict.kind, VerdictKind::Gain); // over all tasks it was steady
    }

    void aMatrixLeavesOutTheTasksWhoseBaselineMoved() {
        SampleRun run;
        run.secondPassOn = {{"story", 0.8}};
        SampleVariant first = kSwift;
        first.name = "set of math";
        first.setTask = "math";
        SampleVariant second = first;
        second.name = "set of story";
        second.setTask = "story";
        run.add({"math", "story", "code"}, 3, {first, second});
        FigureWish wish = figureOf("matrix", "set", {"speedup"});
        wish.series = "task";
        run.recipe.figures = {wish};
        run.recipe.verdict.kind = "diagonal";
        const ExperimentResult result = run.result();
        const auto& cells = result.figures.at(0).panels.at(0).cells;
        QVERIFY(cells[0][0].count > 0);
        QCOMPARE(cells[0][1].count, 0);
        QCOMPARE(result.figures[0].refusedPoints, 2);
        QVERIFY(contains(result.verdict.headline, "of 1 tasks"));
        QVERIFY2(contains(result.verdict.cause, "Left out, because vanilla moved there: Story."),
                 result.verdict.cause.c_str());
    }

    void promptsOfUnlikeSpeedAreNoDrift() {
        SampleRun run = singlePass({0.0, 0.01, -0.02});
        run.recipe.tables = {tableOf("prompt", {"speedup"}, {"swift"})};
        const ExperimentResult result = run.result();
        QVERIFY(result.notes.empty());
        for (const std::string& text : lastColumn(result.tables.at(0)))
            QVERIFY2(text.starts_with("1.2"), text.c_str());
    }

    void aPromptThatIsAskedOnceIsJudgedByItsBlock() {
        SampleRun run = singlePass({0.0, 0.3, 0.0});
        run.recipe.tables = {tableOf("prompt", {"speedup"}, {"swift"})};
        FigureWish line = figureOf("lines", "prompt", {"speedup"});
        line.series = "variant";
        run.recipe.figures = {line};
        const ExperimentResult result = run.result();
        const std::vector<std::string> cells = lastColumn(result.tables.at(0));
        for (std::size_t prompt = 0; prompt < cells.size(); ++prompt)
            QCOMPARE(cells[prompt] == "– (+30.0 %)", prompt >= 4 && prompt < 8);
        const auto& points = result.figures.at(0).panels.at(0).series.at(0).points;
        QCOMPARE(points.size(), std::size_t{8});
        for (std::size_t i = 0; i < points.size(); ++i) // the line breaks where they are missing
            QCOMPARE(points[i].isBehindGap, i == 4);
        QCOMPARE(result.figures[0].refusedPoints, 4);
        QCOMPARE(result.verdict.kind, VerdictKind::Gain);
    }

    /// After two of three blocks the median is that of the worse one.
    void theSpeedSoFarWaitsUntilItsBaselineIsSteady() {
        SampleRun run = singlePass({0.2, 0.0, 0.0});
        run.recipe.tables = {tableOf("prompt", {"cumulative_speedup"}, {"swift"})};
        FigureWish line = figureOf("lines", "prompt", {"cumulative_speedup"});
        line.series = "variant";
        run.recipe.figures = {line};
        const ExperimentResult result = run.result();
        const std::vector<std::string> cells = lastColumn(result.tables.at(0));
        const auto refused = std::count_if(
            cells.begin(), cells.end(), [](const auto& text) { return text.starts_with("– ("); });
        QCOMPARE(refused, std::ptrdiff_t{8}); // until most of the prompts are of steady blocks
        QCOMPARE(result.figures.at(0).panels.at(0).series.at(0).points.size(), std::size_t{4});
    }

    void aPlanCountsTheAnswersAtTheEndsOfItsBlocks() {
        SampleRun run;
        run.recipe.stages[0].isTwice = false;
        PlannedShard shard;
        shard.stage = "main";
        shard.variants = {"vanilla", "swift"};
        shard.prompts = {0, 1, 2, 3, 4, 5};
        QCOMPARE(answersOf(run.recipe, run.plan, shard), 2L * 6L + 2L);
        QCOMPARE(answersTo(run.recipe, run.plan, shard, 4), 3L);
        shard.variants = {"swift"}; // nothing to compare with
        QCOMPARE(answersOf(run.recipe, run.plan, shard), 6L);
    }
};

QTEST_APPLESS_MAIN(BaselineTest)
#include "baseline_test.moc"
