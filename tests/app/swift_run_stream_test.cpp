// SPDX-License-Identifier: Apache-2.0
// swift-run stream: one decoder and its search over whole data files.
#include "app/exit_codes.h"
#include "engine/session/recording/run_recording.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/program_copy.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using support::ProgramRun;

class SwiftRunStreamTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void eachTaskHasItsOwnSums();
    void theSearchGoesOnFromPromptToPrompt();
    void otherFieldsCanBeNamed();
    void turnsAreAskedBehindTheModelsOwnAnswers();
    void theRecordingHoldsTheRun();
    void whatADecoderShowsIsInTheRecording();
    void aLessonModelIsMadeFromTheModel();
    void theTableNamesTasksAndBadLines();
    void aPromptThatDoesNotFitIsLeftOut();
    void aRunWithoutAnyAnswerIsNoSuccess();
    void aFaultThatIsNotOfThePromptEndsTheRun();
    void badInputIsOneSentence_data();
    void badInputIsOneSentence();
    void ctrlCKeepsWhatIsThere();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QString data(const std::string& lines) const;
    QStringList arguments(const std::string& lines) const;
    ProgramRun stream(const std::string& lines, const QStringList& more) const;
    ProgramRun
    streamWith(const QString& decoder, const std::string& lines, const QStringList& more) const;

    QTemporaryDir m_folder;
};

void SwiftRunStreamTest::initTestCase() {
    qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
    const auto config = support::letterConfig(5);
    auto weights = support::randomWeights(config, 3);
    support::writeFolderModel(path("model").toStdString(), config, weights);
}

QString SwiftRunStreamTest::data(const std::string& lines) const {
    support::writeText(path("data.jsonl").toStdString(), lines);
    return path("data.jsonl");
}

QStringList SwiftRunStreamTest::arguments(const std::string& lines) const {
    return {"stream",
            "--data",
            data(lines),
            "--model",
            path("model"),
            "--backend",
            "plain",
            "--raw",
            "--decoder",
            "swift",
            "--max-tokens",
            "60"};
}

ProgramRun SwiftRunStreamTest::stream(const std::string& lines, const QStringList& more) const {
    return support::runProgram(support::swiftRunPath(), arguments(lines) + more);
}

/// With a decoder that only a copy of the program finds.
ProgramRun SwiftRunStreamTest::streamWith(const QString& decoder,
                                          const std::string& lines,
                                          const QStringList& more) const {
    const QString program = support::copyProgram(TEST_DECODER_DIR, {decoder}, path(decoder));
    QStringList all = arguments(lines);
    all[all.indexOf("swift")] = decoder;
    return support::runProgram(program, all + more);
}

namespace {

const std::string kTwoTasks = "{\"prompt\":\"abc ab\",\"task\":\"left\"}\n"
                              "{\"prompt\":\"da be\",\"task\":\"right\"}\n"
                              "{\"prompt\":8}\n"
                              "{\"prompt\":\"cab dab\",\"task\":\"left\"}\n";

/// A line whose prompt has more than 100 tokens.
std::string longPrompt() {
    std::string text;
    for (int i = 0; i < 200; ++i)
        text += "da ";
    return "{\"prompt\":\"" + text + "\"}\n";
}

} // namespace

void SwiftRunStreamTest::eachTaskHasItsOwnSums() {
    const ProgramRun result = stream(kTwoTasks, {"--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const auto lines = result.jsonLines();
    QCOMPARE(lines.size(), 4);
    const QJsonObject done = lines.last();
    QCOMPARE(done["prompts"].toInt(), 3);
    QCOMPARE(done["bad_lines"].toInt(), 1);
    QCOMPARE(done["incomplete"].toBool(true), false);
    const QJsonValue left = done["tasks"]["left"];
    QCOMPARE(left["prompts"].toInt(), 2);
    QCOMPARE(left["tokens"].toInt(), 120);
    QCOMPARE(done["all"]["tokens"].toInt(), 180);
    QCOMPARE(left["tokens_per_second"].toDouble(),
             left["tokens"].toDouble() / left["decode_ms"].toDouble() * 1e3);
    QVERIFY(left["M"].toDouble() >= 1.0);
    QCOMPARE(left["acceptance"].toDouble(),
             left["accepted"].toDouble() / left["draft_steps"].toDouble());
    // The baseline is measured while running, 2 steps of 64.
    QVERIFY(done["all"]["baseline_tokens"].toInt() >= 2);
    QVERIFY(done["all"]["speedup"].toDouble() > 0.0);
}

void SwiftRunStreamTest::theSearchGoesOnFromPromptToPrompt() {
    std::string lines;
    for (const char* prompt : {"abc ab", "da be", "cab dab", "ee ab"})
        lines += fmt::format("{{\"prompt\":\"{}\",\"task\":\"one\"}}\n", prompt);
    const QStringList search = {
        "--set", "gamma=16", "--set", "rows_per_trial=4", "--set", "search_share=0", "--json"};
    const auto trials = [&](const QStringList& more) {
        return stream(lines, search + more).jsonLines().constLast()["all"]["trials"].toInt();
    };
    const int all = trials({});
    QVERIFY(trials({"--limit", "1"}) > 0);
    QVERIFY(all > trials({"--limit", "1"}));
    QVERIFY(trials({"--set", "optimise=off"}) == 0);
    const QJsonObject done = stream(lines, search).jsonLines().constLast();
    QVERIFY(done["all"]["matchness"].toDouble(-1.0) >= 0.0);
    QVERIFY(done["all"]["r"].toDouble() > 0.0);
}

void SwiftRunStreamTest::otherFieldsCanBeNamed() {
    const QJsonObject done = stream("{\"question\":\"abc\",\"kind\":\"letters\"}\n",
                                    {"--text-field", "question", "--task-field", "kind", "--json"})
                                 .jsonLines()
                                 .constLast();
    QCOMPARE(done["tasks"].toObject().keys(), QStringList{"letters"});
}

void SwiftRunStreamTest::turnsAreAskedBehindTheModelsOwnAnswers() {
    const auto lines = stream("{\"prompt\":[\"abc\",\"da be\"]}\n", {"--json"}).jsonLines();
    QCOMPARE(lines.first()["tokens"].toInt(), 120); // two answers
    QCOMPARE(lines.last()["prompts"].toInt(), 1);
}

void SwiftRunStreamTest::theRecordingHoldsTheRun() {
    const ProgramRun result = stream(kTwoTasks, {"--out", path("run.swiftrun")});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    auto reader = engine::RunReader::open(path("run.swiftrun").toStdString());
    QVERIFY(reader.hasValue());
    int finishedCount = 0;
    std::size_t tokenCount = 0;
    while (true) {
        auto event = reader.value().next();
        QVERIFY2(event.hasValue(), event ? "" : event.error().message.c_str());
        if (!event.value())
            break;
        if (event.value()->as<engine::PromptFinished>() != nullptr)
            ++finishedCount;
        if (const auto* step = event.value()->as<engine::StepFinished>())
            tokenCount += step->tokens.size();
    }
    QCOMPARE(finishedCount, 3);
    QCOMPARE(tokenCount, std::size_t{180});
}

void SwiftRunStreamTest::whatADecoderShowsIsInTheRecording() {
    const ProgramRun result = streamWith(
        "showing", "{\"prompt\":\"abc ab\"}\n", {"--out", path("shown.swiftrun"), "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY(result.jsonLines().last().value("all")["tokens_per_layer"].toDouble() > 0.0);
    auto reader = engine::RunReader::open(path("shown.swiftrun").toStdString());
    QVERIFY(reader.hasValue());
    int shown = 0;
    for (auto event = reader.value().next(); event && event.value();
         event = reader.value().next()) {
        if (const auto* plan = event.value()->as<engine::PlanChanged>())
            QCOMPARE(plan->plan.exitAfterLayer, 2);
        const auto* step = event.value()->as<engine::StepFinished>();
        if (step == nullptr || step->tables.empty())
            continue;
        ++shown;
        QCOMPARE(step->sides.size(), std::size_t{step->draft.empty() ? 5U : 10U});
        QCOMPARE(step->sideTexts.size(), step->sides.size());
        QVERIFY(!step->sideTexts.front().empty());
        QCOMPARE(step->tables.size(), std::size_t{2});
        QCOMPARE(step->tables[1].chosenRow, 2);
        QCOMPARE(step->verifyLayers, 5.0);
        QCOMPARE(step->draftLayers, 3.0 * static_cast<double>(step->confidences.size()));
    }
    QVERIFY(shown > 5);
}

void SwiftRunStreamTest::aLessonModelIsMadeFromTheModel() {
    const ProgramRun result = stream(
        "{\"prompt\":\"abc\"}\n", {"--planted", "--limit", "1", "--out", path("twice.swiftrun")});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    auto reader = engine::RunReader::open(path("twice.swiftrun").toStdString());
    QVERIFY(reader.hasValue());
    int layers = 0;
    for (auto event = reader.value().next(); event && event.value(); event = reader.value().next())
        if (const auto* loaded = event.value()->as<engine::ModelLoaded>())
            layers = loaded->model.layerCount;
    QCOMPARE(layers, 10); // of 5
}

void SwiftRunStreamTest::theTableNamesTasksAndBadLines() {
    const ProgramRun result = stream(kTwoTasks, {});
    QCOMPARE(result.exitCode, 0);
    for (const char* part :
         {"left", "right", "all", "speedup", "accepted/drafted", "trials", "1 bad line and"})
        QVERIFY2(result.output.contains(part), result.output.constData());
    QVERIFY(result.errors.contains("line 3"));
    const ProgramRun odd = stream("{\"prompt\":\"abc ab\",\"task\":\"two\\nlines\"}\n", {});
    QVERIFY2(odd.output.contains("two?lines "), odd.output.constData()); // a task is one row
}

void SwiftRunStreamTest::aPromptThatDoesNotFitIsLeftOut() {
    const ProgramRun result =
        stream(longPrompt() + "{\"prompt\":\"ab\"}\n", {"--context", "100", "--json"});
    QCOMPARE(result.exitCode, 0);
    QCOMPARE(result.jsonLines().constLast()["left_out"].toInt(), 1);
    QCOMPARE(result.jsonLines().constLast()["prompts"].toInt(), 1);
    QVERIFY(result.errors.contains("line 1 was skipped"));
}

void SwiftRunStreamTest::aRunWithoutAnyAnswerIsNoSuccess() {
    const ProgramRun result = stream(longPrompt() + longPrompt(), {"--context", "100", "--json"});
    QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
    QVERIFY2(result.errors.contains("line 2 was skipped"), result.errors.constData());
    QVERIFY2(result.errors.contains("No prompt was answered."), result.errors.constData());
    const auto lines = result.jsonLines();
    QCOMPARE(lines[lines.size() - 2]["left_out"].toInt(), 2);
}

void SwiftRunStreamTest::aFaultThatIsNotOfThePromptEndsTheRun() {
    const ProgramRun result = streamWith("faulty",
                                         "{\"prompt\":\"abc ab\"}\n{\"prompt\":\"da be\"}\n",
                                         {"--set", "fault=step", "--json"});
    QVERIFY2(result.exitCode == app::kBug, result.errors.constData());
    QVERIFY2(result.errors.contains("the fault in step"), result.errors.constData());
    QVERIFY2(!result.errors.contains("was skipped"), result.errors.constData());
    const auto lines = result.jsonLines();
    QCOMPARE(lines[lines.size() - 2]["incomplete"].toBool(), true);
}

void SwiftRunStreamTest::badInputIsOneSentence_data() {
    QTest::addColumn<QString>("lines");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const QString good = "{\"prompt\":\"abc\"}\n";
    const int usage = app::kUsage;
    const int missing = app::kNotFound;
    QTest::newRow("empty") << "" << QStringList{} << usage << QStringList{"holds no prompts"};
    QTest::newRow("only bad lines") << "x\n" << QStringList{} << usage << QStringList{"line 1"};
    QTest::newRow("missing file") << good << QStringList{"--data", "nowhere.jsonl"} << missing
                                  << QStringList{"nowhere.jsonl"};
    QTest::newRow("setting") << good << QStringList{"--set", "r=3"} << usage
                             << QStringList{"The setting r is"};
    QTest::newRow("recording") << good << QStringList{"--out", "nowhere/run.swiftrun"} << missing
                               << QStringList{"nowhere", "run.swiftrun"};
    QTest::newRow("backend") << good << QStringList{"--precision", "float8"} << usage
                             << QStringList{"float8"};
    QTest::newRow("context") << good << QStringList{"--context", "100000"} << usage
                             << QStringList{"100000"};
}

void SwiftRunStreamTest::badInputIsOneSentence() {
    QFETCH(QString, lines);
    QFETCH(QStringList, more);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    const ProgramRun result = stream(lines.toStdString(), more);
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    QVERIFY2(result.output.isEmpty(), result.output.constData());
    for (const QString& part : named)
        QVERIFY2(result.errors.contains(part.toUtf8()), result.errors.constData());
}

void SwiftRunStreamTest::ctrlCKeepsWhatIsThere() {
    std::string lines;
    for (int i = 0; i < 20'000; ++i)
        lines += "{\"prompt\":\"abc ab\"}\n";
    QProcess process;
    process.start(support::swiftRunPath(), arguments(lines) + QStringList{"--json"});
    QVERIFY(process.waitForReadyRead(-1)); // the first prompt is done
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(-1));
    QCOMPARE(process.exitCode(), static_cast<int>(app::kCancelled));
    const QList<QByteArray> printed = process.readAllStandardOutput().trimmed().split('\n');
    const QJsonObject done = QJsonDocument::fromJson(printed[printed.size() - 2]).object();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["incomplete"].toBool(), true);
    QVERIFY(done["prompts"].toInt() > 0 && done["prompts"].toInt() < 20'000);
}

QTEST_GUILESS_MAIN(SwiftRunStreamTest)
#include "swift_run_stream_test.moc"
