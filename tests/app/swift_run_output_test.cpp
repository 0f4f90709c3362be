// SPDX-License-Identifier: Apache-2.0
// What swift-run writes: output that is lost is an error, and no file of the user's is replaced
// that should not be.
#include "app/exit_codes.h"
#include "engine/loading/model_files.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "engine/session/recording/run_recording.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using support::ProgramRun;

namespace {

/// Runs a line of a shell, in which $RUN is the program.
ProgramRun runLine(const QString& line) {
    qputenv("RUN", support::swiftRunPath().toUtf8());
    return support::runProgram("/bin/bash", {"-c", line});
}

QByteArray readFile(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class SwiftRunOutputTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void lostOutputIsAnError_data();
    void lostOutputIsAnError();
    void aClosedStandardOutputIsAnErrorAndNoOtherFileTakesItsPlace();
    void aReaderThatStopsEndsTheProgram();
    void inputThatCannotBeReadIsNotItsEnd_data();
    void inputThatCannotBeReadIsNotItsEnd();
    void whatIsReadIsNeverReplaced_data();
    void whatIsReadIsNeverReplaced();
    void aSchemaIsAmongWhatIsRead();
    void aDraftAdapterIsAmongWhatIsRead_data();
    void aDraftAdapterIsAmongWhatIsRead();
    void foreignFilesAreReplacedOnlyWhenToldSo_data();
    void foreignFilesAreReplacedOnlyWhenToldSo();
    void anEarlierOutputIsReplaced_data();
    void anEarlierOutputIsReplaced();
    void aWrongOptionCostsNoEarlierOutput_data();
    void aWrongOptionCostsNoEarlierOutput();
    void aCollectionIsAddedToAndNothingElse();
    void theNameIsTakenWithTheFirstRecord();
    void whatStoppedTheProgramIsNamed_data();
    void whatStoppedTheProgramIsNamed();
    void sigtermEndsAConversation();
    void ctrlCEndsTheWaitForAPrompt();
    void ctrlCBeforeTheFirstTokenIsNoWrongInput();

private:
    void commandsThatWrite();

    QString path(const QString& name) const { return m_folder.filePath(name); }

    QString write(const QString& name, const QByteArray& bytes) const {
        support::writeText(path(name).toStdString(), bytes.toStdString());
        return path(name);
    }

    ProgramRun run(const QStringList& arguments) const {
        return support::runProgram(support::swiftRunPath(), arguments);
    }

    /// `command` on the test's own model and prompts, writing into `out`.
    QStringList writing(const QString& command, const QString& out) const;

    QTemporaryDir m_folder;
};

void SwiftRunOutputTest::initTestCase() {
    qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
    const auto config = support::letterConfig(5);
    auto weights = support::randomWeights(config, 3);
    support::writeFolderModel(path("model").toStdString(), config, weights);
    write("data.jsonl", "{\"prompt\":\"abc ab\",\"task\":\"letters\"}\n");
    QVERIFY(run(writing("stream", path("run.swiftrun"))).exitCode == 0);
}

QStringList SwiftRunOutputTest::writing(const QString& command, const QString& out) const {
    const QStringList common = {command,
                                "--data",
                                path("data.jsonl"),
                                "--model",
                                path("model"),
                                "--backend",
                                "plain",
                                "--raw",
                                "--max-tokens",
                                "12"};
    if (command == "stream")
        return common + QStringList{"--decoder", "swift", "--out", out};
    if (command == "compare")
        return common + QStringList{"--decoders", "vanilla,lookup", "--csv", out};
    return common +
           QStringList{"--method", "random", "--trials", "2", "--task", "letters", "--out", out};
}

void SwiftRunOutputTest::lostOutputIsAnError_data() {
    QTest::addColumn<QString>("line");
    const QString model = " --model " + path("model") + " ";
    const QString plain = model + "--backend plain ";
    const QString prompt = "--prompt-ids 1,2 --max-tokens 4 ";
    const QString data = plain + "--raw --max-tokens 4 --data " + path("data.jsonl") + " ";
    QTest::newRow("help") << "$RUN --help";
    QTest::newRow("help of a command") << "$RUN generate --help";
    QTest::newRow("version") << "$RUN --version";
    QTest::newRow("generate") << "$RUN generate" + plain + prompt;
    QTest::newRow("generate, json") << "$RUN generate --json" + plain + prompt;
    QTest::newRow("chat") << "echo abc | $RUN chat --decoder vanilla --max-tokens 4" + plain;
    QTest::newRow("decoders") << "$RUN decoders";
    QTest::newRow("forward") << "$RUN forward --ids 1,2" + plain;
    QTest::newRow("lens") << "$RUN lens" + plain + prompt;
    QTest::newRow("library") << "$RUN library list" + model;
    QTest::newRow("recipes") << "$RUN experiment --list";
    QTest::newRow("tokenize") << "echo abc | $RUN tokenize" + model;
    QTest::newRow("detokenize") << "echo 1 | $RUN detokenize" + model;
    QTest::newRow("inspect") << "$RUN inspect " + path("model");
    QTest::newRow("replay") << "$RUN replay " + path("run.swiftrun");
    QTest::newRow("compare") << "$RUN compare --decoders vanilla" + data;
    QTest::newRow("stream") << "$RUN stream --decoder vanilla" + data;
    QTest::newRow("search") << "$RUN search --method random --trials 2 --task letters --max-tokens "
                               "12" +
                                   plain + "--raw --data " + path("data.jsonl") + " --out " +
                                   path("lost.json");
    QTest::newRow("bench") << "$RUN bench --pairs 1 --rows 1 --cached 4 --prefill 4 --roof-mib 1 "
                              "--decoder vanilla --raw --max-tokens 2 --prompts " +
                                  path("data.jsonl") + plain;
}

void SwiftRunOutputTest::lostOutputIsAnError() {
    QFETCH(QString, line);
    const ProgramRun whole = runLine(line);
    QVERIFY2(whole.exitCode == 0 && !whole.output.isEmpty(), whole.errors.constData());
    const ProgramRun lost = runLine(line + " > /dev/full");
    QVERIFY2(lost.exitCode == app::kIo, lost.errors.constData());
    QVERIFY2(lost.errors.contains("Standard output cannot be written: No space"),
             lost.errors.constData());
}

void SwiftRunOutputTest::aClosedStandardOutputIsAnErrorAndNoOtherFileTakesItsPlace() {
    const QString out = path("closed.swiftrun");
    const ProgramRun lost = runLine("$RUN " + writing("stream", out).join(' ') + " <&- >&-");
    QVERIFY2(lost.exitCode == app::kIo, lost.errors.constData());
    QVERIFY(engine::isRecording(out.toStdString())
                .value()); // and nothing was written into it by mistake
    QCOMPARE(run({"replay", out}).exitCode, 0);
}

void SwiftRunOutputTest::aReaderThatStopsEndsTheProgram() {
    // SIGPIPE does, as in other programs; where it is ignored the failed write is told.
    const ProgramRun lost = runLine("(trap '' PIPE; $RUN generate --prompt-ids 1 --max-tokens 60 "
                                    "--backend plain --model " +
                                    path("model") + "; echo code $? >&2) | true");
    QVERIFY2(lost.errors.contains("code 7"), lost.errors.constData());
}

void SwiftRunOutputTest::inputThatCannotBeReadIsNotItsEnd_data() {
    QTest::addColumn<QString>("line");
    const QString model = " --model " + path("model") + " ";
    QTest::newRow("tokenize") << "$RUN tokenize" + model;
    QTest::newRow("detokenize") << "$RUN detokenize" + model;
    QTest::newRow("chat") << "$RUN chat --backend plain --decoder vanilla" + model;
    QTest::newRow("generate") << "$RUN generate --backend plain --prompt-file -" + model;
}

void SwiftRunOutputTest::inputThatCannotBeReadIsNotItsEnd() {
    QFETCH(QString, line);
    for (const QString& input : {" < " + m_folder.path(), QString(" <&-")}) {
        const ProgramRun result = runLine(line + input);
        QVERIFY2(result.exitCode == app::kIo, result.errors.constData());
        QVERIFY2(result.errors.contains("standard input cannot be read"),
                 result.errors.constData());
    }
    QVERIFY(runLine(line + " < /dev/null").exitCode != app::kIo);
}

void SwiftRunOutputTest::commandsThatWrite() {
    QTest::addColumn<QString>("command");
    for (const char* command : {"stream", "compare", "search"})
        QTest::newRow(command) << command;
}

void SwiftRunOutputTest::whatIsReadIsNeverReplaced_data() { commandsThatWrite(); }

void SwiftRunOutputTest::whatIsReadIsNeverReplaced() {
    QFETCH(QString, command);
    const QString link = path("link to the data");
    QFile::link(path("data.jsonl"), link);
    for (const QString& input : {path("data.jsonl"),
                                 link,
                                 path("model/model.safetensors"),
                                 path("model/config.json"),
                                 path("model/../model/tokenizer.json")}) {
        const QByteArray before = readFile(input);
        for (const QStringList& more : {QStringList(), QStringList{"--overwrite"}}) {
            const ProgramRun result = run(writing(command, input) + more);
            QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
            QVERIFY2(result.errors.contains("files that this run reads"),
                     result.errors.constData());
            QCOMPARE(readFile(input), before);
        }
    }
}

void SwiftRunOutputTest::aSchemaIsAmongWhatIsRead() {
    const QByteArray content = "{\"type\":\"object\"}";
    const QString schema = write("schema.json", content);
    for (const char* command : {"stream", "compare"}) { // search takes none
        const ProgramRun result =
            run(writing(command, schema) + QStringList{"--json-schema", schema, "--overwrite"});
        QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
        QVERIFY2(result.errors.contains("files that this run reads"), result.errors.constData());
        QCOMPARE(readFile(schema), content);
    }
}

void SwiftRunOutputTest::aDraftAdapterIsAmongWhatIsRead_data() { commandsThatWrite(); }

void SwiftRunOutputTest::aDraftAdapterIsAmongWhatIsRead() {
    QFETCH(QString, command);
    const QString adapter = write("adapter.safetensors", "weights");
    const ProgramRun result =
        run(writing(command, adapter) + QStringList{"--draft-adapter", adapter, "--overwrite"});
    QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
    QVERIFY2(result.errors.contains("files that this run reads"), result.errors.constData());
    QCOMPARE(readFile(adapter), QByteArray("weights"));
}

void SwiftRunOutputTest::foreignFilesAreReplacedOnlyWhenToldSo_data() { commandsThatWrite(); }

void SwiftRunOutputTest::foreignFilesAreReplacedOnlyWhenToldSo() {
    QFETCH(QString, command);
    // A skip set that somebody wrote by hand is no earlier output either.
    for (const QByteArray& content :
         {QByteArray("Dear diary,\n"), QByteArray("{\"attention\":[1],\"mlp\":[2]}\n")}) {
        const QString file = write("diary-" + command, content);
        const ProgramRun refused = run(writing(command, file));
        QVERIFY2(refused.exitCode == app::kUsage, refused.errors.constData());
        QVERIFY2(refused.errors.contains("--overwrite"), refused.errors.constData());
        QCOMPARE(readFile(file), content);
        // The hint helps.
        const ProgramRun told = run(writing(command, file) + QStringList{"--overwrite"});
        QVERIFY2(told.exitCode == 0, told.errors.constData());
        QVERIFY(readFile(file) != content);
    }
}

void SwiftRunOutputTest::anEarlierOutputIsReplaced_data() { commandsThatWrite(); }

void SwiftRunOutputTest::anEarlierOutputIsReplaced() {
    QFETCH(QString, command);
    const QString file = write("again-" + command, ""); // an empty file is nobody's
    for (int i = 0; i < 3; ++i) {
        const ProgramRun result = run(writing(command, file));
        QVERIFY2(result.exitCode == 0, result.errors.constData());
        QVERIFY(!readFile(file).isEmpty());
    }
    const ProgramRun nowhere = run(writing(command, path("nowhere/out")));
    QVERIFY2(nowhere.exitCode == app::kNotFound, nowhere.errors.constData());
    const ProgramRun folder = run(writing(command, m_folder.path()));
    QVERIFY2(folder.exitCode == app::kUsage, folder.errors.constData());
}

void SwiftRunOutputTest::aWrongOptionCostsNoEarlierOutput_data() { commandsThatWrite(); }

void SwiftRunOutputTest::aWrongOptionCostsNoEarlierOutput() {
    QFETCH(QString, command);
    const QString file = path("kept-" + command);
    QCOMPARE(run(writing(command, file)).exitCode, 0);
    const QByteArray before = readFile(file);
    for (const QStringList& wrong : {QStringList{"--model", path("no model")},
                                     QStringList{"--context", "1000000"},
                                     QStringList{"--precision", "float8"},
                                     QStringList{"--set", "nonsense=1"},
                                     QStringList{"--data", path("no data.jsonl")}}) {
        QStringList arguments = writing(command, file);
        if (wrong.first() == "--model" || wrong.first() == "--data") {
            const auto at = arguments.indexOf(wrong.first());
            arguments[at + 1] = wrong.last();
        } else {
            arguments += wrong;
        }
        const ProgramRun refused = run(arguments + QStringList{"--overwrite"});
        QVERIFY2(refused.exitCode != 0, qPrintable(wrong.join(' ')));
        QVERIFY2(readFile(file) == before, qPrintable(wrong.join(' ')));
    }
}

void SwiftRunOutputTest::aCollectionIsAddedToAndNothingElse() {
    const QStringList entry = {"--entry", "m_letters", "--overwrite"};
    const QString foreign = write("letter.txt", "Dear all,\n");
    const ProgramRun refused = run(writing("search", foreign) + entry);
    QVERIFY2(refused.exitCode == app::kUsage, refused.errors.constData());
    QCOMPARE(readFile(foreign), QByteArray("Dear all,\n"));
    const QString collection = write("sets.json", "{\"other\":{\"attention\":[1],\"mlp\":[]}}\n");
    const ProgramRun added = run(writing("search", collection) + entry);
    QVERIFY2(added.exitCode == 0, added.errors.constData());
    QVERIFY(readFile(collection).contains("\"other\""));
    QVERIFY(readFile(collection).contains("\"m_letters\""));
}

void SwiftRunOutputTest::theNameIsTakenWithTheFirstRecord() {
    const auto file = std::filesystem::path(path("slow.swiftrun").toStdString());
    support::writeText(file, "");
    {
        auto recorder = engine::RunRecorder::start(file);
        QVERIFY(recorder.hasValue());
        QCOMPARE(std::filesystem::file_size(file), std::uintmax_t{0});
        QVERIFY(recorder.value().write({0.5, engine::Note{"first"}}).hasValue());
        QVERIFY(engine::isRecording(file).value());
        QVERIFY(recorder.value().write({0.6, engine::Note{"second"}}).hasValue());
    }
    QVERIFY(engine::RunRecorder::start(file).hasValue()); // and gone again, without a record
    auto reader = engine::RunReader::open(file);
    QVERIFY(reader.hasValue());
    for (int i = 0; i < 2; ++i)
        QVERIFY(reader.value().next().value().has_value());
    const QStringList left =
        QDir(m_folder.path()).entryList({".*.part"}, QDir::Files | QDir::Hidden);
    QVERIFY2(left.isEmpty(), qPrintable(left.join(' ')));
}

void SwiftRunOutputTest::whatStoppedTheProgramIsNamed_data() {
    QTest::addColumn<int>("signal");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("named");
    QTest::newRow("SIGINT") << SIGINT << int(app::kCancelled) << "Stopped by Ctrl+C";
    QTest::newRow("SIGTERM") << SIGTERM << int(app::kTerminated) << "Stopped by SIGTERM";
}

void SwiftRunOutputTest::whatStoppedTheProgramIsNamed() {
    QFETCH(int, signal);
    QFETCH(int, exitCode);
    QFETCH(QString, named);
    std::string lines;
    for (int i = 0; i < 20'000; ++i)
        lines += "{\"prompt\":\"abc ab\"}\n";
    const QString data = write("many.jsonl", QByteArray::fromStdString(lines));
    QStringList arguments = writing("stream", path("stopped.swiftrun")) + QStringList{"--json"};
    arguments[2] = data;
    QProcess process;
    process.start(support::swiftRunPath(), arguments);
    QVERIFY(process.waitForReadyRead(-1)); // the first prompt is done
    ::kill(static_cast<pid_t>(process.processId()), signal);
    QVERIFY(process.waitForFinished(-1));
    const QByteArray errors = process.readAllStandardError();
    QVERIFY2(process.exitCode() == exitCode, errors.constData());
    QVERIFY2(errors.contains(named.toUtf8()), errors.constData());
    QCOMPARE(run({"replay", path("stopped.swiftrun")}).exitCode, 0);
}

/// Ctrl+C would stop one answer alone.
void SwiftRunOutputTest::sigtermEndsAConversation() {
    QProcess process;
    process.start(support::swiftRunPath(),
                  {"chat",
                   "--model",
                   path("model"),
                   "--backend",
                   "plain",
                   "--decoder",
                   "vanilla",
                   "--max-tokens",
                   "12",
                   "--json"});
    process.write(QByteArray("abc\n/clear\n").repeated(5000));
    process.closeWriteChannel();
    QVERIFY(process.waitForReadyRead(-1)); // many messages wait
    ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
    QVERIFY(process.waitForFinished(-1));
    QCOMPARE(process.exitCode(), static_cast<int>(app::kTerminated));
}

void SwiftRunOutputTest::ctrlCEndsTheWaitForAPrompt() {
    QProcess process;
    process.start(support::swiftRunPath(), {"generate", "--prompt-file", "-"});
    QVERIFY(process.waitForStarted(support::kPatienceMs));
    // Far more than a pipe holds: once it is written, the program reads.
    process.write(QByteArray(1 << 22, 'a'));
    while (process.bytesToWrite() > 0)
        QVERIFY(process.waitForBytesWritten(support::kPatienceMs));
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(support::kPatienceMs));
    QCOMPARE(process.exitCode(), static_cast<int>(app::kCancelled));
}

/// The lens of a long prompt, whose answer would fill the context.
void SwiftRunOutputTest::ctrlCBeforeTheFirstTokenIsNoWrongInput() {
    engine::ModelConfig config = support::letterConfig(1);
    config.contextLength = 1 << 13;
    support::MemoryWeights weights = support::randomWeights(config, 3);
    const std::filesystem::path model = path("long").toStdString();
    support::writeFolderModel(model, config, weights);
    // A damaged adapter is told once the model is loaded, before the prompt is read.
    const auto files = engine::ModelFiles::open(model);
    const auto stored = files.value().weights();
    const auto fingerprint =
        engine::modelFingerprint(files.value().config().value(), *stored.value());
    const std::filesystem::path adapter = engine::usersDraftAdapter(fingerprint.value());
    std::filesystem::create_directories(adapter.parent_path());
    support::writeText(adapter, "no adapter");
    QProcess process;
    process.setReadChannel(QProcess::StandardError);
    process.start(support::swiftRunPath(),
                  {"lens",
                   "--model",
                   path("long"),
                   "--backend",
                   "plain",
                   "--prompt-ids",
                   QString("1,").repeated(4000) + "1",
                   "--max-tokens",
                   "100000"});
    QByteArray errors;
    while (!errors.contains("draft adapter") && process.waitForReadyRead(-1))
        errors += process.readAllStandardError();
    QVERIFY2(errors.contains("draft adapter"), errors.constData());
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(-1));
    errors += process.readAllStandardError();
    QVERIFY2(process.exitCode() == app::kCancelled, errors.constData());
    QVERIFY2(errors.contains("Stopped by Ctrl+C"), errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunOutputTest)
#include "swift_run_output_test.moc"
