// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/recipe/recipe.h"
#include "engine/experiments/run/run_plan.h"

#include <QTest>

using namespace engine;

namespace {

constexpr const char* kRecipe = R"({
  "format": "swift-experiment", "version": 1, "name": "sweep", "title": "Sweep",
  "source": "nothing", "summary": "It sweeps.",
  "stages": [
    {"name": "find", "baseline": false, "twice": false,
     "variants": [{"name": "bo", "search": {"method": "bayes", "trials": 30}}]},
    {"name": "run", "split_by_variant": true,
     "variants": [{"name": "swift", "decoder": "swift",
                   "settings": {"gamma": [16, 32], "early_stop": false}},
                  {"name": "set", "decoder": "self_sd", "set_from": "bo", "set_task": "each"}]}],
  "sizes": {"quick": {"prompts_per_task": 2, "max_tokens": 16, "seeds": 2, "most_tasks": 2,
                      "settings": {"swift": {"S": 5}}, "trials": {"bo": 4}}},
  "tables": [{"id": "main", "title": "Main", "rows": "variant", "columns": ["speedup", "M"]}]
})";

/// The recipe with one piece of its text replaced.
std::string changed(const std::string& from, const std::string& to) {
    std::string text = kRecipe;
    const std::size_t at = text.find(from);
    return at == std::string::npos ? "not found" : text.replace(at, from.size(), to);
}

std::string problemOf(const std::string& text) {
    const auto read = readRecipe(text, "mine.swiftexp");
    return read ? "" : read.error().message;
}

Recipe quick() {
    const auto recipe = readRecipe(kRecipe, "mine.swiftexp");
    return recipeOfSize(recipe.value(), RunOptions{.size = "quick", .seed = 7}).value();
}

RunPlan planOfTasks(const std::vector<std::string>& tasks) {
    return planRun(quick(), tasks, {RunModel{.name = "tiny"}}).value();
}

const std::vector<std::string> kTasks = {"b", "b", "b", "b", "b", "a", "a", "a", "a", "c", "c"};

} // namespace

class RecipeTest : public QObject {
    Q_OBJECT

private slots:

    void whatIsWrittenIsReadBackTheSame() {
        const auto read = readRecipe(kRecipe, "mine.swiftexp");
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        const std::string text = recipeJson(read.value());
        QCOMPARE(recipeJson(readRecipe(text, "again").value()), text);
        const std::string applied = recipeJson(quick());
        QCOMPARE(recipeJson(readRecipe(applied, "again").value()), applied);
    }

    void theSchemaThatAFileNamesSaysNothing() {
        const std::string text = changed("\"format\":", "\"$schema\": \"any\", \"format\":");
        QCOMPARE(problemOf(text), std::string());
        QCOMPARE(recipeJson(readRecipe(text, "mine").value()),
                 recipeJson(readRecipe(kRecipe, "mine").value()));
    }

    void everyRecipeOfTheProgramCanBeRead() {
        int count = 0;
        for (const auto& file : std::filesystem::directory_iterator("resources/recipes")) {
            const auto recipe = readRecipeFile(file.path());
            QVERIFY2(recipe, recipe ? "" : recipe.error().message.c_str());
            QCOMPARE(recipe.value().name, file.path().stem().string());
            for (const char* size : {"quick", "standard", "paper"})
                QVERIFY2(recipeOfSize(recipe.value(), RunOptions{.size = size}),
                         file.path().c_str());
            ++count;
        }
        QVERIFY(count >= 20);
    }

    void aFaultIsNamedByItsMember_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const char* from, const char* to, const char* says) {
            QTest::newRow(name) << from << to << says;
        };
        row("unknown", "\"max_tokens\"", "\"max_token\"", "sizes.quick.max_token\" is not known");
        row("deep", "\"trials\": 30", "\"trial\": 30", "stages.variants.search.trial");
        row("type", "\"seeds\": 2", "\"seeds\": \"2\"", "sizes.quick.seeds\" must be a whole");
        row("range",
            "\"seeds\": 2",
            "\"seeds\": 0",
            "sizes.quick.seeds\" is 0, but must be from 1");
        row("measure", "\"speedup\"", "\"speed\"", "\"speed\", which no recipe can show");
        row("method", "\"bayes\"", "\"magic\"", "must be one of random, bayes, self_sd");
        row("source", "\"set_from\": \"bo\"", "\"set_from\": \"x\"", "no variant of an earlier");
        row("twins", "\"name\": \"set\"", "\"name\": \"swift\"", "names two variants");
        row("both", "\"decoder\": \"self_sd\", ", "", "either a decoder or a search");
        row("vanilla", "\"name\": \"swift\"", "\"name\": \"vanilla\"", "runs without being named");
        row("size", "{\"swift\": {\"S\": 5}}", "{\"swft\": {\"S\": 5}}", "names the variant swft");
        row("title", "\"title\": \"Sweep\"", "\"title\": \"\"", "\"title\" is missing");
        row("a value twice", "[16, 32]", "[16, 32, 16]", "settings.gamma\" has a value twice");
        row("a file of the report", "\"id\": \"main\"", "\"id\": \"tokens\"", "another file of");
        row("a setting without values", "[16, 32]", "[]", "settings.gamma\" is an empty list");
        row("a variant that is not there",
            "\"tables\"",
            "\"verdict\": {\"variant\": \"swft\"}, \"tables\"",
            "verdict.variant\" names the variant swft");
        row("none to compare with",
            "\"tables\"",
            "\"verdict\": {\"variant\": \"swift gamma=16\", \"against\": \"bo2\"}, \"tables\"",
            "verdict.against\" names the variant bo2");
        row("draws", "\"seeds\": 2", "\"seeds\": 2, \"draws\": 3", "needs a stage with a temp");
        row("format", "swift-experiment", "other", "is no recipe");
        row("version", "\"version\": 1", "\"version\": 2", "of version 1 alone");
        row("broken", "\"version\": 1,", "\"version\": 1", "mine.swiftexp");
    }

    void aFaultIsNamedByItsMember() {
        QFETCH(const QString, from);
        QFETCH(const QString, to);
        QFETCH(const QString, named);
        QString problem =
            QString::fromStdString(problemOf(changed(from.toStdString(), to.toStdString())));
        problem.replace("[0]", "").replace("[1]", "");
        QVERIFY2(problem.contains(named), qPrintable(problem));
    }

    void aSizePutsItsSettingsIn() {
        const Recipe recipe = quick();
        QCOMPARE(recipe.stages[0].variants[0].search->trials, 4);
        QCOMPARE(recipe.stages[1].variants[0].settings.at("S"), std::vector<std::string>{"5"});
        QCOMPARE(recipe.stages[1].variants[0].settings.at("early_stop"),
                 std::vector<std::string>{"off"});
        QCOMPARE(recipe.sizes.size(), std::size_t{1});
        const auto wrong = recipeOfSize(recipe, RunOptions{.size = "large"});
        QVERIFY(!wrong);
        QVERIFY(wrong.error().hint.find("quick") != std::string::npos);
    }

    void aRecipeThatCouldNotBeReadBackIsRefused() {
        Recipe recipe = quick();
        RecipeSettings& settings = recipe.stages[1].variants[0].settings;
        for (int value = 0; value < 50'000; ++value)
            settings["gamma"].push_back(std::to_string(1000 + value));
        std::string compact;
        for (const std::string& value : settings["gamma"])
            compact += value + ",";
        QVERIFY(compact.size() < kMostRecipeBytes); // it is the lines that make it long
        const auto made = recipeOfSize(recipe, RunOptions{.size = "quick"});
        QVERIFY(!made);
        QVERIFY(made.error().message.find("1000000 are the most") != std::string::npos);
    }

    void whatWouldBeTooManyIsRefusedBeforeItIsMade() {
        const std::vector<std::string> tasks(4000, "a");
        const auto refusal = [&](const Recipe& recipe) {
            const auto plan = planRun(recipe, tasks, {RunModel{}});
            return plan ? std::string() : plan.error().message;
        };
        Recipe recipe = quick();
        for (int setting = 0; setting < 10; ++setting)
            for (int value = 0; value < 10; ++value)
                recipe.stages[1].variants[0].settings[std::to_string(setting)].push_back(
                    std::to_string(value));
        QCOMPARE(refusal(recipe), std::string("The run would have more than 10000 variants."));
        recipe = quick();
        recipe.sizes["quick"].seeds = 10'000;
        recipe.sizes["quick"].promptsPerTask = {{"", 3000}};
        recipe.stages.erase(recipe.stages.begin());
        recipe.stages[0].variants.resize(1);
        QCOMPARE(refusal(recipe),
                 std::string("The run would have more than 200000000 bytes in its plan."));
    }

    void manyTasksArePlannedInTime() {
        std::vector<std::string> tasks;
        for (int task = 0; task < 100'000; ++task)
            tasks.push_back(std::to_string(task));
        Recipe recipe = quick();
        recipe.stages.erase(recipe.stages.begin());
        recipe.stages[0].variants.resize(1);
        recipe.stages[0].isForFirstTask = true;
        recipe.sizes["quick"].mostTasks = 0;
        const auto plan = planRun(recipe, tasks, {RunModel{}});
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan.value().shards.front().task, std::optional<std::string>("0"));
    }

    void aPlanHasAShardForEachSliceVariantAndSeed() {
        const RunPlan plan = planOfTasks(kTasks);
        // Two tasks; a search for each, and then four variants for each; two seeds.
        QCOMPARE(plan.shards.size(), std::size_t{2 * (2 + 2 * 4)});
        QCOMPARE(plan.shards[0].task, std::optional<std::string>("b"));
        QCOMPARE(plan.shards[0].prompts, (std::vector<int>{0, 1}));
        QCOMPARE(plan.shards[0].variants, std::vector<std::string>{"bo"});
        QCOMPARE(plan.shards[4].prompts, (std::vector<int>{2, 3}));
        QCOMPARE(plan.shards[4].variants, (std::vector<std::string>{"vanilla", "swift gamma=16"}));
        QCOMPARE(plan.shards[6].variants, (std::vector<std::string>{"vanilla", "set of b"}));
        QCOMPARE(plan.shards[0].seed, std::uint64_t{7});
        QCOMPARE(plan.shards[2].seed, std::uint64_t{8});
    }

    void aShardNeedsTheSetsOfItsOwnSeed() {
        const RunPlan plan = planOfTasks(kTasks);
        QCOMPARE(plan.needs(plan.shards[6]), std::vector<int>{0});  // set of b, seed 7
        QCOMPARE(plan.needs(plan.shards[7]), std::vector<int>{1});  // set of a
        QCOMPARE(plan.needs(plan.shards[14]), std::vector<int>{2}); // set of b, seed 8
        QVERIFY(plan.needs(plan.shards[4]).empty());
    }

    /// As a file own.jsonl makes one: its set is no other task's own.
    void aTaskMayBeCalledOwn() {
        const RunPlan plan = planOfTasks({"b", "b", "b", "b", "own", "own", "own", "own"});
        QCOMPARE(plan.shards[6].variants, (std::vector<std::string>{"vanilla", "set of b"}));
        QCOMPARE(plan.shards[7].variants, (std::vector<std::string>{"vanilla", "set of own"}));
        QCOMPARE(plan.shards[7].task, std::optional<std::string>("b"));
        QCOMPARE(plan.needs(plan.shards[7]), std::vector<int>{1}); // the search on "own"
        const auto read = readPlan(planJson(plan), "plan.json");
        QVERIFY(read);
        QVERIFY(!read.value().variant("set of own")->usesOwnSet());
        Recipe recipe = quick();
        recipe.stages[1].variants[1].setTask = "own";
        const RunPlan own = planRun(recipe, kTasks, {RunModel{}}).value();
        QVERIFY(own.variant("set")->usesOwnSet());
    }

    void promptsThatNoShardAsksAreNotKept() {
        RunPlan plan = planOfTasks(kTasks);
        const std::vector<int> kept = keepUsedPrompts(plan);
        QCOMPARE(kept, (std::vector<int>{0, 1, 2, 3, 5, 6, 7, 8}));
        QCOMPARE(plan.shards[5].task, std::optional<std::string>("b"));
        QCOMPARE(plan.shards[1].prompts, (std::vector<int>{4, 5}));
    }

    void tooFewPromptsForTheStagesAreRefused() {
        const auto plan = planRun(quick(), std::vector<std::string>{"a"}, {RunModel{}});
        QVERIFY(!plan);
        QVERIFY(plan.error().message.find("too few prompts of the task \"a\"") !=
                std::string::npos);
    }

    void theFirstTaskOfAStreamIsTheFirstOfItsData() {
        Recipe recipe = quick();
        recipe.preferred = {"a", "b"};
        QCOMPARE(planRun(recipe, kTasks, {RunModel{}}).value().shards[0].task,
                 std::optional<std::string>("a"));
        recipe.stages[0].isForFirstTask = true;
        QCOMPARE(planRun(recipe, kTasks, {RunModel{}}).value().shards[0].task,
                 std::optional<std::string>("b"));
    }

    void theSamePromptsAreThoseOfTheFirstTaskAlone() {
        Recipe recipe = quick();
        recipe.stages[0].isForFirstTask = true;
        recipe.stages[1].reusesPrompts = true;
        recipe.stages[1].variants.resize(1);
        for (const bool isSplit : {true, false}) {
            recipe.stages[1].isSplitByTask = isSplit;
            const auto plan = planRun(recipe, kTasks, {RunModel{}});
            QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
            for (const PlannedShard& shard : plan.value().shards)
                QCOMPARE(shard.prompts, (std::vector<int>{0, 1}));
        }
    }

    void aTaskThatTheDataLacksIsRefused() {
        Recipe recipe = quick();
        recipe.tasks = {"poems"};
        const auto plan = planRun(recipe, kTasks, {RunModel{}});
        QVERIFY(!plan);
        QVERIFY(plan.error().message.find("\"poems\"") != std::string::npos);
        QVERIFY(plan.error().hint.find("b, a, c") != std::string::npos);
    }

    void severalModelsGiveEachVariantOnce() {
        const auto plan =
            planRun(quick(), kTasks, {RunModel{.name = "small"}, RunModel{.name = "large"}});
        QVERIFY(plan);
        QCOMPARE(plan.value().shards.size(), std::size_t{40});
        QVERIFY(plan.value().variant("swift gamma=16@large") != nullptr);
        QCOMPARE(plan.value().variant("set of b@large")->setFrom, std::string("bo@large"));
        Recipe recipe = quick();
        recipe.leastModels = 3;
        QVERIFY(!planRun(recipe, kTasks, {RunModel{}, RunModel{}}));
    }

    void aPlanIsReadBackTheSame() {
        RunPlan plan = planOfTasks(kTasks);
        plan.runHash = "abc";
        const std::string text = planJson(plan);
        const auto read = readPlan(text, "plan.json");
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(planJson(read.value()), text);
        QVERIFY(!readPlan("{}", "plan.json"));
        QVERIFY(!readPlan("[", "plan.json"));
    }
};

QTEST_GUILESS_MAIN(RecipeTest)
#include "recipe_test.moc"
