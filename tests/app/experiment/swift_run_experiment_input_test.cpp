// SPDX-License-Identifier: Apache-2.0
// swift-run experiment: what is refused, what a run would cost, and the program's own recipes.
#include "tests/app/experiment/experiment_folder.h"
#include "tests/support/programs/program_copy.h"

#include <QJsonArray>
#include <QRegularExpression>
#include <QTest>

using support::bytesOf;
using support::countOf;
using support::ExperimentFolder;
using support::kSmallRecipe;
using support::kTinyModel;
using support::kTwoTaskPrompts;
using support::ProgramRun;

namespace {

/// A search that decodes with every set, and no answers.
QByteArray searchOf(int trials) {
    QByteArray recipe = R"({
      "format": "swift-experiment", "version": 1, "name": "find", "title": "Find",
      "summary": "It searches.",
      "stages": [{"name": "find", "baseline": false, "twice": false, "variants": [
        {"name": "found", "search": {"method": "self_sd", "trials": TRIALS, "max_tokens": 8}}]}],
      "sizes": {"quick": {"prompts_per_task": 1, "max_tokens": 8}},
      "verdict": {"kind": "none"}
    })";
    recipe.replace("TRIALS", QByteArray::number(trials));
    return recipe;
}

} // namespace

class SwiftRunExperimentInputTest : public QObject {
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<ExperimentFolder>(); }

    void aPreviewCountsAndRunsNothing();
    void aPreviewCountsTheTimeToReadThePrompts();
    void aPreviewTakesTheTimeOfEachDecoder();
    void aPreviewCountsWhatEverySetOfASearchReads();
    void aPreviewOfSecondsDoesNotSayAbout();
    void aPreviewPassesOverPromptsThatDoNotFit();
    void optionsThatARunsRecipeBringsAreNamed();
    void badInputIsOneSentence_data();
    void badInputIsOneSentence();
    void withoutDataTheExamplesAreUsedAndNamed();
    void whereThereAreNoExamplesDataMustBeNamed();
    void withoutSlurmNoRunIsBegunOnACluster();
    void anotherRunsFolderIsNotTouched();
    void whatARunReadsIsNotReplaced();
    void whatAResumeAloneCannotUseIsNamed();
    void theOrderThatTheUserAsksForCountsMoreThanTheRecipes();
    void aModelWhoseNameIsNotUtf8IsRefused();
    void everyRecipeOfTheProgramFindsItsDecodersAndSettings();

private:
    std::unique_ptr<ExperimentFolder> m_folder;
};

void SwiftRunExperimentInputTest::aPreviewCountsAndRunsNothing() {
    const ProgramRun run = m_folder->run({"--preview"});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const QJsonObject line = run.jsonLines().back();
    QCOMPARE(line["answers"].toInt(), 2 * 2 * 3 * 2);
    QCOMPARE(line["shards"].toInt(), 2);
    QCOMPARE(line["tokens"].toInt(), 3 * 2 * 8 * 5); // four prompts with five turns
    QVERIFY(line["minutes"].toDouble() > 0.0);
    QVERIFY(!QFile::exists(m_folder->out()));
}

void SwiftRunExperimentInputTest::aPreviewCountsTheTimeToReadThePrompts() {
    const QByteArray prompt = "the" + QByteArray(" the").repeated(299);
    const ProgramRun run = ExperimentFolder::experiment(
        {m_folder->write("mine.swiftexp", kSmallRecipe),
         "--preview",
         "--data",
         m_folder->write("long.jsonl", "{\"prompt\":\"" + prompt + "\",\"task\":\"a\"}\n"),
         "--model",
         kTinyModel,
         "--backend",
         "plain",
         "--raw",
         "--json"});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const QJsonObject line = run.jsonLines().back();
    QVERIFY(line["prompt_tokens"].toDouble() > 30.0 * line["tokens"].toDouble());
    const double answering = line["tokens"].toDouble() / line["tokens_per_second"].toDouble();
    QVERIFY(line["minutes"].toDouble() * 60.0 > 2.0 * answering);
}

/// Rows cost the plain backend as much as passes, and lookahead has many of them.
void SwiftRunExperimentInputTest::aPreviewTakesTheTimeOfEachDecoder() {
    QByteArray recipe = kSmallRecipe;
    recipe.replace(R"({"name": "lookup", "decoder": "lookup"},)", "");
    recipe.replace(R"("decoder": "swift", "settings": {"r": 0.3})",
                   R"("decoder": "lookahead", "settings": {"w": 15, "n": 5, "g": 5})");
    const ProgramRun run = m_folder->run({"--preview", "--max-tokens", "64"}, recipe);
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    const QJsonObject line = run.jsonLines().back();
    const double byVanilla = line["tokens"].toDouble() / line["tokens_per_second"].toDouble();
    QVERIFY2(line["minutes"].toDouble() * 60.0 > 2.0 * byVanilla, run.output.constData());
}

void SwiftRunExperimentInputTest::aPreviewCountsWhatEverySetOfASearchReads() {
    const ProgramRun four = m_folder->run({"--preview"}, searchOf(4));
    QVERIFY2(four.exitCode == app::kSuccess, four.errors.constData());
    const ProgramRun one = m_folder->run({"--preview"}, searchOf(1));
    QVERIFY2(one.exitCode == app::kSuccess, one.errors.constData());
    constexpr int probes = 3; // sets that are tried before the trials
    const auto told = [](const ProgramRun& run, const QString& name) {
        const QJsonObject line = run.jsonLines().back();
        return line[name].toInt();
    };
    QCOMPARE(told(four, "tokens"), (4 + probes) * 2 * 8);
    QVERIFY(told(one, "prompt_tokens") > 0);
    QCOMPARE(told(four, "prompt_tokens") * (1 + probes), told(one, "prompt_tokens") * (4 + probes));
}

void SwiftRunExperimentInputTest::aPreviewOfSecondsDoesNotSayAbout() {
    const ProgramRun run = ExperimentFolder::experiment(m_folder->arguments({"--preview"}).mid(1));
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    QVERIFY2(run.output.contains("; less than a minute if all of it runs on this machine"),
             run.output.constData());
    QVERIFY(!run.output.contains(" 0 tokens/s"));
}

void SwiftRunExperimentInputTest::aPreviewPassesOverPromptsThatDoNotFit() {
    const auto preview = [this](const QByteArray& prompts, const QStringList& more = {"--json"}) {
        return ExperimentFolder::experiment(
            QStringList{m_folder->write("mine.swiftexp", kSmallRecipe),
                        "--preview",
                        "--data",
                        m_folder->write("some.jsonl", prompts),
                        "--model",
                        kTinyModel,
                        "--backend",
                        "plain",
                        "--context",
                        "64"} +
            more);
    };
    const QByteArray longest = "{\"prompt\":\"" + QByteArray(4000, 'x') + "\",\"task\":\"a\"}\n";
    const QByteArray other = "{\"prompt\":\"Hello world\",\"task\":\"b\"}\n";
    const ProgramRun both = preview(longest + other);
    QVERIFY2(both.exitCode == app::kSuccess, both.errors.constData());
    const ProgramRun alone = preview(other);
    const auto answers = [](const ProgramRun& run) {
        return run.jsonLines().back()["answers"].toInt();
    };
    QVERIFY(answers(alone) > 0);
    QCOMPARE(answers(both), answers(alone));
    const ProgramRun none = preview(longest, {});
    QCOMPARE(none.exitCode, int{app::kUsage});
    QVERIFY2(none.errors.contains("the context holds 64"), none.errors.constData());
}

void SwiftRunExperimentInputTest::optionsThatARunsRecipeBringsAreNamed() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const ProgramRun again = ExperimentFolder::experiment({m_folder->out() + "/recipe.json",
                                                           "--data",
                                                           m_folder->out() + "/data.jsonl",
                                                           "--out",
                                                           m_folder->out("again"),
                                                           "--seed",
                                                           "5",
                                                           "--threads",
                                                           "1"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QVERIFY2(again.errors.contains("these options are not used: --seed, --threads."),
             again.errors.constData());
}

void SwiftRunExperimentInputTest::badInputIsOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const auto row =
        [](const char* name, const QStringList& arguments, int code, const QStringList& named) {
            QTest::newRow(name) << arguments << code << named;
        };
    row("nothing", {}, app::kUsage, {"No recipe was named", "--list"});
    row("no folder", {"ablation", "--data", "DATA"}, app::kUsage, {"--out"});
    row("unknown recipe",
        {"ablatoin", "--data", "DATA", "--out", "OUT"},
        app::kNotFound,
        {"ablatoin", "Did you mean ablation?"});
    row("unknown size",
        {"MINE", "--data", "DATA", "--out", "OUT", "--size", "large"},
        app::kUsage,
        {"no size \"large\"", "quick"});
    row("no run", {"--resume", "--out", "OUT"}, app::kNotFound, {"holds no run"});
    row("no data file",
        {"MINE", "--data", "none.jsonl", "--out", "OUT"},
        app::kNotFound,
        {"none.jsonl"});
    row("no model",
        {"MINE", "--data", "DATA", "--out", "OUT", "--model", "none.gguf"},
        app::kNotFound,
        {"none.gguf"});
    row("no draft adapter",
        {"MINE", "--data", "DATA", "--out", "OUT", "--draft-adapter", "none.safetensors"},
        app::kNotFound,
        {"none.safetensors"});
    row("no backend",
        {"MINE", "--data", "DATA", "--out", "OUT", "--model", kTinyModel, "--backend", "cpux"},
        app::kNotFound,
        {"cpux"});
    row("a long context",
        {"MINE", "--data", "DATA", "--out", "OUT", "--context", "9999999"},
        app::kUsage,
        {"9999999", "Leave out --context"});
    row("a file", {"MINE", "--data", "DATA", "--out", "DATA"}, app::kUsage, {"is not a folder"});
    row("one model",
        {"scaling", "--data", "DATA", "--out", "OUT"},
        app::kUsage,
        {"compares 2 models", "--and-model"});
    row("unknown decoder",
        {"WRONG", "--data", "DATA", "--out", "OUT"},
        app::kNotFound,
        {"The variant lookup cannot run", "lokup"});
    row("a cluster's option here",
        {"MINE", "--data", "DATA", "--out", "OUT", "--slurm-cpus", "2"},
        app::kUsage,
        {"Options of a cluster", "--executor slurm"});
    row("an argument of ours",
        {"MINE",
         "--data",
         "DATA",
         "--out",
         "OUT",
         "--executor",
         "slurm",
         "--slurm-argument=--array=3"},
        app::kUsage,
        {"--array=3"});
}

void SwiftRunExperimentInputTest::badInputIsOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(const int, exitCode);
    QFETCH(const QStringList, named);
    QByteArray wrong = kSmallRecipe;
    wrong.replace("\"decoder\": \"lookup\"", "\"decoder\": \"lokup\"");
    arguments.replaceInStrings(QRegularExpression("^DATA$"),
                               m_folder->write("prompts.jsonl", kTwoTaskPrompts));
    arguments.replaceInStrings(QRegularExpression("^MINE$"),
                               m_folder->write("mine.swiftexp", kSmallRecipe));
    arguments.replaceInStrings(QRegularExpression("^WRONG$"),
                               m_folder->write("wrong.swiftexp", wrong));
    arguments.replaceInStrings(QRegularExpression("^OUT$"), m_folder->out());
    if (!arguments.contains("--model") && !arguments.isEmpty())
        arguments += {"--model", kTinyModel, "--backend", "plain"};
    support::expectRefusal(ExperimentFolder::experiment(arguments), exitCode, named);
    QVERIFY(!QFile::exists(m_folder->out()));
}

void SwiftRunExperimentInputTest::withoutDataTheExamplesAreUsedAndNamed() {
    QByteArray recipe = kSmallRecipe;
    recipe.replace("\"stages\"", "\"tasks\": [\"code\", \"question_answering\"], \"stages\"");
    const ProgramRun run = ExperimentFolder::experiment({m_folder->write("mine.swiftexp", recipe),
                                                         "--prompts",
                                                         "1",
                                                         "--max-tokens",
                                                         "4",
                                                         "--model",
                                                         kTinyModel,
                                                         "--backend",
                                                         "plain",
                                                         "--out",
                                                         m_folder->out(),
                                                         "--json"});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    QCOMPARE(run.errors.count("the examples are used that come with the program"), 1);
    QStringList files;
    for (const QJsonObject& line : run.jsonLines())
        if (line["event"] == "run")
            for (const QJsonValue file : line["data"].toArray())
                files << file.toString().section('/', -2);
    QCOMPARE(files.size(), 9);
    QCOMPARE(files.front(), QString("examples/code.jsonl"));
    QStringList ids;
    const engine::RunFolder opened = m_folder->opened();
    for (const engine::DataRecord& prompt : opened.prompts())
        ids << QString::fromStdString(prompt.id);
    ids.sort();
    QCOMPARE(ids, QStringList({"example-code-01", "example-question_answering-01"}));
}

void SwiftRunExperimentInputTest::whereThereAreNoExamplesDataMustBeNamed() {
    const QString program = support::copyProgram({}, {}, m_folder->out("elsewhere"));
    support::expectRefusal(support::runProgram(program,
                                               {"experiment",
                                                m_folder->write("mine.swiftexp", kSmallRecipe),
                                                "--model",
                                                kTinyModel,
                                                "--out",
                                                m_folder->out()}),
                           app::kUsage,
                           {"No prompts", "--data"});
}

void SwiftRunExperimentInputTest::withoutSlurmNoRunIsBegunOnACluster() {
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/nowhere");
    const ProgramRun run = m_folder->run({"--out", m_folder->out(), "--executor", "slurm"});
    qputenv("PATH", path);
    QCOMPARE(run.exitCode, int{app::kNotFound});
    QVERIFY2(run.errors.contains("Slurm is not installed here"), run.errors.constData());
    QVERIFY(!QFile::exists(m_folder->out()));
}

void SwiftRunExperimentInputTest::anotherRunsFolderIsNotTouched() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const QByteArray before = bytesOf(m_folder->opened().shardFile(0));
    support::expectRefusal(
        ExperimentFolder::experiment(m_folder->arguments({"--out", m_folder->out()}).mid(1)),
        app::kUsage,
        {"holds a run already", "--resume"});
    support::expectRefusal(
        ExperimentFolder::experiment(
            m_folder->arguments({"--out", m_folder->out(), "--resume", "--seed", "9"}).mid(1)),
        app::kUsage,
        {"begun with another recipe"});
    {
        const auto lead = m_folder->opened().lead();
        QVERIFY(lead);
        support::expectRefusal(ExperimentFolder::experiment({"--resume", "--out", m_folder->out()}),
                               app::kUsage,
                               {"Another process works"});
    }
    QCOMPARE(bytesOf(m_folder->opened().shardFile(0)), before);
}

void SwiftRunExperimentInputTest::whatARunReadsIsNotReplaced() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const QString data = m_folder->out() + "/data.jsonl";
    const QByteArray before = bytesOf(data.toStdString());
    support::expectRefusal(ExperimentFolder::experiment({m_folder->out() + "/recipe.json",
                                                         "--data",
                                                         data,
                                                         "--out",
                                                         m_folder->out(),
                                                         "--overwrite"}),
                           app::kUsage,
                           {"data.jsonl lies in", "--out"});
    QCOMPARE(bytesOf(data.toStdString()), before);
    const QStringList again = m_folder->arguments({"--out", m_folder->out(), "--overwrite"});
    QCOMPARE(ExperimentFolder::experiment(again.mid(1)).exitCode, int{app::kSuccess});
}

void SwiftRunExperimentInputTest::whatAResumeAloneCannotUseIsNamed() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const QStringList resume = {"--resume", "--out", m_folder->out()};
    support::expectRefusal(ExperimentFolder::experiment(
                               resume + QStringList{"--model", kTinyModel, "--max-tokens", "64"}),
                           app::kUsage,
                           {"cannot be used: --max-tokens.", "--data"});
    support::expectRefusal(ExperimentFolder::experiment(QStringList{"ablation"} + resume +
                                                        QStringList{"--order-seed", "2"}),
                           app::kUsage,
                           {"cannot be used: a recipe, --order-seed."});
    QCOMPARE(ExperimentFolder::experiment(resume).exitCode, int{app::kSuccess});
}

void SwiftRunExperimentInputTest::theOrderThatTheUserAsksForCountsMoreThanTheRecipes() {
    QByteArray recipe = kSmallRecipe;
    recipe.replace("\"stages\"", "\"order\": \"by-task\", \"stages\"");
    const auto tasksOf = [&](const QString& folder, const QStringList& more) {
        const ProgramRun run =
            m_folder->run(QStringList{"--out", m_folder->out(folder)} + more, recipe);
        if (run.exitCode != app::kSuccess)
            qFatal("%s", run.errors.constData());
        const engine::RunFolder opened = m_folder->opened(folder);
        std::string tasks;
        for (const engine::DataRecord& prompt : opened.prompts())
            tasks += prompt.task;
        return tasks;
    };
    QCOMPARE(tasksOf("recipe", {}), std::string("aabb"));
    QCOMPARE(tasksOf("user", {"--order", "as-is"}), std::string("abab"));
}

void SwiftRunExperimentInputTest::aModelWhoseNameIsNotUtf8IsRefused() {
    const QStringList arguments = m_folder->arguments({"--out", m_folder->out()});
    const ProgramRun run = support::runProgram(
        "bash",
        QStringList{
            "-c", "exec \"$0\" \"$@\" --and-model $'\\377.gguf'", ExperimentFolder::program()} +
            arguments);
    support::expectRefusal(run, app::kUsage, {"?.gguf is not UTF-8"});
    QVERIFY(!QFile::exists(m_folder->out()));
}

void SwiftRunExperimentInputTest::everyRecipeOfTheProgramFindsItsDecodersAndSettings() {
    const ProgramRun names = ExperimentFolder::experiment({"--list", "--json"});
    QVERIFY2(names.exitCode == app::kSuccess, names.errors.constData());
    QVERIFY(names.jsonLines().size() >= 20);
    QByteArray prompts;
    for (int i = 0; i < 12; ++i)
        prompts += kTwoTaskPrompts;
    const QString data = m_folder->write("many.jsonl", prompts);
    for (const QJsonObject& recipe : names.jsonLines())
        for (const char* size : {"quick", "standard", "paper"}) {
            const QString name = recipe["name"].toString();
            const ProgramRun run = ExperimentFolder::experiment({name,
                                                                 "--preview",
                                                                 "--data",
                                                                 data,
                                                                 "--size",
                                                                 size,
                                                                 "--model",
                                                                 kTinyModel,
                                                                 "--and-model",
                                                                 "planted",
                                                                 "--backend",
                                                                 "plain"});
            QVERIFY2(run.exitCode == app::kSuccess,
                     qPrintable(name + " " + size + ": " + run.errors));
        }
}

QTEST_GUILESS_MAIN(SwiftRunExperimentInputTest)
#include "swift_run_experiment_input_test.moc"
