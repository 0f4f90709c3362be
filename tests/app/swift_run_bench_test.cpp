// SPDX-License-Identifier: Apache-2.0
// swift-run bench: its fields, who takes part, made-up models, and the talk with llama.cpp (by a
// child that only speaks the protocol). No figure is checked that depends on the machine.
#include "app/exit_codes.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QSet>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using support::ProgramRun;

namespace {

const QString kModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";
const QStringList kSmall = {"--rows",
                            "1,2",
                            "--cached",
                            "8",
                            "--prefill",
                            "16",
                            "--max-tokens",
                            "6",
                            "--pairs",
                            "2",
                            "--roof-mib",
                            "4"};

QStringList llamaArguments() {
    return {"--against-llama-cpp",
            "--llama-python",
            QStandardPaths::findExecutable("python3"),
            "--llama-script",
            "tests/app/fake_llama_cpp.py"};
}

QByteArray contentOf(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("a file of the test cannot be read");
    return file.readAll();
}

} // namespace

class SwiftRunBenchTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void theLastLineHasEveryFieldThatTheReadmeDocuments();
    void onlyVanillaIsMeasuredWhenAskedFor();
    void everyOtherRepetitionGoesBackwards();
    void aDraftingDecoderIsComparedOnTheSamePrompts();
    void everyPromptOfAFileIsDecodedAndRatiosAreByTask();
    void skipSetsHaveACostBesideTheirShares();
    void aMadeUpShapeRunsWithoutATokenizer();
    void theCpuBackendHoldsAShapeAsItIsStored();
    void theTableNamesWhatWasMeasured();
    void twoOtherProgramsStandBesideEachOther();
    void promptsHaveTheLengthThatIsAskedFor();
    void ikMayReadAFileOfItsOwn();
    void llamaGetsTheSamePromptsTokensAndThreads();
    void aDifferenceFromLlamaIsToldByItsToken();
    void aFaultOfLlamaIsOneSentence_data();
    void aFaultOfLlamaIsOneSentence();
    void badInputIsOneSentence_data();
    void badInputIsOneSentence();
    void ctrlCKeepsWhatWasMeasured();

private:
    QString file(const QString& name, const QByteArray& content);
    static ProgramRun bench(const QStringList& more);
    static QStringList arguments(const QStringList& more);

    std::unique_ptr<QTemporaryDir> m_folder;
};

void SwiftRunBenchTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("SWIFT_STUDIO_DATA", m_folder->path().toUtf8());
}

void SwiftRunBenchTest::cleanup() {
    for (const char* name : {"FAKE_LLAMA_TOKENS", "FAKE_LLAMA_FAULT", "FAKE_LLAMA_LOG"})
        qunsetenv(name);
}

QString SwiftRunBenchTest::file(const QString& name, const QByteArray& content) {
    QFile written(m_folder->filePath(name));
    if (!written.open(QIODevice::WriteOnly) || written.write(content) != content.size())
        qFatal("a file of the test cannot be written");
    return written.fileName();
}

/// The small measurement, in which `more` may name other values.
QStringList SwiftRunBenchTest::arguments(const QStringList& more) {
    QStringList all = {"bench"};
    const QStringList usual = QStringList{"--model", kModel, "--backend", "plain"} + kSmall;
    for (qsizetype i = 0; i < usual.size(); i += 2)
        if (!more.contains(usual[i]) && !(usual[i] == "--model" && more.contains("--shape")))
            all += {usual[i], usual[i + 1]};
    return all + more;
}

ProgramRun SwiftRunBenchTest::bench(const QStringList& more) {
    return support::runProgram(support::swiftRunPath(), arguments(more));
}

void SwiftRunBenchTest::theLastLineHasEveryFieldThatTheReadmeDocuments() {
    const ProgramRun result = bench({"--decoder", "swift", "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["event"].toString(), QString("done"));
    const QByteArray readme = contentOf("app/README.md");
    const auto begin = readme.indexOf("| Field of `bench` |");
    QVERIFY(begin > 0);
    const QByteArray table = readme.mid(begin, readme.indexOf("\n\n", begin) - begin);
    for (const QString& key : done.keys())
        if (key != "event")
            QVERIFY2(table.contains("`" + key.toUtf8() + "`"), qPrintable(key));
    int documented = 0;
    for (const QByteArray& row : table.split('\n').mid(2))
        for (const QByteArray& part : row.split('|').value(1).split(',')) {
            const QString key = QString(part).remove('`').trimmed();
            QVERIFY2(done.contains(key), qPrintable(key));
            ++documented;
        }
    QCOMPARE(documented, static_cast<int>(done.size()) - 1); // "event" is no figure
    for (const char* key : {"roof_gbps",
                            "vanilla_tokens_per_s",
                            "vanilla_share",
                            "auto_over_vanilla",
                            "prefill_tokens_per_s"})
        QVERIFY2(done[key].toDouble() > 0.0, key);
    QCOMPARE(done["v"].toObject().keys(), (QStringList{"1", "2"}));
    QVERIFY(done["vanilla_over_llama_cpp"].isNull());
    QCOMPARE(done["incomplete"].toBool(true), false);
    QCOMPARE(result.jsonLines().first()["event"].toString(), QString("start"));
}

void SwiftRunBenchTest::onlyVanillaIsMeasuredWhenAskedFor() {
    const ProgramRun result = bench({"--decoder", "vanilla", "--json"});
    const QJsonObject done = result.jsonLines().constLast();
    for (const char* key : {"decoder", "auto_tokens_per_s", "auto_over_vanilla"})
        QVERIFY2(done.contains(key) && done[key].isNull(), key);
    int samples = 0;
    for (const QJsonObject& line : result.jsonLines())
        samples += line["event"].toString() == "sample" ? 1 : 0;
    QCOMPARE(samples, 2 * 4); // pairs; two numbers of rows, prefill, decoding
    QVERIFY(done["remarks"].toArray().first().toString().contains("over 4 MiB"));
}

void SwiftRunBenchTest::everyOtherRepetitionGoesBackwards() {
    QStringList order;
    for (const QJsonObject& line : bench({"--decoder", "vanilla", "--json"}).jsonLines())
        if (line["event"].toString() == "sample")
            order.append(QString::number(line["repetition"].toInt()) + " " +
                         line["quantity"].toString() +
                         (line.contains("rows") ? QString::number(line["rows"].toInt()) : ""));
    QCOMPARE(order,
             (QStringList{"0 rows1",
                          "0 rows2",
                          "0 prefill",
                          "0 decode",
                          "1 decode",
                          "1 prefill",
                          "1 rows2",
                          "1 rows1"}));
}

void SwiftRunBenchTest::aDraftingDecoderIsComparedOnTheSamePrompts() {
    const auto lines = bench({"--decoder", "swift", "--set", "r=0.3", "--json"}).jsonLines();
    const QJsonObject done = lines.constLast();
    QCOMPARE(done["decoder"].toString(), QString("swift"));
    const QJsonValue details = done["ratios"]["auto_over_vanilla"];
    QCOMPARE(details["pairs"].toInt(), 2);
    QCOMPARE(details["equal"].toInt(), 2);
    QVERIFY(details["first_difference"].isNull());
    QVERIFY(details["interval"][0].toDouble() <= done["auto_over_vanilla"].toDouble());
    QVERIFY(details["interval"][1].toDouble() >= done["auto_over_vanilla"].toDouble());
}

void SwiftRunBenchTest::everyPromptOfAFileIsDecodedAndRatiosAreByTask() {
    const QString prompts = file("prompts.jsonl",
                                 "{\"prompt\":\"Hello\",\"task\":\"one\"}\n"
                                 "{\"prompt\":\"Yes\",\"task\":\"two\"}\n"
                                 "{\"prompt\":[\"Hi\",\"And?\"],\"task\":\"one\"}\n");
    const auto lines =
        bench({"--prompts", prompts, "--raw", "--decoder", "swift", "--json"}).jsonLines();
    const QJsonValue details = lines.constLast()["ratios"]["auto_over_vanilla"];
    QCOMPARE(details["pairs"].toInt(), 3); // more prompts than pairs
    const QJsonObject tasks = details["tasks"].toObject();
    QCOMPARE(tasks.keys(), (QStringList{"one", "two"}));
    const double mean = (tasks["one"]["ratio"].toDouble() + tasks["two"]["ratio"].toDouble()) / 2.0;
    QVERIFY(std::abs(lines.constLast()["auto_over_vanilla"].toDouble() - mean) < 1e-9);
}

void SwiftRunBenchTest::skipSetsHaveACostBesideTheirShares() {
    const QString collection = file("sets.json",
                                    "{\"all_of_layer_1\":{\"attention\":[1],\"mlp\":[1]},"
                                    "\"nothing\":{\"attention\":[],\"mlp\":[]}}");
    const ProgramRun result =
        bench({"--skip-set", "{\"mlp\":[0]}", "--skip-set", collection, "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonArray sets = result.jsonLines().constLast()["skip_sets"].toArray();
    QCOMPARE(sets.size(), 3);
    QCOMPARE(sets[0]["name"].toString(), QString("{\"mlp\":[0]}"));
    QCOMPARE(sets[1]["name"].toString(), QString("all_of_layer_1"));
    QCOMPARE(sets[2]["c_bytes"].toDouble(), 1.0);
    QCOMPARE(sets[2]["c_count"].toDouble(), 1.0);
    QVERIFY(sets[1]["c_count"].toDouble() < sets[0]["c_count"].toDouble());
    QVERIFY(sets[1]["c_bytes"].toDouble() < sets[0]["c_bytes"].toDouble());
    for (const QJsonValue set : sets) {
        QVERIFY(set["c"].toDouble() > 0.0);
        QCOMPARE(set["c_over_bytes"].toDouble(), set["c"].toDouble() / set["c_bytes"].toDouble());
    }
}

void SwiftRunBenchTest::aMadeUpShapeRunsWithoutATokenizer() {
    const ProgramRun result = bench({"--shape",
                                     "1b",
                                     "--layers",
                                     "1",
                                     "--weights",
                                     "4bit",
                                     "--decoder",
                                     "vanilla",
                                     "--rows",
                                     "1",
                                     "--prefill",
                                     "2",
                                     "--max-tokens",
                                     "1",
                                     "--pairs",
                                     "1",
                                     "--cached",
                                     "2",
                                     "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["model"].toString(), QString("shape 1b (1 layer, 4bit)"));
    // Widened to float32; of the two tables of 32,000 x 2048 a step reads one.
    const double linear = 2048.0 * (64 * 2 * 36 + 3 * 5632);
    const double table = 2048.0 * 32000;
    QVERIFY(std::abs(done["weight_bytes"].toDouble() / (4.0 * (linear + 2 * table)) - 1) < 1e-3);
    QVERIFY(std::abs(done["bytes_per_step"].toDouble() / (4.0 * (linear + table)) - 1) < 1e-3);
    QVERIFY(done["vanilla_tokens_per_s"].toDouble() > 0.0);
}

void SwiftRunBenchTest::theCpuBackendHoldsAShapeAsItIsStored() {
    const ProgramRun result =
        bench({"--shape",  "1b", "--layers",  "1",   "--weights",    "4bit", "--decoder", "vanilla",
               "--rows",   "1",  "--prefill", "2",   "--max-tokens", "1",    "--pairs",   "1",
               "--cached", "2",  "--backend", "cpu", "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["backend"].toString(), QString("cpu"));
    QCOMPARE(done["precision"].toString(), QString("4-bit, scale and minimum per 32"));
    QCOMPARE(done["kv"].toString(), QString("float16"));
    QVERIFY((QStringList{"scalar", "avx2", "avx512", "amx"}.contains(done["isa"].toString())));
    // Half a byte a weight, two half-precision numbers for 32.
    const double weights = 2048.0 * (64 * 2 * 36 + 3 * 5632) + 2 * 2048.0 * 32000;
    QVERIFY(std::abs(done["weight_bytes"].toDouble() / (0.625 * weights) - 1) < 1e-3);
}

void SwiftRunBenchTest::theTableNamesWhatWasMeasured() {
    const ProgramRun result = bench({"--decoder", "swift"});
    QCOMPARE(result.exitCode, 0);
    for (const char* part : {"processor",
                             "roof, GB/s",
                             "v(2)",
                             "prefill of 16, tokens/s",
                             "vanilla, share of roof",
                             "swift over vanilla",
                             "2 of 2 answers equal"})
        QVERIFY2(result.output.contains(part), part);
    QVERIFY(!result.output.contains("llama"));
    QVERIFY(!result.output.contains("INCOMPLETE"));
    QCOMPARE(result.errors.count("The memory bandwidth is measured over 4 MiB"), 1);
}

void SwiftRunBenchTest::twoOtherProgramsStandBesideEachOther() {
    const QString ik = QFileInfo("tests/app/fake_llama_cpp.py").absoluteFilePath();
    const ProgramRun result =
        bench(llamaArguments() + QStringList{"--against-ik", ik, "--decoder", "swift", "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    for (const char* rival : {"llama_cpp", "ik_llama_cpp"}) {
        QCOMPARE(done[QString("%1_version").arg(rival)].toString(), QString("0.0-fake"));
        QCOMPARE(done[QString("%1_tokens_per_s").arg(rival)].toDouble(), 2.0);
        for (const char* own : {"vanilla", "auto", "prefill"})
            QVERIFY(done[QString("%1_over_%2").arg(own, rival)].toDouble() > 1.0);
    }
}

void SwiftRunBenchTest::promptsHaveTheLengthThatIsAskedFor() {
    const QString log = m_folder->filePath("log");
    qputenv("FAKE_LLAMA_LOG", log.toUtf8());
    const QString prompts = file("prompts.txt", "Hello you\nYes and no\nHi, hello\n");
    const QString more = "--raw --prompt-tokens 5 --decoder vanilla --json --prompts " + prompts;
    const auto lines = bench(llamaArguments() + more.split(' ')).jsonLines();
    QCOMPARE(lines.constLast()["prompt_tokens"].toInt(), 5);
    QSet<QByteArray> decoded; // the line before that of the end ids
    const QList<QByteArray> said = contentOf(log).split('\n');
    for (qsizetype i = 1; i < said.size(); ++i)
        if (said[i].startsWith("ends"))
            decoded.insert(said[i - 1]);
    QCOMPARE(decoded.size(), 2); // of three prompts as many as there are pairs
    for (const QByteArray& prompt : decoded)
        QVERIFY2(prompt.startsWith("prompt ") && prompt.count(',') == 4, prompt.constData());
}

void SwiftRunBenchTest::ikMayReadAFileOfItsOwn() {
    const QString log = m_folder->filePath("log");
    qputenv("FAKE_LLAMA_LOG", log.toUtf8());
    const QString ik = QFileInfo("tests/app/fake_llama_cpp.py").absoluteFilePath();
    const QString own = file("own.gguf", "only it can read this");
    const ProgramRun result =
        bench({"--against-ik", ik, "--ik-model", own, "--decoder", "vanilla"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY(contentOf(log).startsWith(own.toUtf8() + " "));
    QVERIFY2(result.errors.contains("reads another file"), result.errors.constData());
}

void SwiftRunBenchTest::llamaGetsTheSamePromptsTokensAndThreads() {
    const QString log = m_folder->filePath("log");
    qputenv("FAKE_LLAMA_LOG", log.toUtf8());
    const QString prompts = file("prompts.txt", "Hello\n");
    const ProgramRun result =
        bench(llamaArguments() +
              QStringList{"--prompts", prompts, "--raw", "--decoder", "swift", "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["llama_cpp_version"].toString(), QString("0.0-fake"));
    QCOMPARE(done["llama_cpp_tokens_per_s"].toDouble(), 2.0);
    for (const char* key :
         {"vanilla_over_llama_cpp", "auto_over_llama_cpp", "prefill_over_llama_cpp"})
        QVERIFY2(done[key].toDouble() > 1.0, key);
    // The mean time of two runs is at most the slower run's, which the quartiles give.
    const QJsonValue quartiles = done["spread"]["vanilla_tokens_per_s"];
    const double slower = 1.5 * quartiles[0].toDouble() - 0.5 * quartiles[2].toDouble();
    QVERIFY(done["vanilla_over_llama_cpp"].toDouble() >= slower / 2.0 * 0.999);
    const QList<QByteArray> lines = contentOf(log).trimmed().split('\n');
    QVERIFY(lines.first().startsWith(kModel.toUtf8() + " 1 ")); // plain computes with one thread
    QCOMPARE(lines.count("decode 6"), 2);
    QCOMPARE(lines.count("prefill"), 2);
    const ProgramRun tokenized = support::runProgram(
        support::swiftRunPath(), {"tokenize", "--model", kModel, "--json"}, "\"Hello\"\n");
    QByteArray ids;
    for (const QJsonValue id : tokenized.jsonLines().first()["ids"].toArray())
        ids += (ids.isEmpty() ? "" : ",") + QByteArray::number(id.toInt());
    bool isAsked = false; // with or without the begin token
    for (const QByteArray& line : lines)
        isAsked = isAsked || (line.startsWith("prompt ") && line.endsWith(ids));
    QVERIFY2(isAsked, ids.constData());
}

void SwiftRunBenchTest::aDifferenceFromLlamaIsToldByItsToken() {
    const QString log = m_folder->filePath("log");
    qputenv("FAKE_LLAMA_LOG", log.toUtf8());
    const QString prompts = file("prompts.txt", "Hello\n");
    const auto compare = [&] {
        return bench(llamaArguments() +
                     QStringList{"--prompts", prompts, "--raw", "--decoder", "vanilla", "--json"})
            .jsonLines()
            .constLast()["ratios"]["vanilla_over_llama_cpp"];
    };
    compare();
    QString ids; // of the prompt that was decoded, which follows the line of its end ids
    const QList<QByteArray> lines = contentOf(log).split('\n');
    const auto ends = std::find_if(
        lines.begin(), lines.end(), [](const QByteArray& line) { return line.startsWith("ends"); });
    QVERIFY(ends != lines.end() && ends != lines.begin());
    ids = QString((ends - 1)->mid(7));
    const auto answer = support::runProgram(support::swiftRunPath(),
                                            {"generate",
                                             "--model",
                                             kModel,
                                             "--backend",
                                             "plain",
                                             "--prompt-ids",
                                             ids,
                                             "--max-tokens",
                                             "6",
                                             "--json"});
    QStringList tokens;
    for (const QJsonValue token : answer.jsonLines().constLast()["tokens"].toArray())
        tokens.append(QString::number(token.toInt()));
    QCOMPARE(tokens.size(), 6);
    qputenv("FAKE_LLAMA_TOKENS", tokens.join(',').toUtf8());
    const QJsonValue same = compare();
    QCOMPARE(same["equal"].toInt(), same["pairs"].toInt());
    QVERIFY(same["first_difference"].isNull());
    tokens[3] = QString::number(tokens[3].toInt() + 1);
    qputenv("FAKE_LLAMA_TOKENS", tokens.join(',').toUtf8());
    const QJsonValue other = compare();
    QCOMPARE(other["equal"].toInt(-1), 0);
    QCOMPARE(other["first_difference"].toInt(-1), 3);
}

void SwiftRunBenchTest::aFaultOfLlamaIsOneSentence_data() {
    QTest::addColumn<QByteArray>("fault");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QByteArray>("named");
    const int io = app::kIo;
    QTest::newRow("not installed") << QByteArray("missing") << static_cast<int>(app::kNotFound)
                                   << QByteArray("cannot be run: no module named llama_cpp");
    QTest::newRow("ends at once") << QByteArray("silent") << io << QByteArray("it has ended");
    QTest::newRow("no JSON") << QByteArray("garbage") << io << QByteArray("not JSON");
    QTest::newRow("fails in a pass") << QByteArray("late") << io << QByteArray("out of luck");
}

void SwiftRunBenchTest::aFaultOfLlamaIsOneSentence() {
    QFETCH(QByteArray, fault);
    QFETCH(int, exitCode);
    QFETCH(QByteArray, named);
    qputenv("FAKE_LLAMA_FAULT", fault);
    const ProgramRun result = bench(llamaArguments() + QStringList{"--decoder", "vanilla"});
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    QVERIFY2(result.errors.contains(named), result.errors.constData());
    QVERIFY2(result.errors.contains("set_up_llama_cpp.sh"), result.errors.constData());
}

void SwiftRunBenchTest::badInputIsOneSentence_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("named");
    const int usage = app::kUsage;
    const int notFound = app::kNotFound;
    QTest::newRow("pairs") << QStringList{"--pairs", "0"} << usage << "--pairs";
    QTest::newRow("rows") << QStringList{"--rows", "0"} << usage << "--rows";
    QTest::newRow("cached") << QStringList{"--cached", "2147483647"} << usage
                            << "the context holds";
    QTest::newRow("decoder") << QStringList{"--decoder", "swfit"} << notFound << "swift";
    QTest::newRow("setting") << QStringList{"--decoder", "swift", "--set", "r=7"} << usage
                             << "The setting r is";
    QTest::newRow("setting of nobody") << QStringList{"--decoder", "vanilla", "--set", "r=.4"}
                                       << usage << "no decoder is compared";
    QTest::newRow("prompts") << QStringList{"--prompts", "nowhere.jsonl"} << notFound
                             << "nowhere.jsonl";
    QTest::newRow("skip set") << QStringList{"--skip-set", "{\"mlp\":[99]}"} << usage << "99";
    QTest::newRow("skip set file")
        << QStringList{"--skip-set", "none.json"} << notFound << "none.json";
    QTest::newRow("layers alone") << QStringList{"--layers", "1"} << usage
                                  << "--shape was not given";
    QTest::newRow("model and shape")
        << QStringList{"--shape", "1b", "--model", kModel} << usage << "cannot be used together";
    QTest::newRow("unknown shape") << QStringList{"--shape", "2b"} << usage << "\"2b\"";
    QTest::newRow("unknown weights")
        << QStringList{"--shape", "1b", "--weights", "int3"} << usage << "\"int3\"";
    QTest::newRow("too large a shape") << QStringList{"--shape", "7b", "--layers", "1000"}
                                       << static_cast<int>(app::kNoMemory) << "GB are needed";
    QTest::newRow("no interpreter")
        << QStringList{"--against-llama-cpp", "--llama-python", "nowhere/python3"} << notFound
        << "nowhere/python3";
    QTest::newRow("no program") << QStringList{"--against-ik", "nowhere/ik"} << notFound
                                << "nowhere/ik";
    QTest::newRow("a file for nobody")
        << QStringList{"--ik-model", kModel} << usage << "--against-ik";
    QTest::newRow("llama.cpp and a folder")
        << QStringList{"--against-llama-cpp", "--model", "tests/data/tiny_llama"} << usage
        << "GGUF";
}

void SwiftRunBenchTest::badInputIsOneSentence() {
    QFETCH(QStringList, more);
    QFETCH(int, exitCode);
    QFETCH(QString, named);
    const ProgramRun result = bench(more);
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    QVERIFY2(result.output.isEmpty(), result.output.constData());
    QVERIFY2(result.errors.contains(named.toUtf8()), result.errors.constData());
}

void SwiftRunBenchTest::ctrlCKeepsWhatWasMeasured() {
    QProcess process;
    process.start(support::swiftRunPath(),
                  arguments({"--pairs", "100000", "--decoder", "vanilla", "--json"}));
    QByteArray output;
    while (!output.contains("\"sample\"") && process.waitForReadyRead(-1))
        output += process.readAllStandardOutput();
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(-1));
    QCOMPARE(process.exitCode(), static_cast<int>(app::kCancelled));
    output += process.readAllStandardOutput();
    const QList<QByteArray> lines = output.trimmed().split('\n');
    const QJsonObject done = QJsonDocument::fromJson(lines[lines.size() - 2]).object();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["incomplete"].toBool(), true);
    QVERIFY(done["v"]["1"].toDouble() > 0.0);
}

QTEST_GUILESS_MAIN(SwiftRunBenchTest)
#include "swift_run_bench_test.moc"
