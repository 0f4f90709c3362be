// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/analyse.h"
#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/report/result_json.h"
#include "engine/experiments/report/write_report.h"
#include "tests/engine/experiments/report/sample_shards.h"
#include "tests/support/file_content.h"

#include <QDir>
#include <QTest>

#include <fmt/ranges.h>

#include <algorithm>

using namespace engine;

namespace {

constexpr const char* kRecipes = "resources/recipes";
constexpr const char* kShapes = SWIFT_STUDIO_TEST_DATA_DIR "/experiments/report_shapes.txt";

/// Which figures with how many panels, which columns, and how the verdict begins.
std::string shapeOf(const ExperimentResult& result) {
    static const char* const kKinds[] = {"dots", "bars", "lines", "stack", "matrix", "layer grids"};
    static const char* const kVerdicts[] = {"gain", "no gain", "finding", "refused"};
    std::string text = fmt::format("{}\n", result.recipe);
    std::string words = result.verdict.headline;
    for (char& letter : words) // the shape of a sentence is its words
        letter = letter >= '0' && letter <= '9' ? '#' : letter;
    text +=
        fmt::format("  verdict {}: {}\n", kVerdicts[static_cast<int>(result.verdict.kind)], words);
    for (const ResultTable& table : result.tables)
        text += fmt::format("  table {}: {} rows of {}\n",
                            table.id,
                            table.rows.size(),
                            fmt::join(table.columns, ", "));
    for (const ResultFigure& figure : result.figures)
        text += fmt::format("  figure {}: {}, {} panels, {} series, {} bands\n",
                            figure.id,
                            kKinds[static_cast<int>(figure.kind)],
                            figure.panels.size(),
                            figure.panels[0].series.size(),
                            figure.bands.size());
    if (!result.origins.empty())
        text += fmt::format("  {} texts\n", result.origins.size());
    return text;
}

ExperimentResult failed(const Error& error) {
    ExperimentResult result;
    result.title = error.message;
    return result;
}

ExperimentResult sampleResult(const std::string& name) {
    const auto read = readRecipeFile(fmt::format("{}/{}.json", kRecipes, name));
    if (!read)
        return failed(read.error());
    RunOptions options;
    options.size = "quick";
    const auto recipe = recipeOfSize(read.value(), options);
    if (!recipe)
        return failed(recipe.error());
    std::vector<std::string> tasks;
    for (const char* task : {"summarization", "math_reasoning", "story", "code", "translation"})
        tasks.insert(tasks.end(), 40, task);
    std::vector<RunModel> models;
    for (const char* model : {"small", "large"})
        models.push_back({.name = model, .parameters = *model == 's' ? 1e8 : 1e9, .layers = 6});
    models.resize(static_cast<std::size_t>(read.value().leastModels));
    const auto plan = planRun(recipe.value(), tasks, models);
    if (!plan)
        return failed(plan.error());
    return analyse(recipe.value(),
                   plan.value(),
                   test_support::sampleShards(recipe.value(), plan.value(), tasks));
}

std::vector<std::string> recipeNames() {
    std::vector<std::string> names;
    for (const QString& file : QDir(kRecipes).entryList({"*.json"}, QDir::Files, QDir::Name))
        names.push_back(file.chopped(5).toStdString());
    return names;
}

} // namespace

class RecipeReportsTest : public QObject {
    Q_OBJECT

private slots:

    void everyRecipeGivesTheReportOfItsShape_data() {
        QTest::addColumn<std::string>("name");
        const auto names = recipeNames();
        QVERIFY(names.size() > 20);
        for (const std::string& name : names)
            QTest::newRow(name.c_str()) << name;
    }

    /// The shapes are kept in tests/data/experiments; a recipe that is changed changes its own.
    void everyRecipeGivesTheReportOfItsShape() {
        QFETCH(std::string, name);
        const ExperimentResult result = sampleResult(name);
        QVERIFY2(!result.recipe.empty(), result.title.c_str());
        const std::string shape = shapeOf(result);
        const std::string known = support::fileBytes(kShapes).toStdString();
        if (known.find(shape) == std::string::npos)
            qWarning("%s", shape.c_str());
        QVERIFY2(known.find(shape) != std::string::npos, "its shape is not the kept one");
        QVERIFY(result.isComplete);
        const auto read = parseResultJson(resultJson(result), "result.json");
        QVERIFY(read.hasValue());
        for (std::size_t i = 0; i < result.figures.size(); ++i) {
            const std::size_t marks = drawFigure(result.figures[i], {}).marks.size();
            QVERIFY(marks > 3);
            QCOMPARE(drawFigure(read.value().figures.at(i), {}).marks.size(), marks);
        }
        QVERIFY(reportHtml(result, "{}").size() > 2000);
    }

    /// Else the box in the window that shows and hides it does nothing.
    void whatAPaperPrintsIsSeenInEveryFigureOfTheMeasure() {
        for (const std::string& name : recipeNames()) {
            const auto recipe = readRecipeFile(fmt::format("{}/{}.json", kRecipes, name));
            QVERIFY2(recipe, name.c_str());
            const ExperimentResult result = sampleResult(name);
            for (const FigureWish& wish : recipe.value().figures) {
                if (wish.kind == "matrix" || wish.kind == "layer_grids")
                    continue;
                const auto figure =
                    std::find_if(result.figures.begin(),
                                 result.figures.end(),
                                 [&](const auto& one) { return one.id == wish.id; });
                const std::string place = fmt::format("{}, {}", name, wish.id);
                QVERIFY2(figure != result.figures.end(), place.c_str());
                bool isPrinted = false;
                for (const RecipeOverlay& overlay : recipe.value().overlays) {
                    for (const OverlayValue& value : overlay.values)
                        isPrinted =
                            isPrinted ||
                            std::find(wish.y.begin(), wish.y.end(), value.measure) != wish.y.end();
                }
                QVERIFY2(figure->overlayLabel.empty() != isPrinted, place.c_str());
            }
        }
    }

    /// A second pass is there to compare with vanilla.
    void everyStageWithoutABaselineAsksOnce() {
        for (const std::string& name : recipeNames()) {
            const auto recipe = readRecipeFile(fmt::format("{}/{}.json", kRecipes, name));
            QVERIFY2(recipe, name.c_str());
            for (const RecipeStage& stage : recipe.value().stages)
                QVERIFY2(stage.hasBaseline || !stage.isTwice, name.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(RecipeReportsTest)
#include "recipe_reports_test.moc"
