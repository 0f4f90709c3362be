// SPDX-License-Identifier: Apache-2.0
// swift-run experiment: what a run writes, and going on behind a kill.
#include "engine/base/locks/turn_lock.h"
#include "engine/experiments/report/result_json.h"
#include "tests/app/experiment/experiment_folder.h"
#include "tests/support/models/tiny_folder_model.h"

#include <QTest>

#include <set>

using engine::RunFolder;
using engine::ShardPhase;
using namespace support;

namespace {

/// A search on each task, then every set on every task.
const QByteArray kTwoStages = R"({
  "format": "swift-experiment", "version": 1, "name": "sets", "title": "Sets",
  "summary": "It searches.",
  "stages": [
    {"name": "find", "baseline": false, "twice": false, "variants": [
      {"name": "found", "search": {"method": "self_sd", "trials": 2, "max_tokens": 8,
                                   "by_time": false}}]},
    {"name": "run", "variants": [
      {"name": "set", "decoder": "self_sd", "set_from": "found", "set_task": "each"}]}],
  "sizes": {"quick": {"prompts_per_task": 1, "max_tokens": 8}},
  "verdict": {"kind": "diagonal", "variant": "set"}
})";

const QByteArray kStream = R"({
  "format": "swift-experiment", "version": 1, "name": "along", "title": "Along",
  "summary": "It streams.", "stream": true,
  "stages": [{"name": "run", "split_by_task": false,
              "variants": [{"name": "lookup", "decoder": "lookup"}]}],
  "sizes": {"quick": {"prompts_per_task": 0, "max_tokens": 8}},
  "verdict": {"kind": "gain", "variant": "lookup"}
})";

/// A finished stream as it was when only its first prompts were done, by swift with another set.
void cutBack(const RunFolder& run, int prompts) {
    const auto result = run.result(0).value();
    std::filesystem::remove(run.shardFile(0));
    auto journal = run.begin(0).value();
    const auto first = result.answers.front().prompt;
    for (const auto& answer : result.answers) {
        const auto place = std::find(run.plan().shards[0].prompts.begin(),
                                     run.plan().shards[0].prompts.end(),
                                     answer.prompt) -
                           run.plan().shards[0].prompts.begin();
        if (answer.prompt == first && answer.pass == 0 && answer.variant == "swift") {
            engine::ShardPlan set;
            set.variant = "swift";
            set.task = answer.task;
            set.prompt = first;
            set.attention = {1};
            if (!journal.add(set))
                qFatal("the part file cannot be written");
        }
        if (answer.pass == 0 && place < prompts && !journal.add(answer))
            qFatal("the part file cannot be written");
    }
}

/// The notes of the result in a folder, one behind the other.
QString notesOf(const QString& folder) {
    const auto result = engine::readResultFile((folder + "/result.json").toStdString());
    QString notes = result.value().isComplete ? "complete." : "";
    for (const std::string& note : result.value().notes)
        notes += " " + QString::fromStdString(note);
    return notes;
}

} // namespace

class SwiftRunExperimentTest : public QObject {
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<ExperimentFolder>(); }

    void aRunWritesItsShardsItsResultAndItsReport();
    void everyAnswerOfALosslessDecoderIsEqual();
    void trialsHaveTheirRatioThoughAnotherVariantAnswersInBetween();
    void aFinishedRunIsNotRunAgain();
    void whatWasFinishedBeforeAKillIsNotRunAgain();
    void aRunGoesOnWhereItsModelIsNow();
    void theRecipeOfTheFolderGivesTheSameTokensAgain();
    void aStreamThatIsKilledCountsEachPromptOnce();
    void aStreamHasAReportBeforeItsEndAndSaysWhereItWentOn();
    void theEndOfTheInputStopsAndTheRunGoesOnLater();
    void aPausedRunGoesOnWhenItIsTold();
    void anotherProgramsTurnIsWaitedFor();
    void aSecondStageDraftsWithTheSetsOfTheFirst();
    void oneShardRunsAlone();
    void twoRunsAreSetSideBySide();

private:
    /// A model for letters, whose answers do not end by themselves.
    QString letterModel() const {
        const auto config = support::letterConfig(6);
        auto weights = support::randomWeights(config, 3);
        support::writeFolderModel(m_folder->out("model").toStdString(), config, weights);
        return m_folder->out("model");
    }

    std::unique_ptr<ExperimentFolder> m_folder;
};

void SwiftRunExperimentTest::aRunWritesItsShardsItsResultAndItsReport() {
    const ProgramRun run = m_folder->run({"--out", m_folder->out()});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const RunFolder folder = m_folder->opened();
    QCOMPARE(folder.plan().shards.size(), std::size_t{2});
    for (const auto& state : folder.states())
        QCOMPARE(state.phase, ShardPhase::Finished);
    for (const char* name : {"recipe.json",
                             "plan.json",
                             "data.jsonl",
                             "result.json",
                             "report/report.html",
                             "report/report.md",
                             "report/main.csv"})
        QVERIFY2(QFile::exists(m_folder->out() + "/" + name), name);
    QVERIFY(!std::filesystem::exists(folder.partFile(0)));
    QCOMPARE(countOf(run, "answer"), 2 * 2 * 3 * 2); // tasks, prompts, variants, passes
    QCOMPARE(countOf(run, "shard", "finished"), 2);
    QCOMPARE(countOf(run, "verdict"), 1);
}

void SwiftRunExperimentTest::everyAnswerOfALosslessDecoderIsEqual() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const RunFolder folder = m_folder->opened();
    for (const auto& shard : folder.plan().shards) {
        const auto result = folder.result(shard.index);
        for (const auto& answer : result.value().answers) {
            QCOMPARE(answer.isEqual.has_value(), answer.variant != "vanilla");
            QVERIFY(answer.isEqual.value_or(true));
            QVERIFY(answer.tokens > 0);
            QVERIFY(answer.decodeMs > 0.0);
            long drafted = 0; // every token has a drafter, or was a plain step
            for (const auto& [drafter, tokens] : answer.drafters)
                drafted += tokens;
            QCOMPARE(drafted, answer.tokens);
            QCOMPARE(answer.draftedUntil == 0,
                     answer.drafters.contains("none") && answer.drafters.size() == 1);
            for (const char* wrong : {"exit", answer.variant == "lookup" ? "skip" : "free"})
                QVERIFY(!answer.drafters.contains(wrong));
        }
    }
}

void SwiftRunExperimentTest::trialsHaveTheirRatioThoughAnotherVariantAnswersInBetween() {
    QByteArray recipe = kSmallRecipe;
    recipe.replace(R"({"r": 0.3})", R"({"profile": "paper", "r": 0.3, "gamma": 8})");
    const QByteArray prompts = "{\"prompt\":\"abc ab\",\"task\":\"a\"}\n"
                               "{\"prompt\":\"da be\",\"task\":\"a\"}\n";
    const ProgramRun run = ExperimentFolder::experiment({m_folder->write("mine.swiftexp", recipe),
                                                         "--data",
                                                         m_folder->write("prompts.jsonl", prompts),
                                                         "--model",
                                                         letterModel(),
                                                         "--backend",
                                                         "plain",
                                                         "--raw",
                                                         "--max-tokens",
                                                         "48",
                                                         "--out",
                                                         m_folder->out()});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    std::set<int> tried;
    std::set<int> passes;
    const auto result = m_folder->opened().result(0).value();
    for (const auto& trial : result.trials) {
        tried.insert(trial.prompt);
        passes.insert(trial.pass);
        QVERIFY(trial.ratio > 0.0);
    }
    QCOMPARE(tried.size(), std::size_t{2}); // also behind another variant's answer
    QCOMPARE(passes, (std::set<int>{0, 1}));
}

void SwiftRunExperimentTest::aFinishedRunIsNotRunAgain() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const QByteArray before = bytesOf(m_folder->opened().shardFile(0));
    const ProgramRun again = m_folder->run({"--out", m_folder->out(), "--resume"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QCOMPARE(countOf(again, "answer"), 0);
    const ProgramRun alone =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(alone.exitCode == app::kSuccess, alone.errors.constData());
    QCOMPARE(countOf(alone, "shard"), 0);
    QCOMPARE(bytesOf(m_folder->opened().shardFile(0)), before);
    support::expectRefusal(ExperimentFolder::experiment(
                               {kTinyModel + ".json", "--data", "x", "--out", m_folder->out()}),
                           app::kNotFound,
                           {"tiny.gguf.json"});
}

void SwiftRunExperimentTest::whatWasFinishedBeforeAKillIsNotRunAgain() {
    QProcess process;
    process.start(ExperimentFolder::program(),
                  m_folder->arguments({"--out", m_folder->out(), "--max-tokens", "64", "--json"}));
    QByteArray told;
    while (!told.contains("\"finished\",\"stage\"") && process.waitForReadyRead(-1))
        told += process.readAllStandardOutput();
    process.kill();
    process.waitForFinished(-1);
    const RunFolder folder = m_folder->opened();
    QCOMPARE(folder.state(0).phase, ShardPhase::Finished);
    const QByteArray before = bytesOf(folder.shardFile(0));
    const ProgramRun again =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QCOMPARE(bytesOf(folder.shardFile(0)), before);
    for (const auto& state : folder.states())
        QCOMPARE(state.phase, ShardPhase::Finished);
    QCOMPARE(hashesOf(folder).size(), std::size_t{2 * 2 * 3 * 2});
}

void SwiftRunExperimentTest::aRunGoesOnWhereItsModelIsNow() {
    const QString before = m_folder->out("before.gguf");
    const QString now = m_folder->out("now.gguf");
    QVERIFY(QFile::copy(kTinyModel, before));
    const ProgramRun run =
        ExperimentFolder::experiment({m_folder->write("mine.swiftexp", kSmallRecipe),
                                      "--data",
                                      m_folder->write("prompts.jsonl", kTwoTaskPrompts),
                                      "--model",
                                      before,
                                      "--backend",
                                      "plain",
                                      "--out",
                                      m_folder->out()});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const auto hashes = hashesOf(m_folder->opened());
    const auto losePart = [this] { std::filesystem::remove(m_folder->opened().shardFile(0)); };
    losePart();
    QVERIFY(QFile::rename(before, now));
    const QStringList resume = {"--resume", "--out", m_folder->out()};
    const ProgramRun lost = ExperimentFolder::experiment(resume);
    QCOMPARE(lost.exitCode, int{app::kNotFound});
    QVERIFY2(lost.errors.contains("no longer at") && lost.errors.contains("before.gguf"),
             lost.errors.constData());
    support::expectRefusal(
        ExperimentFolder::experiment(resume + QStringList{"--model", letterModel()}),
        app::kUsage,
        {"not the one with which the run"});
    const ProgramRun again = ExperimentFolder::experiment(resume + QStringList{"--model", now});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    losePart();
    const ProgramRun later = ExperimentFolder::experiment(resume); // it knows the place now
    QVERIFY2(later.exitCode == app::kSuccess, later.errors.constData());
    QCOMPARE(hashesOf(m_folder->opened()), hashes);
}

void SwiftRunExperimentTest::theRecipeOfTheFolderGivesTheSameTokensAgain() {
    const ProgramRun first =
        m_folder->run({"--out", m_folder->out(), "--seed", "5", "--max-tokens", "12"});
    QVERIFY2(first.exitCode == app::kSuccess, first.errors.constData());
    const ProgramRun second = ExperimentFolder::experiment({m_folder->out() + "/recipe.json",
                                                            "--data",
                                                            m_folder->out() + "/data.jsonl",
                                                            "--out",
                                                            m_folder->out("again")});
    QVERIFY2(second.exitCode == app::kSuccess, second.errors.constData());
    QCOMPARE(m_folder->opened("again").plan().runHash, m_folder->opened().plan().runHash);
    QCOMPARE(hashesOf(m_folder->opened("again")), hashesOf(m_folder->opened()));
}

void SwiftRunExperimentTest::aStreamThatIsKilledCountsEachPromptOnce() {
    QProcess process;
    process.start(
        ExperimentFolder::program(),
        m_folder->arguments({"--out", m_folder->out(), "--max-tokens", "64", "--json"}, kStream));
    QByteArray told;
    while (told.count("\"answer\"") < 3 && process.waitForReadyRead(-1))
        told += process.readAllStandardOutput();
    process.kill();
    process.waitForFinished(-1);
    const ProgramRun again =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QVERIFY(countOf(again, "answer") < 9); // four prompts by two: some were done before
    const auto result = m_folder->opened().result(0).value();
    std::multiset<std::pair<std::string, int>> counted;
    for (const auto& answer : result.answers)
        if (answer.pass == 0)
            counted.emplace(answer.variant, answer.prompt);
    QCOMPARE(result.answers.size(), std::size_t{9});
    QCOMPARE(result.answers.back().variant, std::string("vanilla")); // at the end of the block
    QCOMPARE(result.answers.back().prompt, result.answers.front().prompt);
    QCOMPARE(result.answers.back().tokenHash,
             hashesOf(m_folder->opened())[fmt::format(
                 "vanilla {} {} 0", result.answers.front().task, result.answers.front().prompt)]);
    QCOMPARE(counted.size(), std::size_t{8});
    for (int prompt = 0; prompt < 4; ++prompt)
        for (const char* variant : {"vanilla", "lookup"})
            QCOMPARE(counted.count({variant, prompt}), std::size_t{1});
}

void SwiftRunExperimentTest::aStreamHasAReportBeforeItsEndAndSaysWhereItWentOn() {
    QByteArray recipe = kStream;
    recipe.replace(R"({"name": "lookup", "decoder": "lookup"})",
                   R"({"name": "swift", "decoder": "swift",
                       "settings": {"optimise": "off", "lower_below": 0, "restart_drop": 0}})");
    recipe.replace(R"("variant": "lookup")", R"("variant": "swift")");
    const QByteArray prompts = "{\"prompt\":\"abc ab\",\"task\":\"a\"}\n"
                               "{\"prompt\":\"da be\",\"task\":\"a\"}\n"
                               "{\"prompt\":\"cab\",\"task\":\"b\"}\n"
                               "{\"prompt\":\"ee ab\",\"task\":\"b\"}\n";
    const ProgramRun whole =
        ExperimentFolder::experiment({m_folder->write("mine.swiftexp", recipe),
                                      "--data",
                                      m_folder->write("prompts.jsonl", prompts),
                                      "--model",
                                      letterModel(),
                                      "--backend",
                                      "plain",
                                      "--raw",
                                      "--out",
                                      m_folder->out()});
    QVERIFY2(whole.exitCode == app::kSuccess, whole.errors.constData());
    QCOMPARE(notesOf(m_folder->out()).contains("went on"), false);
    const RunFolder folder = m_folder->opened();
    const auto before = hashesOf(folder);
    cutBack(folder, 2);
    const ProgramRun merged = ExperimentFolder::experiment({"--merge", "--out", m_folder->out()});
    QVERIFY2(merged.exitCode == app::kSuccess, merged.errors.constData());
    QVERIFY2(notesOf(m_folder->out())
                 .startsWith(" The stream is not finished: everything here "
                             "is measured on 2 of its 4 prompts."),
             qPrintable(notesOf(m_folder->out())));
    QVERIFY(QFile::exists(m_folder->out() + "/report/report.html"));
    const ProgramRun again =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QCOMPARE(countOf(again, "answer"), 2 * 2 + 1); // and the end of the block
    QVERIFY2(notesOf(m_folder->out()).contains("went on at prompt 3 of 4"),
             qPrintable(notesOf(m_folder->out())));
    QVERIFY(notesOf(m_folder->out()).startsWith("complete."));
    QCOMPARE(hashesOf(folder), before);
    const auto result = folder.result(0).value();
    QCOMPARE(result.resumed.size(), std::size_t{1});
    QCOMPARE(result.resumed[0].prompt, folder.plan().shards[0].prompts[2]);
    // What the decoder begins with is the set that it had.
    QVERIFY(result.plans.size() > 1);
    QCOMPARE(result.plans[1].prompt, result.resumed[0].prompt);
    QCOMPARE(result.plans[1].attention, std::vector<int>{1});
    QVERIFY(result.plans[1].mlp.empty());
}

void SwiftRunExperimentTest::theEndOfTheInputStopsAndTheRunGoesOnLater() {
    QProcess process;
    process.start(ExperimentFolder::program(),
                  m_folder->arguments(
                      {"--out", m_folder->out(), "--seeds", "20", "--control", "stdin", "--json"}));
    while (!process.readAllStandardOutput().contains("\"answer\"") &&
           process.waitForReadyRead(-1)) {
    }
    process.closeWriteChannel();
    process.waitForFinished(-1);
    QCOMPARE(process.exitCode(), int{app::kCancelled});
    const ProgramRun again =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
}

void SwiftRunExperimentTest::aPausedRunGoesOnWhenItIsTold() {
    QProcess process;
    process.start(ExperimentFolder::program(),
                  m_folder->arguments({"--out", m_folder->out(), "--control", "stdin", "--json"}));
    process.write("pause\nnonsense\n");
    process.waitForStarted(-1);
    process.write("resume\n");
    process.waitForBytesWritten(-1);
    QByteArray told;
    while (!told.contains("\"verdict\"") && process.waitForReadyRead(-1))
        told += process.readAllStandardOutput();
    process.closeWriteChannel();
    process.waitForFinished(-1);
    QVERIFY2(told.contains("\"verdict\""), process.readAllStandardError().constData());
    for (const auto& state : m_folder->opened().states())
        QCOMPARE(state.phase, ShardPhase::Finished);
}

void SwiftRunExperimentTest::anotherProgramsTurnIsWaitedFor() {
    auto lock = engine::TurnLock::open(m_folder->out("turns").toStdString());
    QVERIFY(lock);
    auto turn = lock.value().take();
    QVERIFY(turn && turn.value());
    QProcess process;
    process.start(ExperimentFolder::program(),
                  m_folder->arguments(
                      {"--out", m_folder->out(), "--turns", m_folder->out("turns"), "--json"}));
    QByteArray told;
    while (!told.contains("\"running\"") && process.waitForReadyRead(-1))
        told += process.readAllStandardOutput();
    QVERIFY(!told.contains("\"answer\""));
    turn.value().reset();
    process.waitForFinished(-1);
    told += process.readAllStandardOutput();
    QCOMPARE(process.exitCode(), int{app::kSuccess});
    QCOMPARE(told.count("\"answer\""), qsizetype{2 * 2 * 3 * 2});
}

void SwiftRunExperimentTest::aSecondStageDraftsWithTheSetsOfTheFirst() {
    const ProgramRun run = m_folder->run({"--out", m_folder->out()}, kTwoStages);
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const RunFolder folder = m_folder->opened();
    QCOMPARE(folder.plan().shards.size(), std::size_t{4});
    QVERIFY(!folder.result(0).value().trials.empty());
    QCOMPARE(folder.result(0).value().plans.back().reason, std::string("found"));
    std::set<std::string> variants;
    const auto last = folder.result(3);
    for (const auto& answer : last.value().answers)
        variants.insert(answer.variant);
    QCOMPARE(variants, (std::set<std::string>{"set of a", "set of b", "vanilla"}));
}

void SwiftRunExperimentTest::oneShardRunsAlone() {
    const ProgramRun run = m_folder->run({"--out", m_folder->out()}, kTwoStages);
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const RunFolder folder = m_folder->opened();
    std::filesystem::remove(folder.shardFile(0));
    std::filesystem::remove(folder.shardFile(2));
    support::expectRefusal(
        ExperimentFolder::experiment({"--run-part", "3", "--out", m_folder->out()}),
        app::kUsage,
        {"Part 3 needs skip sets", ": 1"});
    const ProgramRun first =
        ExperimentFolder::experiment({"--run-part", "1", "--out", m_folder->out()});
    QVERIFY2(first.exitCode == app::kSuccess, first.errors.constData());
    QCOMPARE(folder.state(0).phase, ShardPhase::Finished);
    {
        const auto claim = folder.claim(2);
        QVERIFY(claim && claim.value());
        const ProgramRun busy =
            ExperimentFolder::experiment({"--run-part", "3", "--out", m_folder->out()});
        QVERIFY(busy.errors.contains("left to the process that works on it"));
        QVERIFY(!std::filesystem::exists(folder.shardFile(2)));
    }
    QCOMPARE(ExperimentFolder::experiment({"--run-part", "3", "--out", m_folder->out()}).exitCode,
             int{app::kSuccess});
    const ProgramRun merged = ExperimentFolder::experiment({"--merge", "--out", m_folder->out()});
    QVERIFY2(merged.exitCode == app::kSuccess, merged.errors.constData());
    support::expectRefusal(
        ExperimentFolder::experiment({"--run-part", "5", "--out", m_folder->out()}),
        app::kUsage,
        {"has 4 parts", "no part 5"});
}

void SwiftRunExperimentTest::twoRunsAreSetSideBySide() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    QCOMPARE(m_folder->run({"--out", m_folder->out("other")}).exitCode, int{app::kSuccess});
    const ProgramRun both = ExperimentFolder::experiment(
        {"--compare", m_folder->out(), m_folder->out("other") + "/result.json", "--json"});
    QVERIFY2(both.exitCode == app::kSuccess, both.errors.constData());
    QVERIFY(countOf(both, "row") > 0);
    QCOMPARE(countOf(both, "tokens"), 1);
    for (const QJsonObject& line : both.jsonLines())
        if (line["event"] == "tokens")
            QCOMPARE(line["equal"].toBool(), true);
    support::expectRefusal(
        ExperimentFolder::experiment({"--compare", m_folder->out(), m_folder->out("none")}),
        app::kNotFound,
        {"none"});
}

QTEST_GUILESS_MAIN(SwiftRunExperimentTest)
#include "swift_run_experiment_test.moc"
