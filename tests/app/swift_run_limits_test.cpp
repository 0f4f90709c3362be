// SPDX-License-Identifier: Apache-2.0
// What swift-run says of numbers, texts and models that do not fit: it names the range, and what it
// proposes helps.
#include "app/exit_codes.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using support::expectRefusal;
using support::ProgramRun;

namespace {

const QString kFolderModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny_llama";
const QString kGgufModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

ProgramRun run(const QStringList& arguments, const QByteArray& input = {}) {
    return support::runProgram(support::swiftRunPath(), arguments, input);
}

/// Of those that this process may run on.
QString firstAllowedProcessor() {
    QFile status("/proc/self/status");
    if (!status.open(QIODevice::ReadOnly))
        return "0";
    for (const QByteArray& line : status.readAll().split('\n'))
        if (line.startsWith("Cpus_allowed_list:"))
            return QString(line.mid(18)).trimmed().section(QRegularExpression("[-,]"), 0, 0);
    return "0";
}

} // namespace

class SwiftRunLimitsTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void numbersOutOfRangeNameTheRange_data();
    void numbersOutOfRangeNameTheRange();
    void wordsAreTakenAsTheyAreTyped_data();
    void wordsAreTakenAsTheyAreTyped();
    void theHelpNamesEveryExitCode();
    void theHintForAContextHelps();
    void aTypedSkipSetIsNoDamagedFile_data();
    void aTypedSkipSetIsNoDamagedFile();
    void aNumberTooLargeForJsonIsToldInOurWords();
    void aPromptMayComeThroughAPipe();
    void inspectTakesItsModelLikeTheOthers();
    void aLineLongerThanAnyContextIsRefused();
    void anEndlessSparseDataFileIsReadInBoundedMemory();
    void aModelOfOneLayerIsRefusedAlikeByAll();
    void noMoreThreadsThanProcessorsAreMade();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
};

void SwiftRunLimitsTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("SWIFT_STUDIO_DATA", m_folder->filePath("memory").toUtf8());
}

void SwiftRunLimitsTest::numbersOutOfRangeNameTheRange_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("option");
    QTest::addColumn<QString>("range");
    QTest::addColumn<QStringList>("wrong");
    const QStringList any = {"-1", "99999999999999999999", "1.5", "1e3", "many"};
    const QString whole = "is not a whole number from ";
    QTest::newRow("max-tokens") << "generate"
                                << "--max-tokens" << whole + "0 to 2147483647" << any;
    QTest::newRow("threads") << "generate"
                             << "--threads" << whole + "0 to 1024" << any;
    QTest::newRow("context") << "generate"
                             << "--context" << whole + "0 to 2147483647" << any;
    QTest::newRow("seed") << "generate"
                          << "--seed" << whole + "0 to 18446744073709551615" << any;
    QTest::newRow("seed of search") << "search"
                                    << "--seed" << whole + "0 to 1844674407370955161" << any;
    QTest::newRow("top") << "forward"
                         << "--top" << whole + "1 to 2147483647" << any;
    QTest::newRow("exit-after") << "forward"
                                << "--exit-after" << whole + "0 to " << any;
    QTest::newRow("limit") << "stream"
                           << "--limit" << whole + "1 to " << any;
    QTest::newRow("limit of replay") << "replay"
                                     << "--limit" << whole + "0 to " << any;
    QTest::newRow("rows") << "bench"
                          << "--rows" << whole + "1 to 64" << QStringList{"0", "65"};
    QTest::newRow("roof") << "bench"
                          << "--roof-mib" << whole + "1 to 1048576" << any;
    QTest::newRow("ratio") << "search"
                           << "--ratio"
                           << "is not a number from 0 to 0.95"
                           << QStringList{"-0.1", "0.96", "nan", "half"};
}

void SwiftRunLimitsTest::numbersOutOfRangeNameTheRange() {
    QFETCH(QString, command);
    QFETCH(QString, option);
    QFETCH(QString, range);
    QFETCH(QStringList, wrong);
    for (const QString& value : wrong) {
        const ProgramRun result = run({command, option + "=" + value});
        QVERIFY2(result.exitCode == app::kUsage, qPrintable(value));
        QVERIFY2(result.errors.contains(option.toUtf8()), result.errors.constData());
        QVERIFY2(result.errors.contains(range.toUtf8()), result.errors.constData());
    }
}

void SwiftRunLimitsTest::wordsAreTakenAsTheyAreTyped_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("sentence");
    const QStringList generate = {"generate", "--prompt", "hi", "--model", "/no/such"};
    const QString goesOn = "/no/such does not exist";
    QTest::newRow("brackets") << generate + QStringList{"--stop", "[]"} << goesOn;
    QTest::newRow("zeros in front")
        << QStringList{"tune", "--data", "x", "--out", "y", "--answer-tokens", "010"}
        << "--answer-tokens is 10";
    QTest::newRow("nothing behind =")
        << generate + QStringList{"--stop=", "--json"} << "--stop= is followed by no value";
    QTest::newRow("a text that looks like an option")
        << QStringList{"generate", "--model", "/no/such", "--prompt", "--x="} << goesOn;
    QTest::newRow("an empty text") << generate + QStringList{"--regex", ""} << "The text is empty";
    QTest::newRow("an empty stop string")
        << generate + QStringList{"--stop", ""} << "The text is empty";
    QTest::newRow("a recipe behind files")
        << QStringList{"experiment", "--out", "y", "--data", "x", "main_comparison"}
        << "Write one before --data";
}

void SwiftRunLimitsTest::wordsAreTakenAsTheyAreTyped() {
    QFETCH(QStringList, words);
    QFETCH(QString, sentence);
    const ProgramRun result = run(words);
    QVERIFY(result.exitCode != app::kSuccess);
    QVERIFY2(result.errors.contains(sentence.toUtf8()), result.errors.constData());
}

void SwiftRunLimitsTest::theHelpNamesEveryExitCode() {
    const QString help = QString::fromUtf8(run({"--help"}).output);
    const QString codes = help.mid(help.indexOf("Exit codes:"));
    for (const int code : {app::kSuccess,
                           app::kBug,
                           app::kUsage,
                           app::kNotFound,
                           app::kUnsupported,
                           app::kCorruptFile,
                           app::kNoMemory,
                           app::kIo,
                           app::kNumeric,
                           app::kDevice,
                           app::kCancelled,
                           app::kTerminated})
        QVERIFY2(codes.contains(QRegularExpression(QString("\\b%1 [a-zA-Z]").arg(code))),
                 qPrintable(codes));
}

void SwiftRunLimitsTest::theHintForAContextHelps() {
    const QStringList generate = {"generate",
                                  "--model",
                                  kFolderModel,
                                  "--prompt-ids",
                                  "1,2",
                                  "--backend",
                                  "plain",
                                  "--max-tokens",
                                  "1"};
    QCOMPARE(run(generate + QStringList{"--context", "1000000"}).exitCode, int(app::kUsage));
    const ProgramRun chosen = run(generate + QStringList{"--context", "0"});
    QVERIFY2(chosen.exitCode == 0, chosen.errors.constData());
}

void SwiftRunLimitsTest::aTypedSkipSetIsNoDamagedFile_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("no JSON") << "[1,2";
    QTest::newRow("no set") << "[1,2]";
    QTest::newRow("no layers") << R"({"attention":"all"})";
    QTest::newRow("twice") << R"({"mlp":[1,1]})";
}

void SwiftRunLimitsTest::aTypedSkipSetIsNoDamagedFile() {
    QFETCH(QString, text);
    const QStringList generate = {
        "generate", "--model", kFolderModel, "--prompt-ids", "1,2", "--backend", "plain"};
    for (const char* decoder : {"swift", "self_sd"}) {
        const QStringList set = {"--decoder", decoder, "--set", "start=manual", "--set"};
        const ProgramRun result = run(generate + set + QStringList{"skip_set=" + text});
        expectRefusal(result, app::kUsage, {"skip_set", R"({"attention":[1,2],"mlp":[3]})"});
        const ProgramRun mended =
            run(generate + set +
                QStringList{R"(skip_set={"attention":[1],"mlp":[1]})", "--max-tokens", "1"});
        QVERIFY2(mended.exitCode == 0, mended.errors.constData());
    }
}

void SwiftRunLimitsTest::aNumberTooLargeForJsonIsToldInOurWords() {
    const ProgramRun result = run({"detokenize", "--model", kGgufModel, "--json"}, "[1,1e999]\n");
    QCOMPARE(result.exitCode, int(app::kUsage));
    QVERIFY2(!result.errors.contains("json.exception"), result.errors.constData());
    QVERIFY2(result.errors.contains("the number 1e999 is too large"), result.errors.constData());
}

void SwiftRunLimitsTest::aPromptMayComeThroughAPipe() {
    const QString line = QString("%1 generate --model %2 --backend plain --max-tokens 1 "
                                 "--prompt-file <(echo hello)")
                             .arg(support::swiftRunPath(), kGgufModel);
    const ProgramRun result = support::runProgram("/bin/bash", {"-c", line});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const ProgramRun folder = run({"generate", "--model", kGgufModel, "--prompt-file", "/tmp"});
    expectRefusal(folder, app::kUsage, {"/tmp is a folder"});
}

void SwiftRunLimitsTest::inspectTakesItsModelLikeTheOthers() {
    const ProgramRun named = run({"inspect", "--model", kGgufModel});
    QVERIFY2(named.exitCode == 0, named.errors.constData());
    QCOMPARE(named.output, run({"inspect", kGgufModel}).output);
}

void SwiftRunLimitsTest::aLineLongerThanAnyContextIsRefused() {
    const ProgramRun result =
        run({"tokenize", "--model", kGgufModel}, "a\n" + QByteArray(17'000'000, 'x') + "\n");
    QCOMPARE(result.exitCode, int(app::kUsage));
    QVERIFY2(result.errors.contains("Line 2") && result.errors.contains("16000000 bytes"),
             result.errors.constData());
}

void SwiftRunLimitsTest::anEndlessSparseDataFileIsReadInBoundedMemory() {
    const QString data = m_folder->filePath("sparse.jsonl");
    QFile file(data);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.resize(qint64{100} << 30));
    const ProgramRun result = run({"stream",
                                   "--data",
                                   data,
                                   "--model",
                                   kFolderModel,
                                   "--backend",
                                   "plain",
                                   "--decoder",
                                   "vanilla"});
    QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
    QVERIFY2(result.errors.contains("sparse.jsonl"), result.errors.constData());
}

void SwiftRunLimitsTest::aModelOfOneLayerIsRefusedAlikeByAll() {
    auto config = support::letterConfig(1);
    auto weights = support::randomWeights(config, 3);
    const QString folder = m_folder->filePath("one layer");
    support::writeFolderModel(folder.toStdString(), config, weights);
    const QStringList generate = {
        "generate", "--model", folder, "--backend", "plain", "--prompt-ids", "1", "--decoder"};
    int refused = 0;
    for (const QJsonObject& decoder : run({"decoders", "--json"}).jsonLines()) {
        const QString name = decoder["name"].toString();
        if (name.isEmpty() || name == "space") // a refused module; one that needs its own model
            continue;
        const ProgramRun result = run(generate + QStringList{name, "--max-tokens", "2"});
        if (result.exitCode == 0)
            continue;
        expectRefusal(result, app::kUnsupported, {"layer"});
        ++refused;
    }
    QVERIFY(refused >= 2); // layerskip and del
}

void SwiftRunLimitsTest::noMoreThreadsThanProcessorsAreMade() {
    const ProgramRun result = support::runProgram("/usr/bin/taskset",
                                                  {"-c",
                                                   firstAllowedProcessor(),
                                                   support::swiftRunPath(),
                                                   "generate",
                                                   "--model",
                                                   kFolderModel,
                                                   "--prompt-ids",
                                                   "1",
                                                   "--max-tokens",
                                                   "1",
                                                   "--threads",
                                                   "1024"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY2(result.errors.contains("1024 threads were asked for, but this process may use only 1 "
                                    "processor"),
             result.errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunLimitsTest)
#include "swift_run_limits_test.moc"
