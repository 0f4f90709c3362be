// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/executor_state.h"
#include "engine/experiments/run/progress/prompt_answers.h"
#include "engine/experiments/run/progress/run_progress.h"
#include "tests/support/made_up_stream.h"

#include <QTest>

#include <fstream>
#include <limits>

using namespace engine;
using test_support::MadeUpStream;
using test_support::TemporaryFolder;

/// How far a run is, as its folder tells.
class RunProgressTest : public QObject {
    Q_OBJECT

    static RunProgressReader readerOf(const MadeUpStream& stream) {
        auto reader = RunProgressReader::open(stream.folder.path());
        if (!reader)
            qFatal("%s", reader.error().message.c_str());
        return std::move(reader).value();
    }

    /// A run of one prompt.
    static RunFolder folderOf(const Recipe& recipe, const std::filesystem::path& path) {
        const std::vector<DataRecord> prompts = {{.task = "story", .id = "1", .turns = {"Go on."}}};
        RunPlan plan =
            planRun(recipe, std::vector<std::string>{"story"}, {RunModel{.name = "tiny"}}).value();
        plan.runHash = runHashOf(recipe, prompts, plan.models);
        auto folder = RunFolder::create(path, recipe, plan, prompts, false);
        if (!folder)
            qFatal("%s", folder.error().message.c_str());
        return std::move(folder).value();
    }

private slots:

    void theSubjectMayBeOneValueOfASetting() {
        const TemporaryFolder place;
        Recipe recipe = MadeUpStream::recipe();
        recipe.stages[0].variants[0].settings["gamma"] = {"16", "32", "64"};
        recipe.verdict.variant = "swift gamma=32";
        const RunFolder folder = folderOf(recipe, place.path() / "run");
        const auto reader = RunProgressReader::open(folder.path());
        QVERIFY(reader);
        QCOMPARE(reader.value().subject(), std::string("swift gamma=32"));
    }

    void aRunThatHasNotBegunIsAllPlanned() {
        const TemporaryFolder folder;
        const MadeUpStream stream(folder.path() / "run", {"story", "code"}, 3);
        RunProgressReader reader = readerOf(stream);
        const RunProgress progress = reader.read().value();
        QCOMPARE(reader.subject(), std::string("swift"));
        QCOMPARE(reader.layers(), MadeUpStream::kLayers);
        QCOMPARE(progress.planned, 14L); // two of each prompt, and one for each block of four
        QCOMPARE(progress.answers, 0L);
        QVERIFY(!progress.secondsLeft);
        QVERIFY(progress.prompts.empty());
        QCOMPARE(progress.tasks.size(), std::size_t{2});
        QCOMPARE(progress.tasks[0].task, std::string("story"));
        QCOMPARE(progress.tasks[1].prompts, 3);
    }

    void aPromptsAnswersAreReadFromPartsAtWorkAndFinishedOnes() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        stream.answer(0);
        stream.answer(1);
        const auto check = [&] {
            const auto read = readPromptAnswers(stream.folder, 1);
            QVERIFY(read);
            QCOMPARE(read.value().prompt.id, std::string("1"));
            QCOMPARE(read.value().answers.size(), std::size_t{2});
            QCOMPARE(read.value().answers[1].text, std::string("Yes, **no**."));
            QCOMPARE(read.value().rounds.size(), std::size_t{1});
            QCOMPARE(read.value().rounds[0].prompt, 1);
        };
        check();
        stream.finish();
        check();
        QVERIFY(!readPromptAnswers(stream.folder, 2));
    }

    void answersOfAPartAtWorkCountAsTheyCome() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story", "code"}, 3);
        RunProgressReader reader = readerOf(stream);
        stream.findSet(0, {2, 3}, {4}, 0.5);
        stream.answer(0, 1.5);
        QCOMPARE(reader.read().value().answers, 2L);
        stream.answer(1, 2.0);
        const RunProgress progress = reader.read().value();
        QCOMPARE(progress.answers, 4L); // none counts twice
        QCOMPARE(progress.current, std::optional(1));
        QCOMPARE(progress.prompts.size(), std::size_t{2});
        QVERIFY(std::abs(*progress.prompts[1].speedup() - 2.0) < 1e-9);
        QVERIFY(std::abs(*progress.prompts[1].tokensPerSecond() - 200.0) < 1e-6);
        const double ms = 400.0 + 400.0 / 1.5 + 400.0 + 400.0 / 2.0; // of four answers
        QVERIFY(std::abs(*progress.secondsLeft - ms / 1e3 / 4.0 * 10.0) < 1e-9);
        const TaskFigures& story = progress.tasks[0];
        QCOMPARE(story.done, 2);
        QVERIFY(std::abs(story.speedup->ratio - 1.75) < 1e-9);
        QCOMPARE(story.plan->attention, (std::vector<int>{2, 3}));
        QVERIFY(std::abs(*story.decoding.acceptance() - 0.8) < 1e-9);
        QCOMPARE(progress.tasks[1].done, 0);
        QVERIFY(!progress.tasks[1].speedup);
    }

    void whatWasDoneBeforeTheFirstAnswerIsNotDoneAgain() {
        const TemporaryFolder folder;
        const MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        ShardAnswer answer;
        answer.variant = "vanilla";
        answer.tokens = 10;
        answer.promptMs = 500.0;
        answer.decodeMs = 1500.0;
        answer.startedAt = 1800.0;
        auto journal = stream.folder.begin(0);
        QVERIFY(journal);
        QVERIFY(journal.value().add(ShardRecord(answer)));
        const RunProgress progress = readerOf(stream).read().value();
        QCOMPARE(progress.planned, 5L);
        QVERIFY(std::abs(*progress.secondsLeft - 4 * 2.0) < 1e-9);
    }

    void aFinishedPartPlansNoAnswersToPromptsThatWereLeftOut() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        stream.answer(0);
        stream.leaveOut(1, "It is too long.");
        QCOMPARE(readerOf(stream).read().value().planned, 5L);
        stream.finish();
        const RunProgress progress = readerOf(stream).read().value();
        QCOMPARE(progress.planned, 2L);
        QCOMPARE(*progress.secondsLeft, 0.0);
    }

    void aBlockWhoseBaselineMovedHasNoSpeedup() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 8);
        RunProgressReader reader = readerOf(stream);
        for (int prompt = 0; prompt < 8; ++prompt) {
            stream.answer(prompt);
            if (prompt % 4 == 3)
                stream.endBlock(prompt - 3, prompt == 3 ? 0.5 : 0.01);
            if (prompt == 3) {
                QVERIFY(!reader.read().value().tasks[0].speedup);
                QVERIFY(reader.read().value().tasks[0].isUnsteady);
            }
        }
        const RunProgress progress = reader.read().value();
        for (const PromptFigures& prompt : progress.prompts) {
            QCOMPARE(prompt.speedup().has_value(), prompt.prompt >= 4);
            QCOMPARE(prompt.isUnsteady(), prompt.prompt < 4);
        }
        QVERIFY(!progress.tasks[0].speedup); // the median of both blocks is beyond 5 %
    }

    /// As the report judges it: by all seeds together, and not by the last one.
    void aBaselineIsJudgedUnderAllSeeds() {
        const TemporaryFolder place;
        Recipe recipe = MadeUpStream::recipe();
        recipe.sizes["own"].seeds = 2;
        const RunFolder folder = folderOf(recipe, place.path() / "run");
        for (const int shard : {0, 1}) {
            auto journal = folder.begin(shard);
            QVERIFY(journal);
            const auto add = [&](const char* variant, int pass, double ms) {
                ShardAnswer answer;
                answer.variant = variant;
                answer.task = "story";
                answer.pass = pass;
                answer.tokens = 10;
                answer.decodeMs = ms;
                QVERIFY(journal.value().add(ShardRecord(answer)));
            };
            add("vanilla", 0, 100.0);
            add("swift", 0, 50.0);
            add("vanilla", 1, shard == 0 ? 120.0 : 100.0);
        }
        auto reader = RunProgressReader::open(place.path() / "run");
        QVERIFY(reader);
        const RunProgress progress = reader.value().read().value();
        QVERIFY(std::abs(*progress.prompts.at(0).vanillaMoved - 0.1) < 1e-9);
        QVERIFY(progress.tasks.at(0).isUnsteady);
        QVERIFY(!progress.tasks[0].speedup);
    }

    /// The report leaves it out, too.
    void anAnswerThatTookNoTimeHasNoSpeed() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        stream.answer(0, std::numeric_limits<double>::infinity());
        const RunProgress none = reader.read().value();
        QVERIFY(!none.tasks[0].speedup && !none.prompts.at(0).speedup());
        stream.answer(1, 1.5);
        QVERIFY(std::abs(reader.read().value().tasks[0].speedup->ratio - 1.5) < 1e-9);
    }

    void aFinishedPartHasTheFiguresThatItHadAtWork() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        stream.answer(0);
        stream.answer(1);
        const RunProgress before = reader.read().value();
        stream.finish();
        const RunProgress after = reader.read().value();
        QCOMPARE(after.answers, before.answers);
        QCOMPARE(after.shards[0].phase, ShardPhase::Finished);
        QCOMPARE(after.tasks[0].speedup->ratio, before.tasks[0].speedup->ratio);
        QCOMPARE(after.machine->processor, std::string("A made-up processor"));
        QVERIFY(!after.current);
        QCOMPARE(readerOf(stream).read().value().answers, before.answers);
    }

    void aFinishedPartIsReadOnceUnlessItsFileBecomesAnother() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        stream.answer(0);
        stream.answer(1);
        stream.finish();
        QCOMPARE(reader.read().value().answers, 4L);
        const auto file = stream.folder.shardFile(0);
        const auto written = std::filesystem::last_write_time(file);
        const std::string unreadable(std::filesystem::file_size(file), ' ');
        std::ofstream(file) << unreadable;
        std::filesystem::last_write_time(file, written);
        const RunProgress same = reader.read().value(); // as long and as old: not read
        QCOMPARE(same.shards[0].phase, ShardPhase::Finished);
        QCOMPARE(same.answers, 4L);
        std::filesystem::resize_file(file, 40);
        for (int times = 0; times < 2; ++times) {
            const RunProgress another = reader.read().value();
            QCOMPARE(another.shards[0].phase, ShardPhase::Damaged);
            QVERIFY(another.shards[0].problem.find("0000.json") != std::string::npos);
            QCOMPARE(another.answers, 0L);
        }
        std::filesystem::remove(file);
        QCOMPARE(reader.read().value().shards[0].phase, ShardPhase::Waiting);
    }

    void aFailedPartIsToldUntilItRunsAgain() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        QVERIFY(stream.folder.fail(0, "There is no layer 99."));
        const RunProgress failed = reader.read().value();
        QCOMPARE(failed.shards[0].phase, ShardPhase::Failed);
        QCOMPARE(failed.shards[0].problem, std::string("There is no layer 99."));
        stream.answer(0);
        const RunProgress running = reader.read().value();
        QCOMPARE(running.shards[0].phase, ShardPhase::Running);
        QCOMPARE(running.shards[0].problem, std::string());
    }

    void aRecordOfAPromptThatThereIsNotIsNotShown() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        stream.answer(0);
        ShardAnswer wrong;
        wrong.variant = "swift";
        wrong.prompt = 99'999'999;
        wrong.tokens = 1;
        std::ofstream(stream.folder.partFile(0), std::ios::app)
            << recordJson(ShardRecord(wrong)) << "\n";
        for (int times = 0; times < 2; ++times) {
            const RunProgress progress = reader.read().value();
            QCOMPARE(progress.answers, 2L);
            QCOMPARE(progress.prompts.size(), std::size_t{1});
        }
    }

    void aPartThatBeginsAnewForgetsWhatItHad() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        stream.answer(0);
        stream.answer(1);
        QCOMPARE(reader.read().value().answers, 4L);
        QVERIFY(stream.folder.begin(0)); // as the next process does
        QCOMPARE(reader.read().value().answers, 0L);
    }

    void whatRunsOnAClusterIsToldByItsExecutor() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 2);
        RunProgressReader reader = readerOf(stream);
        ExecutorState state{
            .executor = "slurm",
            .id = "0123456789abcdef",
            .shards = {{.shard = 0, .phase = ExecutorPhase::Running}, {.shard = 7}}};
        const auto told = [&] {
            if (!saveExecutorState(stream.folder.path(), state))
                qFatal("the state was not kept");
            return reader.read().value().shards.at(0);
        };
        QCOMPARE(told().phase, ShardPhase::Running);
        QCOMPARE(told().problem, std::string());
        state.shards[0] = {.shard = 0, .attempts = 1, .ended = "TIMEOUT on node1"};
        for (const ExecutorPhase phase : {ExecutorPhase::Waiting, ExecutorPhase::Queued}) {
            state.shards[0].phase = phase;
            QCOMPARE(told().phase, ShardPhase::Failed);
            QCOMPARE(told().problem, std::string("run again after: TIMEOUT on node1"));
        }
        state.shards[0].phase = ExecutorPhase::Running;
        QCOMPARE(told().phase, ShardPhase::Running);
        state.shards[0].phase = ExecutorPhase::GivenUp;
        QCOMPARE(told().phase, ShardPhase::Failed);
        QCOMPARE(told().problem, std::string("given up, last because of: TIMEOUT on node1"));
        stream.answer(0);
        stream.answer(1);
        stream.finish();
        QCOMPARE(told().phase, ShardPhase::Finished);
        QCOMPARE(told().problem, std::string());
    }

    void aFolderWithoutARunIsRefused() {
        const TemporaryFolder folder;
        QVERIFY(!RunProgressReader::open(folder.path()));
    }

    /// The other part is ten times as slow, has other sets and has tried more.
    void theFiguresOfTheSubjectAreThoseOfItsOwnParts() {
        const TemporaryFolder folder;
        Recipe recipe = MadeUpStream::recipe();
        recipe.isStream = false;
        recipe.stages.front().isSplitByVariant = true;
        recipe.stages.front().variants.push_back({.name = "auto", .decoder = "auto"});
        std::vector<DataRecord> prompts(1);
        prompts[0].task = "story";
        prompts[0].id = "0";
        prompts[0].turns = {"p"};
        RunModel model;
        model.name = "tiny";
        model.identity = "1";
        model.layers = 6;
        const std::vector<std::string> tasks = {"story"};
        RunPlan plan = planRun(recipe, tasks, {model}).value();
        plan.runHash = runHashOf(recipe, prompts, plan.models);
        const RunFolder run =
            RunFolder::create(folder.path() / "run", recipe, plan, prompts, false).value();
        const auto answer = [](PartJournal& journal, const std::string& variant, double ms) {
            ShardAnswer made;
            made.variant = variant;
            made.task = "story";
            made.tokens = 40;
            made.decodeMs = ms;
            QVERIFY(journal.add(ShardRecord(made)));
        };
        for (const int part : {0, 1}) {
            const std::string variant = part == 0 ? "swift" : "auto";
            const double slow = part == 0 ? 1.0 : 10.0;
            auto journal = run.begin(part).value();
            answer(journal, "vanilla", 400.0 * slow);
            answer(journal, variant, 200.0 * slow);
            ShardPlan set;
            set.variant = variant;
            set.task = "story";
            set.attention = {part + 1};
            QVERIFY(journal.add(ShardRecord(set)));
            ShardTrial trial;
            trial.variant = variant;
            trial.task = "story";
            for (int tried = 0; tried <= 3 * part; ++tried)
                QVERIFY(journal.add(ShardRecord(trial)));
        }
        auto reader = RunProgressReader::open(folder.path() / "run").value();
        const RunProgress progress = reader.read().value();
        QVERIFY(std::abs(*progress.prompts.at(0).speedup() - 2.0) < 1e-9);
        QCOMPARE(progress.vanillaTokens, 40L);
        const TaskFigures& story = progress.tasks.at(0);
        QCOMPARE(story.plan->attention, std::vector<int>{1});
        QCOMPARE(story.trials, 1);
        QCOMPARE(progress.plans.size(), std::size_t{2}); // for the film, those of all
    }

    void drawsAndSearchesBeforehandAreCountedToo() {
        const TemporaryFolder folder;
        Recipe recipe = MadeUpStream::recipe();
        recipe.isStream = false;
        recipe.stages.front().sampling.temperature = 0.8;
        RecipeVariant set;
        set.name = "set";
        set.search = RecipeSearch{.method = "random", .trials = 3};
        RecipeStage find;
        find.name = "find";
        find.variants = {set};
        find.hasBaseline = false;
        recipe.stages.insert(recipe.stages.begin(), find);
        recipe.sizes["own"].draws = 4;
        std::vector<DataRecord> prompts(4);
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            prompts[i].task = "story";
            prompts[i].id = std::to_string(i);
            prompts[i].turns = {"p"};
        }
        RunModel model;
        model.name = "tiny";
        model.identity = "1";
        model.layers = 6;
        const std::vector<std::string> tasks(prompts.size(), "story");
        RunPlan plan = planRun(recipe, tasks, {model}).value();
        plan.runHash = runHashOf(recipe, prompts, plan.models);
        const RunFolder run =
            RunFolder::create(folder.path() / "run", recipe, plan, prompts, false).value();
        ShardTrial trial;
        trial.variant = "set";
        QVERIFY(run.begin(0).value().add(ShardRecord(trial)));
        ShardDraw draw;
        draw.variant = "swift";
        draw.prompt = 3;
        QVERIFY(run.begin(1).value().add(ShardRecord(draw)));
        auto reader = RunProgressReader::open(folder.path() / "run").value();
        const RunProgress progress = reader.read().value();
        QCOMPARE(progress.trials, 1L);
        QCOMPARE(progress.plannedTrials, 3L);
        QCOMPARE(progress.draws, 1L);
        QCOMPARE(progress.plannedDraws, 8L); // vanilla and swift on the one prompt left
    }
};

QTEST_GUILESS_MAIN(RunProgressTest)
#include "run_progress_test.moc"
