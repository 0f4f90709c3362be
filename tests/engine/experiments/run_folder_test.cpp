// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/run_folder.h"
#include "tests/support/file_content.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <fstream>

using namespace engine;
using test_support::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

Recipe smallRecipe() {
    Recipe recipe;
    recipe.name = "small";
    recipe.title = "Small";
    recipe.summary = "It is small.";
    recipe.stages = {{.name = "run", .variants = {{.name = "swift", .decoder = "swift"}}}};
    recipe.sizes["own"] = {.promptsPerTask = {{"", 1}}, .maxTokens = 8};
    recipe.run = RunOptions{.size = "own"};
    return recipe;
}

std::vector<DataRecord> twoPrompts() {
    DataRecord first{.task = "a", .id = "x", .turns = {"One \"prompt\".\nTwo lines."}};
    DataRecord second{.task = "b", .id = "2", .turns = {"Grüße?", "And more?"}};
    second.references = {"yes", "no"};
    second.test = "assert f()";
    second.entryPoint = "f";
    return {first, second};
}

Result<RunFolder> makeRun(const fs::path& path, bool mayOverwrite = false) {
    const Recipe recipe = smallRecipe();
    const auto prompts = twoPrompts();
    std::vector<std::string> tasks;
    for (const DataRecord& prompt : prompts)
        tasks.push_back(prompt.task);
    RunPlan plan = planRun(recipe, tasks, {RunModel{.name = "tiny", .identity = "1"}}).value();
    plan.runHash = runHashOf(recipe, prompts, plan.models);
    return RunFolder::create(path, recipe, plan, prompts, mayOverwrite);
}

ShardAnswer someAnswer() {
    ShardAnswer answer;
    answer.variant = "swift";
    answer.task = "a";
    answer.seed = 0xfedcba9876543210ULL;
    answer.tokens = 17;
    answer.tokenHash = 0xf123456789abcdefULL;
    answer.text = "a\nb";
    answer.decodeMs = 0.1 + 0.2;
    answer.decoding.draftLayers = 1.0 / 3.0;
    answer.decoding.accepted = 12;
    answer.isEqual = false;
    answer.differsAt = 0;
    answer.quality = {{"rougeL", 0.25}};
    return answer;
}

ShardResult someResult(const RunFolder& run) {
    ShardResult result;
    result.shard = 0;
    result.runHash = run.plan().runHash;
    result.machine.host = "here";
    result.answers = {someAnswer()};
    result.trials = {
        {.variant = "swift", .pass = 1, .kind = "random", .score = 0.5, .isBest = true}};
    result.plans = {{.variant = "swift", .attention = {1, 2}, .mlp = {3}, .reason = "better"}};
    result.rounds = {{.variant = "swift", .tokens = {"a", "b"}, .ranks = {1, 0}}};
    result.failures = {{"other", "It failed."}};
    result.leftOut = {{.prompt = 1, .reason = "It is too long."}};
    return result;
}

void append(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
}

} // namespace

class RunFolderTest : public QObject {
    Q_OBJECT

private slots:

    void aRunIsOpenedAsItWasMade() {
        const TemporaryFolder folder;
        const auto made = makeRun(folder.path() / "run");
        QVERIFY2(made, made ? "" : made.error().message.c_str());
        const auto opened = RunFolder::open(folder.path() / "run");
        QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
        QCOMPARE(opened.value().prompts()[0].turns, twoPrompts()[0].turns);
        QCOMPARE(opened.value().prompts()[1].turns, twoPrompts()[1].turns);
        QCOMPARE(opened.value().prompts()[1].references, twoPrompts()[1].references);
        QCOMPARE(opened.value().prompts()[1].entryPoint, std::string("f"));
        QCOMPARE(opened.value().plan().shards.size(), std::size_t{2});
        QCOMPARE(planJson(opened.value().plan()), planJson(made.value().plan()));
    }

    void aFolderThatHoldsOtherFilesIsLeftAlone() {
        const TemporaryFolder folder;
        append(folder.path() / "mine.txt", "mine");
        const auto made = makeRun(folder.path(), true);
        QVERIFY(!made);
        QVERIFY(made.error().message.find("mine.txt") != std::string::npos);
        QVERIFY(fs::exists(folder.path() / "mine.txt"));
    }

    void anEarlierRunIsDeletedOnlyIfTheUserSaysSo() {
        const TemporaryFolder folder;
        const auto first = makeRun(folder.path());
        QVERIFY(first.value().finish(someResult(first.value())));
        QVERIFY(!makeRun(folder.path()));
        QCOMPARE(first.value().state(0).phase, ShardPhase::Finished);
        append(folder.path() / "mine.txt", "mine");
        const auto second = makeRun(folder.path(), true);
        QVERIFY2(second, second ? "" : second.error().message.c_str());
        QCOMPARE(second.value().state(0).phase, ShardPhase::Waiting);
        QVERIFY(fs::exists(folder.path() / "mine.txt"));
    }

    void thePlanOfAnotherProgramIsLeftAlone() {
        const TemporaryFolder folder;
        append(folder.path() / "plan.json", "{\"goal\": \"mine\"}\n");
        append(folder.path() / "lock", "");
        fs::create_directories(folder.path() / "report");
        for (const bool mayOverwrite : {false, true}) {
            const auto made = makeRun(folder.path(), mayOverwrite);
            QVERIFY(!made);
            QVERIFY(made.error().message.find("no plan of a run") != std::string::npos);
        }
        QVERIFY(fs::exists(folder.path() / "plan.json"));
        QVERIFY(fs::exists(folder.path() / "report"));
    }

    void aRunThatWasKilledWhileItWasMadeIsMadeAnew() {
        const TemporaryFolder folder;
        const fs::path part = folder.path() / ".swift-studio-123-0.part";
        append(part, "{");
        QVERIFY(!makeRun(folder.path())); // nobody says that a run was made here
        append(folder.path() / "lock", "");
        const auto made = makeRun(folder.path());
        QVERIFY2(made, made ? "" : made.error().message.c_str());
        QVERIFY(!fs::exists(part));
    }

    void theHashIsOverTheDraftAdapterAndNotOverItsPath() {
        Recipe recipe = smallRecipe();
        const auto hash = [&](const RunModel& model) {
            return runHashOf(recipe, twoPrompts(), {model});
        };
        const std::string plain = hash({.name = "tiny", .identity = "1"});
        recipe.run->draftAdapter = "/somewhere/else.safetensors";
        QCOMPARE(hash({.name = "tiny", .identity = "1"}), plain);
        QVERIFY(hash({.name = "tiny", .identity = "1", .adapter = "2"}) != plain);
    }

    void aRunThatAnotherLeadsIsNotOverwritten() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        const auto lead = run.value().lead();
        QVERIFY(lead);
        QVERIFY(run.value().isLed());
        const auto second = run.value().lead();
        QVERIFY(!second);
        QVERIFY(second.error().message.find("Another process") != std::string::npos);
        QVERIFY(!makeRun(folder.path(), true));
        QVERIFY(RunFolder::open(folder.path()));
    }

    void whatIsLeftOfARunGoesAndTheUsersOwnPromptsDoNot() {
        const TemporaryFolder folder;
        {
            const auto run = makeRun(folder.path());
            QVERIFY(run.value().finish(someResult(run.value())));
        }
        // Killed while the run was deleted: the plan goes first.
        fs::remove(folder.path() / "plan.json");
        const auto again = makeRun(folder.path());
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QCOMPARE(again.value().state(0).phase, ShardPhase::Waiting);
        // A folder in which no run ever was may hold prompts under the name that runs use.
        const TemporaryFolder own;
        append(own.path() / "data.jsonl", "{\"prompt\":\"mine\"}\n");
        const auto refused = makeRun(own.path(), true);
        QVERIFY(!refused);
        QVERIFY(refused.error().message.find("data.jsonl") != std::string::npos);
        QCOMPARE(fs::file_size(own.path() / "data.jsonl"), std::uintmax_t{18});
    }

    void ofTwoThatMakeARunAtOnceOneIsRefused() {
        const TemporaryFolder folder;
        fs::create_directories(folder.path() / "run");
        const auto other = FileLock::take(folder.path() / "run" / "lock"); // it is making one
        QVERIFY(other && other.value());
        const auto made = makeRun(folder.path() / "run");
        QVERIFY(!made);
        QVERIFY(made.error().message.find("Another process") != std::string::npos);
        QVERIFY(!fs::exists(folder.path() / "run" / "data.jsonl"));
    }

    void aPromptThatCouldNotBeReadBackIsRefused() {
        const TemporaryFolder folder;
        const std::vector<std::string> tasks = {"a"};
        const Recipe recipe = smallRecipe();
        const std::vector<DataRecord> prompts = {
            {.task = "a", .id = "x", .turns = {std::string(9'000'000, '"')}}};
        RunPlan plan = planRun(recipe, tasks, {RunModel{.name = "tiny", .identity = "1"}}).value();
        plan.runHash = runHashOf(recipe, prompts, plan.models);
        const auto made = RunFolder::create(folder.path() / "run", recipe, plan, prompts, false);
        QVERIFY(!made);
        QVERIFY(made.error().message.find("Prompt x takes 18 MB") != std::string::npos);
        QVERIFY(!fs::exists(folder.path() / "run"));
    }

    void aFinishedShardComesBackBitForBit() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        const ShardResult result = someResult(run.value());
        QVERIFY(run.value().finish(result));
        const auto read = run.value().result(0);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(shardJson(read.value()), shardJson(result));
        QCOMPARE(read.value().answers[0].tokenHash, someAnswer().tokenHash);
        QCOMPARE(read.value().answers[0].decodeMs, someAnswer().decodeMs);
        QCOMPARE(read.value().answers[0].differsAt, std::optional<int>(0));
        QCOMPARE(read.value().answers[0].isEqual, std::optional<bool>(false));
        QCOMPARE(read.value().trials[0].pass, 1);
    }

    void aDamagedShardIsNamedAndCountsAsDamaged() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        QVERIFY(run.value().finish(someResult(run.value())));
        fs::resize_file(run.value().shardFile(0), 40);
        const ShardState state = run.value().state(0);
        QCOMPARE(state.phase, ShardPhase::Damaged);
        QVERIFY(state.problem.find("0000.json") != std::string::npos);
        const auto claim = run.value().claim(0);
        QVERIFY(claim && claim.value());
        QCOMPARE(run.value().state(0).phase, ShardPhase::Running); // it is run again
    }

    void aFailedShardKeepsItsReasonUntilItIsBegunAgain() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        const auto fail = [&] {
            QVERIFY(run.value().fail(0, "There is no layer 99."));
            const auto later = RunFolder::open(folder.path()); // after a restart
            QCOMPARE(later.value().state(0).phase, ShardPhase::Failed);
            QCOMPARE(later.value().state(0).problem, std::string("There is no layer 99."));
            QCOMPARE(later.value().state(1).phase, ShardPhase::Waiting);
        };
        fail();
        {
            auto journal = run.value().begin(0);
            QCOMPARE(run.value().state(0).phase, ShardPhase::Waiting);
            const ShardLeftOut leftOut{.prompt = 0, .reason = "It is too long."};
            QVERIFY(journal.value().add(ShardRecord(leftOut)));
        }
        fail();
        std::vector<ShardRecord> done;
        QVERIFY(run.value().goOn(0, done));
        QCOMPARE(done.size(), std::size_t{1});
        QCOMPARE(run.value().state(0).phase, ShardPhase::Waiting);
        fail();
        QVERIFY(run.value().finish(someResult(run.value())));
        QCOMPARE(run.value().state(0).phase, ShardPhase::Finished);
    }

    void aShardOfAnotherRunIsRefused() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        ShardResult other = someResult(run.value());
        other.runHash = "another";
        QVERIFY(run.value().finish(other));
        QCOMPARE(run.value().state(0).phase, ShardPhase::Damaged);
    }

    void recordsOfAPromptThatThereIsNotAreRefused() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        for (const int prompt : {-1, 2, 99'999'999}) {
            ShardResult result = someResult(run.value());
            result.trials.front().prompt = prompt;
            QVERIFY(run.value().finish(result));
            QCOMPARE(run.value().state(0).phase, ShardPhase::Damaged);
            QCOMPARE(run.value().result(0).error().code, ErrorCode::CorruptFile);
            auto journal = run.value().begin(0);
            QVERIFY(journal.value().add(ShardRecord(someAnswer())));
            QVERIFY(journal.value().add(ShardRecord(result.trials.front())));
            const auto part = run.value().progress(0, 0);
            QCOMPARE(part.value().records.size(), std::size_t{1});
            QVERIFY(part.value().damage.find("the run has 2") != std::string::npos);
        }
    }

    void changedPromptsAreRefused() {
        const TemporaryFolder folder;
        QVERIFY(makeRun(folder.path()));
        append(folder.path() / "data.jsonl", "{\"prompt\":\"More?\"}\n");
        const auto opened = RunFolder::open(folder.path());
        QVERIFY(!opened);
        QVERIFY(opened.error().message.find("changed after the run began") != std::string::npos);
    }

    void aFolderWithoutARunSaysSo() {
        const TemporaryFolder folder;
        const auto opened = RunFolder::open(folder.path());
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, ErrorCode::NotFound);
    }

    void aShardIsClaimedByOneAlone() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        {
            const auto first = run.value().claim(1);
            QVERIFY(first && first.value());
            QCOMPARE(run.value().state(1).phase, ShardPhase::Running);
            const auto second = run.value().claim(1);
            QVERIFY(second && !second.value());
        }
        QCOMPARE(run.value().state(1).phase, ShardPhase::Waiting);
        const auto third = run.value().claim(1);
        QVERIFY(third && third.value());
    }

    void progressIsReadAsItComesAndAHalfLineWaits() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        auto journal = run.value().begin(0);
        QVERIFY(journal);
        QVERIFY(journal.value().add(ShardRecord(someAnswer())));
        const auto first = run.value().progress(0, 0);
        QVERIFY(first);
        QCOMPARE(first.value().records.size(), std::size_t{1});
        append(run.value().partFile(0), "{\"trial\":{\"var");
        const auto second = run.value().progress(0, first.value().next);
        QVERIFY(second);
        QVERIFY(second.value().records.empty());
        QCOMPARE(second.value().next, first.value().next);
        const auto again = run.value().begin(0); // the shard is run again
        QVERIFY(again);
        const auto third = run.value().progress(0, first.value().next);
        QVERIFY(third && third.value().isAnother);
    }

    void aStreamWhoseVariantWasDroppedGoesOnBehindThePromptBefore() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        {
            auto journal = run.value().begin(0);
            for (const int prompt : {0, 1}) { // by vanilla alone
                ShardAnswer answer = someAnswer();
                answer.variant = "vanilla";
                answer.prompt = prompt;
                QVERIFY(journal.value().add(ShardRecord(answer)));
            }
        }
        std::vector<ShardRecord> done;
        QVERIFY(run.value().goOn(0, done));
        QCOMPARE(done.size(), std::size_t{1}); // of the last one others may have followed
    }

    void aStreamGoesOnBeforeALineThatCannotBeRead() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        ShardAnswer vanilla = someAnswer();
        vanilla.variant = "vanilla";
        const auto addBoth = [&](PartJournal& journal, int prompt) {
            for (ShardAnswer answer : {someAnswer(), vanilla}) {
                answer.prompt = prompt;
                QVERIFY(journal.add(ShardRecord(answer)));
            }
        };
        {
            auto journal = run.value().begin(0);
            addBoth(journal.value(), 0);
            append(run.value().partFile(0), "{\"answer\":{\"variant\":5}}\n");
        }
        append(run.value().partFile(0), recordJson(ShardRecord(vanilla)) + "\n");
        QCOMPARE(run.value().resultSoFar(0).value().answers.size(), std::size_t{2});
        const std::string before = support::fileText(run.value().partFile(0));
        std::vector<ShardRecord> done;
        std::string damage;
        auto journal = run.value().goOn(0, done, &damage);
        QVERIFY2(journal, journal ? "" : journal.error().message.c_str());
        auto kept = run.value().partFile(0);
        QCOMPARE(support::fileText(kept.replace_extension("damaged")), before);
        QCOMPARE(done.size(), std::size_t{2});
        QVERIFY2(damage.starts_with("line 4, "), damage.c_str());
        addBoth(journal.value(), 1);
        const auto all = run.value().progress(0, 0);
        QCOMPARE(all.value().records.size(), std::size_t{4});
        QCOMPARE(all.value().damage, std::string());
    }

    void aStreamGoesOnBehindTheLastPromptThatIsDone() {
        const TemporaryFolder folder;
        const auto run = makeRun(folder.path());
        ShardAnswer vanilla = someAnswer();
        vanilla.variant = "vanilla";
        ShardAnswer next = vanilla;
        next.prompt = 1;
        {
            auto journal = run.value().begin(0);
            for (const ShardAnswer& answer : {someAnswer(), vanilla, next})
                QVERIFY(journal.value().add(ShardRecord(answer)));
        }
        append(run.value().partFile(0), "{\"answer\":{\"var"); // killed while it wrote
        for (int resumed = 0; resumed < 2; ++resumed) {
            std::vector<ShardRecord> done;
            auto journal = run.value().goOn(0, done);
            QVERIFY(journal);
            QCOMPARE(done.size(), std::size_t{2}); // prompt 1 lacks the other variant's answer
            QVERIFY(journal.value().add(ShardRecord(next)));
            const auto all = run.value().progress(0, 0);
            QVERIFY2(all, all ? "" : all.error().message.c_str());
            QCOMPARE(all.value().records.size(), std::size_t{3});
        }
    }
};

QTEST_GUILESS_MAIN(RunFolderTest)
#include "run_folder_test.moc"
