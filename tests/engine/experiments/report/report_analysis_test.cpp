// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/result_json.h"
#include "engine/metrics/equation_six.h"
#include "engine/metrics/sample_statistics.h"
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

#include <algorithm>
#include <map>

using namespace engine;
using namespace test_support;

namespace {

const SampleVariant kSlow = {"swift", 0.8, 2.0, 0.8, 0.95, 1.25};

/// The cell in the row whose first cells are `head`, in the column of this name.
ResultCell
cellOf(const ResultTable& table, const std::vector<std::string>& head, const std::string& column) {
    const auto index = std::find(table.columns.begin(), table.columns.end(), column);
    for (const auto& row : table.rows) {
        bool isRow = index != table.columns.end();
        for (std::size_t i = 0; i < head.size(); ++i)
            isRow = isRow && row[i].text == head[i];
        if (isRow)
            return row[static_cast<std::size_t>(index - table.columns.begin())];
    }
    return {"missing"};
}

RecipeOverlay paperWith(std::vector<OverlayValue> values) { return {"paper", std::move(values)}; }

} // namespace

class ReportAnalysisTest : public QObject {
    Q_OBJECT

private slots:

    /// An answer has 64 tokens in 20 rounds: 44 accepted of 49 draft passes at .5 of 8 ms each.
    void theFiguresOfAVariantAreThoseOfItsSums() {
        SampleRun run;
        run.add({"math", "story"}, 3, {kSwift});
        run.recipe.tables = {tableOf("variant",
                                     {"M",
                                      "acceptance",
                                      "c_measured",
                                      "verify_cost",
                                      "draft_length",
                                      "expected_by_ratio",
                                      "expected_by_cost",
                                      "expected_by_parts",
                                      "speedup",
                                      "tokens_per_second",
                                      "equal"})};
        const ResultTable table = run.result().tables.at(0);
        const auto text = [&](const std::string& column) {
            return cellOf(table, {"SWIFT"}, column).text;
        };
        QCOMPARE(text("M"), std::string("3.20"));
        QCOMPARE(text("α"), std::string(".90 ± .00")); // 44 / 49
        QCOMPARE(text("c"), std::string(".50"));
        QCOMPARE(text("v"), std::string("1.25"));
        QCOMPARE(text("Draft"), std::string("2.45")); // 49 / 20
        const double alpha = 44.0 / 49.0;
        const auto six = [&](double c) { return 3.2 * alpha / (2.2 * c + alpha); };
        QCOMPARE(text("Eq. 6, c = 1 − r"), fmt::format("{:.2f}×", six(0.9)));
        QCOMPARE(text("Eq. 6, c"), fmt::format("{:.2f}×", six(0.5)));
        QCOMPARE(text("with v"), fmt::format("{:.2f}×", 3.2 / (2.2 * 0.5 / alpha + 1.25)));
        QCOMPARE(text("Measured"), std::string("1.25× ± .00"));
        QCOMPARE(text("tok/s"), std::string("156.2")); // 125 tok/s x 1.25
        QCOMPARE(text("Same text"), std::string("12/12"));
        QCOMPARE(cellOf(table, {"Vanilla"}, "Measured").text, std::string("1.00×"));
        QCOMPARE(cellOf(table, {"Vanilla"}, "M").text, std::string("1.00"));
        QCOMPARE(cellOf(table, {"Vanilla"}, "α").text, std::string("–"));
    }

    /// Drafts that are looked up have draft steps, but no layer runs for them.
    void draftsWithoutPassesHaveNeitherCNorR() {
        SampleRun run;
        SampleVariant variant = kSwift;
        variant.name = "lookup";
        variant.draftCost = 0.0;
        run.add({"math"}, 2, {variant});
        for (ShardAnswer& answer : run.shards[0].answers) {
            answer.decoding.draftLayers = 0.0;
            if (answer.variant == "vanilla") { // its steps are its own plain ones
                answer.decoding.plainRounds = SampleRun::kTokens;
                answer.decoding.plainMs = answer.decodeMs;
            } else {
                answer.draftRatio = 1.07;
            }
        }
        run.recipe.tables = {tableOf("variant",
                                     {"M",
                                      "c_measured",
                                      "c_by_ratio",
                                      "expected_by_cost",
                                      "expected_by_ratio",
                                      "expected_by_parts"})};
        run.recipe.verdict.variant = "lookup";
        const ExperimentResult result = run.result();
        const auto text = [&](const std::string& column) {
            return cellOf(result.tables.at(0), {"Look-up"}, column).text;
        };
        for (const char* column : {"c", "1 − r", "Eq. 6, c", "Eq. 6, c = 1 − r"})
            QCOMPARE(text(column), std::string("–"));
        QCOMPARE(text("with v"), std::string("2.56×")); // 3.2 / 1.25
        QVERIFY(contains(result.verdict.cause, "Its drafts cost no pass"));
        QCOMPARE(cellOf(result.tables.at(0), {"Vanilla"}, "M").text, std::string("1.00"));
    }

    /// The speeds of the prompts are 1, 1.2, 1.4, 1.6 and 5: the median is not moved by the last.
    void theSpeedupIsTheMedianOverPromptsWithItsInterval() {
        SampleRun run;
        const std::vector<double> speeds = {1.0, 1.2, 1.4, 1.6, 5.0};
        run.speedOf = [&](const SampleVariant&, const std::string&, int prompt) {
            return speeds[static_cast<std::size_t>(prompt)];
        };
        run.add({"math"}, 5, {kSwift});
        run.recipe.tables = {tableOf("variant", {"speedup"})};
        const auto value = cellOf(run.result().tables.at(0), {"SWIFT"}, "Measured").value;
        QVERIFY(value.has_value());
        std::vector<double> vanilla(5, SampleRun::kPlainMs);
        std::vector<double> own;
        for (const double speed : speeds)
            own.push_back(SampleRun::kPlainMs / speed);
        const RatioEstimate expected = medianRatio(vanilla, own);
        QVERIFY(std::abs(value->value - 1.4) < 1e-9);
        QVERIFY(std::abs(*value->low - expected.low) < 1e-9);
        QVERIFY(std::abs(*value->high - expected.high) < 1e-9);
        QCOMPARE(value->count, 5);
    }

    void theSeedsOfAPromptAreOnePrompt() {
        SampleRun run;
        run.speedOf = [](const SampleVariant&, const std::string&, int prompt) {
            return 1.0 + 0.2 * prompt;
        };
        run.add({"math"}, 5, {kSwift});
        run.recipe.tables = {tableOf("variant", {"speedup", "prompts"})};
        const ResultTable once = run.result().tables.at(0);
        PlannedShard planned = run.plan.shards[0];
        ShardResult shard = run.shards[0];
        planned.index = shard.shard = 1;
        planned.seed = 2;
        for (ShardAnswer& answer : shard.answers)
            answer.seed = 2;
        run.plan.shards.push_back(planned);
        run.shards.push_back(shard);
        const ResultTable twice = run.result().tables.at(0);
        const auto one = cellOf(once, {"SWIFT"}, "Measured").value;
        const auto two = cellOf(twice, {"SWIFT"}, "Measured").value;
        QVERIFY(one && two);
        QCOMPARE(two->count, 5);
        QVERIFY(std::abs(two->value - one->value) < 1e-9);
        QVERIFY(std::abs(*two->low - *one->low) < 1e-9);
        QVERIFY(std::abs(*two->high - *one->high) < 1e-9);
        QCOMPARE(cellOf(twice, {"SWIFT"}, "Prompts").text, std::string("5"));
    }

    void aSecondPassIsNoSecondSearch() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.variant == "swift")
                answer.decoding.searchMs = 1500.0;
        for (const int pass : {0, 0, 1, 1})
            run.shards[0].trials.push_back(
                {.variant = "swift", .task = "math", .pass = pass, .kind = "random"});
        run.recipe.tables = {tableOf("variant", {"trials", "search_seconds"})};
        const ResultTable table = run.result().tables.at(0);
        QCOMPARE(cellOf(table, {"SWIFT"}, "Trials").text, std::string("2"));
        QCOMPARE(cellOf(table, {"SWIFT"}, "Search, s").text, std::string("1.5"));
    }

    void stagesThatSampleOtherwiseAreToldOneByOne() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        const auto sampling = [&run] {
            const ExperimentResult result = run.result();
            const std::map<std::string, std::string> facts(result.measured.begin(),
                                                           result.measured.end());
            return facts.at("Sampling");
        };
        RecipeStage sampled = run.recipe.stages[0];
        sampled.name = "sampled";
        run.recipe.stages.push_back(sampled);
        QCOMPARE(sampling(), std::string("greedy"));
        run.recipe.stages[0].sampling = {.temperature = 0.8, .topP = 0.95, .topK = 40};
        QCOMPARE(sampling(),
                 std::string("Main: temperature 0.8, top-p 0.95, top-k 40; Sampled: greedy"));
    }

    void theOrderOfTheShardsDoesNotMatter() {
        SampleRun run;
        run.add({"math", "story", "code"}, 2, {kSwift, kSlow});
        run.plan.variants[1].name = "slow";
        run.recipe.tables = {tableOf("variant_task", {"speedup", "M"})};
        run.recipe.figures = {figureOf("lines", "prompt", {"speedup"})};
        const std::string ordered = resultJson(run.result());
        std::swap(run.shards[0], run.shards[2]);
        QCOMPARE(resultJson(run.result()), ordered);
    }

    void unequalAnswersAreCountedAndNearTiesApart() {
        SampleRun run;
        run.add({"math"}, 2, {kSwift});
        run.recipe.verdict.kind = "equal";
        run.recipe.tables = {tableOf("variant", {"equal", "near_ties"})};
        ShardAnswer& answer = run.shards[0].answers[1];
        QCOMPARE(answer.variant, std::string("swift"));
        answer.isEqual = false;
        ExperimentResult result = run.result();
        QCOMPARE(result.verdict.kind, VerdictKind::NoGain);
        QVERIFY(contains(result.verdict.headline, "1 of 4 answers differ from vanilla's"));
        answer.isNearTie = true;
        result = run.result();
        QCOMPARE(result.verdict.kind, VerdictKind::Finding);
        QCOMPARE(cellOf(result.tables.at(0), {"SWIFT"}, "Same text").text, std::string("3/4"));
        QCOMPARE(cellOf(result.tables.at(0), {"SWIFT"}, "Near ties").text, std::string("1"));
    }

    void missingShardsAndShardsOfAnotherRunAreTold() {
        SampleRun run;
        run.add({"math", "story"}, 2, {kSwift});
        run.recipe.tables = {tableOf("variant", {"prompts"})};
        run.shards[1].runHash = "another run";
        const ExperimentResult result = run.result();
        QVERIFY(!result.isComplete);
        QVERIFY(contains(result.notes.at(0), "1 of 2 parts are not finished"));
        QCOMPARE(cellOf(result.tables.at(0), {"SWIFT"}, "Prompts").text, std::string("2"));
        QCOMPARE(analyse(run.recipe, run.plan, {}).verdict.headline,
                 std::string("Nothing has been measured yet."));
    }

    /// Translation is fastest with its own set, story with that of translation.
    void everySetOnEveryTaskIsAMatrixWithItsOwnOnTheDiagonal() {
        SampleRun run;
        SampleVariant first = kSwift;
        first.name = "set of translation";
        first.setTask = "translation";
        SampleVariant second = first;
        second.name = "set of story";
        second.setTask = "story";
        run.speedOf = [](const SampleVariant& variant, const std::string& task, int) {
            return task == "translation" ? (variant.setTask == task ? 1.5 : 1.2)
                                         : (variant.setTask == task ? 1.1 : 1.3);
        };
        run.add({"translation", "story"}, 3, {first, second});
        FigureWish wish = figureOf("matrix", "set", {"speedup"});
        wish.series = "task";
        run.recipe.figures = {wish};
        run.recipe.verdict.kind = "diagonal";
        const ExperimentResult result = run.result();
        const ResultFigure& figure = result.figures.at(0);
        QCOMPARE(figure.y.names, (std::vector<std::string>{"Translation", "Story"}));
        QCOMPARE(figure.x.names, figure.y.names);
        const auto& cells = figure.panels.at(0).cells;
        QVERIFY(std::abs(cells[0][0].value - 1.5) < 1e-9);
        QVERIFY(std::abs(cells[1][0].value - 1.2) < 1e-9);
        QVERIFY(std::abs(cells[0][1].value - 1.3) < 1e-9);
        QCOMPARE(result.verdict.kind, VerdictKind::NoGain);
        QVERIFY2(contains(result.verdict.headline, "fastest one for 1 of 2 tasks: 1.30×"),
                 result.verdict.headline.c_str());
        QVERIFY(contains(result.verdict.cause, "Story runs faster with the set of Translation"));
    }

    /// Two of four skipped sublayers are in both sets: 2 / (3 + 3 - 2).
    void setsAreComparedByJaccardAndDrawnByLayers() {
        SampleRun run;
        run.add({"math", "story"}, 1, {kSwift});
        const auto plan = [](const std::string& task, std::vector<int> attention) {
            ShardPlan made;
            made.variant = "swift";
            made.task = task;
            made.attention = std::move(attention);
            made.mlp = {2};
            made.score = 0.8;
            return made;
        };
        run.shards[0].plans = {plan("math", {9, 99}), plan("math", {1, 3})};
        run.shards[1].plans = {plan("story", {3, 4})};
        FigureWish overlap = figureOf("matrix", "set", {"jaccard"});
        overlap.series = "task";
        run.recipe.figures = {overlap, figureOf("layer_grids", "task", {"set"})};
        const ExperimentResult result = run.result();
        const auto& cells = result.figures.at(0).panels.at(0).cells;
        QVERIFY(std::abs(cells[0][1].value - 0.5) < 1e-9);
        QVERIFY(std::abs(cells[1][1].value - 1.0) < 1e-9);
        const FigurePanel& grid = result.figures.at(1).panels.at(0);
        QCOMPARE(grid.title, std::string("Math"));
        QCOMPARE(grid.cells.at(0).size(), std::size_t{6}); // the layers of the model
        QCOMPARE(grid.cells[0][1].value, 1.0);
        QCOMPARE(grid.cells[0][2].value, 0.0);
        QCOMPARE(grid.cells[1][2].value, 1.0);
    }

    void aSweepIsALineWithThePapersFiguresBesideIt() {
        SampleRun run;
        std::vector<SampleVariant> variants;
        for (const std::string gamma : {"128", "16", "32"}) {
            SampleVariant variant = kSwift;
            variant.name = "swift gamma=" + gamma;
            variant.settings = {{"gamma", gamma}};
            variant.speedup = gamma == "32" ? 1.5 : 1.2;
            variants.push_back(variant);
        }
        run.add({"math"}, 3, variants);
        run.recipe.figures = {figureOf("lines", "setting:gamma", {"speedup"})};
        run.recipe.overlays = {paperWith({{"speedup", "swift", "", 1.56, 32.0}})};
        run.recipe.verdict.kind = "best";
        const ExperimentResult result = run.result();
        const ResultFigure& figure = result.figures.at(0);
        QCOMPARE(figure.panels.at(0).series.size(), std::size_t{2});
        std::vector<double> places;
        for (const FigureSeries& series : figure.panels[0].series) {
            QCOMPARE(series.isPaper, series.points.size() == 1);
            for (const auto& point : series.points)
                if (!series.isPaper)
                    places.push_back(point.x);
        }
        QCOMPARE(places, (std::vector<double>{16.0, 32.0, 128.0}));
        QCOMPARE(figure.overlayLabel, std::string("paper"));
        QVERIFY2(contains(result.verdict.headline, "SWIFT, gamma 32 is best: 1.50×"),
                 result.verdict.headline.c_str());
    }

    /// Of all tasks, of the second one, and of a task that was not run.
    void aPapersValueOfNoPlaceIsBesideAllOfOursOrThoseOfItsTask() {
        SampleRun run;
        run.add({"math", "story"}, 2, {kSwift});
        FigureWish wish = figureOf("lines", "prompt", {"speedup"});
        wish.series = "variant";
        run.recipe.figures = {wish};
        run.recipe.overlays = {paperWith({{"speedup", "swift", "", 1.5},
                                          {"speedup", "swift", "story", 1.2},
                                          {"speedup", "swift", "code", 1.1}})};
        const ExperimentResult result = run.result();
        const auto& series = result.figures.at(0).panels.at(0).series;
        QCOMPARE(series.size(), std::size_t{2});
        QVERIFY(series[1].isPaper);
        QCOMPARE(series[1].name, std::string("SWIFT"));
        const auto& points = series[1].points;
        QCOMPARE(points.size(), std::size_t{2});
        QCOMPARE(points[0].x, 1.0);
        QCOMPARE(points[1].x, 2.5);
        for (const FigureSeries::Point& point : points)
            QCOMPARE(point.until, std::optional<double>(4.0));
    }

    void aPapersShareStandsAtItsPartOfEveryStackOfItsVariant() {
        SampleRun run;
        SampleVariant other = kSwift;
        other.name = "auto";
        run.add({"math", "story"}, 1, {kSwift, other});
        FigureWish wish = figureOf("stack", "task", {"draft_share", "verify_share"});
        wish.panels = "variant";
        run.recipe.figures = {wish};
        run.recipe.overlays = {paperWith({{"verify_share", "auto", "", 0.25}})};
        const ExperimentResult result = run.result();
        const auto& panels = result.figures.at(0).panels;
        QCOMPARE(panels.at(0).series.size(), std::size_t{2});
        const FigureSeries& paper = panels.at(1).series.at(2);
        QVERIFY(paper.isPaper);
        QCOMPARE(paper.name, panels[1].series[1].name);
        QCOMPARE(paper.points.at(0).x, 0.0);
        QCOMPARE(paper.points[0].until, std::optional<double>(1.0));
    }

    /// The third task's prompts lie behind those of the first and the second.
    void aStreamHasABandForEachTaskAndThePromptsSoFar() {
        SampleRun run;
        run.speedOf = [](const SampleVariant&, const std::string&, int prompt) {
            return prompt == 0 ? 1.0 : 2.0;
        };
        run.add({"math", "story"}, 2, {kSwift});
        FigureWish wish = figureOf("lines", "prompt", {"speedup", "cumulative_speedup"});
        wish.panels = "measure";
        run.recipe.figures = {wish};
        run.recipe.tables = {tableOf("prompt", {"cumulative_speedup"})};
        run.recipe.tables[0].variants = {"swift"};
        const ExperimentResult result = run.result();
        const ResultFigure& figure = result.figures.at(0);
        QCOMPARE(figure.bands.size(), std::size_t{2});
        QCOMPARE(figure.bands[1].first, 2.5);
        QCOMPARE(figure.bands[1].second, std::string("Story"));
        const auto& soFar = figure.panels.at(1).series.at(0).points;
        QCOMPARE(soFar.size(), std::size_t{4});
        // 8 + 8 ms of vanilla over 8 + 4 of the decoder, and so on.
        QVERIFY(std::abs(soFar[1].y.value - 16.0 / 12.0) < 1e-9);
        QVERIFY(std::abs(soFar[3].y.value - 32.0 / 20.0) < 1e-9);
        QCOMPARE(figure.panels[0].reference, std::optional<double>(1.0));
        const ResultTable& table = result.tables.at(0);
        QCOMPARE(cellOf(table, {"2"}, "So far").text, std::string("1.33×"));
        QCOMPARE(cellOf(table, {"4"}, "So far").text, std::string("1.60×"));
    }

    void aVariantWithASearchedSetHasTheCostOfThatSearch() {
        SampleRun run;
        SampleVariant variant = kSwift;
        variant.setTask = "own";
        run.add({"math"}, 1, {variant});
        RunVariant search;
        search.name = "bo";
        search.stage = "find";
        run.plan.variants.push_back(search);
        run.plan.variants[0].setFrom = "bo";
        PlannedShard planned = run.plan.shards[0];
        planned.index = 1;
        planned.stage = "find";
        run.plan.shards.push_back(planned);
        ShardResult shard;
        shard.shard = 1;
        shard.runHash = run.plan.runHash;
        for (int i = 1; i <= 3; ++i) {
            ShardTrial trial;
            trial.variant = "bo";
            trial.task = "math";
            trial.index = i;
            trial.kind = i < 3 ? "bayesian" : "start";
            trial.at = 2.0 * i;
            shard.trials.push_back(trial);
        }
        run.shards.push_back(shard);
        TableWish wish = tableOf("variant", {"search_seconds", "bayesian_trials"});
        wish.stage = "main";
        run.recipe.tables = {wish};
        const ResultTable table = run.result().tables.at(0);
        QCOMPARE(cellOf(table, {"SWIFT"}, "Search, s").text, std::string("6.0"));
        QCOMPARE(cellOf(table, {"SWIFT"}, "Bayesian").text, std::string("2"));
    }

    /// The second answer has a second round; the second pass does not count.
    void roundsAreALineAlongTheAnswers() {
        SampleRun run;
        run.add({"math"}, 2, {kSwift});
        const auto add = [&](int prompt, int pass, int drafts, double layers) {
            run.shards[0].rounds.push_back({.variant = "swift",
                                            .prompt = prompt,
                                            .pass = pass,
                                            .draftSteps = drafts,
                                            .draftLayers = layers});
        };
        add(0, 0, 2, 8.0);
        add(0, 1, 9, 9.0);
        add(1, 0, 4, 10.0);
        add(1, 0, 6, 12.0);
        FigureWish wish = figureOf("lines", "round", {"layers_per_draft", "draft_length"});
        wish.panels = "measure";
        run.recipe.figures = {wish};
        const ExperimentResult result = run.result();
        const ResultFigure& figure = result.figures.at(0);
        const auto& exits = figure.panels.at(0).series.at(0).points;
        QCOMPARE(exits.size(), std::size_t{2});
        QCOMPARE(exits[0].x, 1.0);
        QCOMPARE(exits[0].y.value, 3.0); // 18 layers of 6 drafts
        QCOMPARE(exits[0].y.count, 2);
        QCOMPARE(exits[1].y.value, 2.0);
        QCOMPARE(figure.panels.at(1).series.at(0).points[0].y.value, 3.0); // drafts a round
    }

    void roundsBecomeTextsWhoseTokensSayWhereTheyComeFrom() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        const ShardRound round{.variant = "swift", .tokens = {"a", "b", "c"}, .ranks = {1, 2}};
        run.shards[0].rounds = {round, round};
        run.shards[0].rounds[1].pass = 1; // the same text once more
        const auto origins = run.result().origins;
        QCOMPARE(origins.size(), std::size_t{1});
        QCOMPARE(origins[0].title, std::string("SWIFT, prompt 1"));
        QCOMPARE(origins[0].tokens.size(), std::size_t{3});
        QCOMPARE(origins[0].tokens[1].rank, 2);
        QCOMPARE(origins[0].tokens[2].rank, 0);
        run.recipe.isStream = true; // its answers are opened one by one
        QVERIFY(run.result().origins.empty());
    }
};

QTEST_APPLESS_MAIN(ReportAnalysisTest)
#include "report_analysis_test.moc"
