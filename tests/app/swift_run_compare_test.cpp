// SPDX-License-Identifier: Apache-2.0
// swift-run compare: what is counted as equal, the numbers of the table, and bad data files.
#include "app/exit_codes.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/program_copy.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using support::ProgramRun;

namespace {

const QString kModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

const QByteArray kTwoTasks = "{\"prompt\":\"Hello world\",\"task\":\"greeting\",\"id\":\"one\"}\n"
                             "no JSON at all\n"
                             "{\"prompt\":[\"Hi\",\"And you?\"],\"task\":\"chat\"}\n"
                             "{\"prompt\":\"Once upon a time\",\"task\":\"greeting\"}\n";

bool isNear(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

} // namespace

class SwiftRunCompareTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void everyPromptOfALosslessDecoderIsEqual();
    void samplingIsEqualTooUnderTheSameSeed();
    void badLinesAreNamedAndCountedAndTheRestIsDone();
    void speedupIsTokensOverDecodeSecondsOfAllPrompts();
    void theLimitHoldsForEachFile();
    void turnsAreAskedBehindTheModelsOwnAnswers();
    void aDifferenceIsNoEqualPrompt();
    void aNearTieIsCountedApart();
    void settingsGoToTheDecoderTheyName();
    void theTableHasARowForEachTaskAndDecoder();
    void tokensPerLayerCountsPassesByTheirLayers();
    void timesOfATokenAddUpToItsTime();
    void theCsvFileHasTheFiguresOfTheDoneLine();
    void aCsvFileThatCannotBeWrittenIsToldBeforeTheWork();
    void aDecoderThatGoesWrongIsOutAndTheOthersGoOn();
    void aDroppedDecoderIsComparedOnItsOwnPrompts();
    void aPromptThatDoesNotFitIsLeftOut();
    void aFileFullOfBadLinesDoesNotFloodTheTerminal();
    void badInputIsOneSentence_data();
    void badInputIsOneSentence();
    void ctrlCKeepsWhatIsThere();

private:
    QString data(const QByteArray& lines, const QString& name = "data.jsonl");
    ProgramRun compare(const QStringList& more, const QString& file = {});
    ProgramRun compareFaulty(const QString& fault, bool isTied);
    QStringList arguments(const QString& file) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

void SwiftRunCompareTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("SWIFT_STUDIO_DATA", m_folder->path().toUtf8());
}

QString SwiftRunCompareTest::data(const QByteArray& lines, const QString& name) {
    QFile file(m_folder->filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(lines) != lines.size())
        qFatal("the data file cannot be written");
    return file.fileName();
}

QStringList SwiftRunCompareTest::arguments(const QString& file) const {
    return {
        "compare", "--data", file, "--model", kModel, "--backend", "plain", "--max-tokens", "16"};
}

ProgramRun SwiftRunCompareTest::compare(const QStringList& more, const QString& file) {
    return support::runProgram(support::swiftRunPath(),
                               arguments(file.isEmpty() ? data(kTwoTasks) : file) + more);
}

/// Vanilla and the faulty decoder of the tests, on a model whose logits may be tied two by two.
ProgramRun SwiftRunCompareTest::compareFaulty(const QString& fault, bool isTied) {
    const auto config = support::letterConfig(3);
    auto weights = support::randomWeights(config, 4);
    if (isTied)
        support::tieTokenPairs(weights, config);
    const QString model = m_folder->filePath("model");
    support::writeFolderModel(model.toStdString(), config, weights);
    const QString program =
        support::copyProgram(TEST_DECODER_DIR, {"faulty"}, m_folder->filePath("program"));
    return support::runProgram(program,
                               {"compare",
                                "--data",
                                data("{\"prompt\":\"abc ab\"}\n{\"prompt\":\"da be\"}\n"),
                                "--model",
                                model,
                                "--backend",
                                "plain",
                                "--raw",
                                "--max-tokens",
                                "6",
                                "--decoders",
                                "faulty",
                                "--set",
                                "fault=" + fault,
                                "--json"});
}

void SwiftRunCompareTest::everyPromptOfALosslessDecoderIsEqual() {
    const ProgramRun result = compare({"--json"});
    QCOMPARE(result.exitCode, 0);
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["prompts"].toInt(), 3);
    QCOMPARE(done["incomplete"].toBool(true), false);
    const QJsonObject decoders = done["decoders"].toObject();
    QCOMPARE(decoders.keys(), (QStringList{"swift", "vanilla"}));
    for (const QJsonValue decoder : decoders) {
        QCOMPARE(decoder["equal"].toInt(), 3);
        QCOMPARE(decoder["near_ties"].toInt(-1), 0);
        QCOMPARE(decoder["tokens"], decoders["vanilla"]["tokens"]);
    }
    QVERIFY(decoders["swift"]["M"].toDouble() > 1.0);
    QVERIFY(decoders["swift"]["acceptance"].toDouble() > 0.0);
    QVERIFY(decoders["vanilla"]["acceptance"].isNull());
}

void SwiftRunCompareTest::samplingIsEqualTooUnderTheSameSeed() {
    const auto done =
        compare({"--json", "--temperature", "0.9", "--seed", "5"}).jsonLines().constLast();
    QCOMPARE(done["decoders"]["swift"]["equal"].toInt(), 3);
}

void SwiftRunCompareTest::badLinesAreNamedAndCountedAndTheRestIsDone() {
    const ProgramRun result = compare({"--json"});
    QVERIFY(result.errors.contains("line 2"));
    QCOMPARE(result.errors.count("skipped"), 1);
    QCOMPARE(result.jsonLines().constLast()["bad_lines"].toInt(), 1);
    QVERIFY(compare({}).output.contains("1 bad line and"));
}

/// The tiny model's two layers are never skipped; as a lesson model it has two more.
void SwiftRunCompareTest::speedupIsTokensOverDecodeSecondsOfAllPrompts() {
    const auto lines = compare({"--planted", "--json"}).jsonLines();

    struct Sums {
        double tokens = 0.0;
        double decodeMs = 0.0;
        double allMs = 0.0;
        double rates = 0.0;
    };

    QMap<QString, Sums> sums;
    for (const QJsonObject& line : lines) {
        if (line["event"] != "prompt")
            continue;
        Sums& own = sums[line["decoder"].toString()];
        const double decodeMs = line["decode_ms"][0].toDouble() + line["decode_ms"][1].toDouble();
        own.tokens += line["output_tokens"].toDouble();
        own.decodeMs += decodeMs;
        own.allMs += decodeMs + line["prompt_ms"][0].toDouble() + line["prompt_ms"][1].toDouble();
        own.rates += line["output_tokens"].toDouble() / decodeMs;
    }
    const QJsonValue swift = lines.constLast()["decoders"]["swift"];
    const Sums& own = sums["swift"];
    const Sums& vanilla = sums["vanilla"];
    QVERIFY(isNear(swift["tokens_per_second"].toDouble(), own.tokens / own.decodeMs * 1e3));
    QVERIFY(isNear(swift["speedup"].toDouble(),
                   own.tokens / own.decodeMs / (vanilla.tokens / vanilla.decodeMs)));
    QVERIFY(isNear(swift["speedup_with_prompt"].toDouble(),
                   own.tokens / own.allMs / (vanilla.tokens / vanilla.allMs)));
    QVERIFY(isNear(swift["speedup_of_means"].toDouble(), own.rates / vanilla.rates));
    QVERIFY(isNear(lines.constLast()["decoders"]["vanilla"]["speedup"].toDouble(), 1.0));
    // Equation 6 with M and acceptance as told, beside the speedup.
    const QJsonValue six = swift["equation_6"];
    const double m = swift["M"].toDouble();
    const double accepted = swift["acceptance"].toDouble();
    for (const auto& [cost, name] :
         {std::pair("c_by_ratio", "by_ratio"), {"c_measured", "by_cost"}}) {
        const double c = six[cost].toDouble();
        const double expected = six[QString("expected_%1").arg(name)].toDouble();
        QVERIFY(c > 0.0);
        QVERIFY(isNear(expected, m * accepted / ((m - 1.0) * c + accepted)));
        QVERIFY(isNear(six[QString("error_%1").arg(name)].toDouble(),
                       expected / swift["speedup"].toDouble() - 1.0));
    }
    QVERIFY(six["c_by_ratio"].toDouble() < 1.0);
    QVERIFY(lines.constLast()["decoders"]["vanilla"]["equation_6"]["expected_by_cost"].isNull());
}

void SwiftRunCompareTest::theLimitHoldsForEachFile() {
    const QString second = data("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n", "second.jsonl");
    const QJsonObject done =
        compare({"--data", second, "--limit", "1", "--json"}).jsonLines().constLast();
    QCOMPARE(done["prompts"].toInt(), 2);
    QCOMPARE(done["tasks"].toObject().keys(), (QStringList{"greeting", "second"}));
}

void SwiftRunCompareTest::turnsAreAskedBehindTheModelsOwnAnswers() {
    const auto promptTokens = [&](const QByteArray& prompt) {
        const QString file = data("{\"prompt\":" + prompt + "}\n");
        return compare({"--decoders", "vanilla", "--json"}, file)
            .jsonLines()
            .constFirst()["prompt_tokens"]
            .toInt();
    };
    // Two halves; the second turn holds the first one, its answer and itself.
    const int first = promptTokens("\"Hi\"");
    const int second = promptTokens("\"And you?\"");
    QVERIFY(promptTokens("[\"Hi\",\"And you?\"]") > 2 * first + second);
}

void SwiftRunCompareTest::aDifferenceIsNoEqualPrompt() {
    const auto lines = compareFaulty("wrong token", false).jsonLines();
    const QJsonValue faulty = lines.constLast()["decoders"]["faulty"];
    QCOMPARE(faulty["prompts"].toInt(), 2);
    QCOMPARE(faulty["equal"].toInt(-1), 0);
    QCOMPARE(faulty["near_ties"].toInt(-1), 0);
    for (const QJsonObject& line : lines) {
        if (line["decoder"] != "faulty")
            continue;
        const QJsonArray differences = line["differences"].toArray();
        QCOMPARE(differences.size(), 2); // one in each half
        QCOMPARE(differences[0]["position"].toInt(), 2);
        QCOMPARE(differences[1]["half"].toString(), QString("reverse"));
    }
    QCOMPARE(lines.constLast()["decoders"]["vanilla"]["equal"].toInt(), 2);
}

void SwiftRunCompareTest::aNearTieIsCountedApart() {
    const auto lines = compareFaulty("twin token", true).jsonLines();
    const QJsonValue faulty = lines.constLast()["decoders"]["faulty"];
    QCOMPARE(faulty["equal"].toInt(-1), 0);
    QCOMPARE(faulty["near_ties"].toInt(-1), 2);
    QCOMPARE(lines.first()["decoder"].toString(), QString("vanilla"));
    QCOMPARE(lines[1]["differences"][0]["margin"].toDouble(-1.0), 0.0);
    const QJsonValue sound =
        compareFaulty("none", true).jsonLines().constLast()["decoders"]["faulty"];
    QCOMPARE(sound["equal"].toInt(), 2);
    QCOMPARE(sound["near_ties"].toInt(-1), 0);
}

void SwiftRunCompareTest::settingsGoToTheDecoderTheyName() {
    const auto steps = [&](const QString& setting) {
        return compare({"--set", setting, "--set", "swift.weigh=off", "--json"})
            .jsonLines()
            .constLast()["decoders"]["swift"]["draft_steps"]
            .toInt();
    };
    // A draft of one token costs one pass; without a threshold drafts get as long as they may.
    QVERIFY(steps("swift.max_draft=1") < steps("epsilon=0"));
}

void SwiftRunCompareTest::theTableHasARowForEachTaskAndDecoder() {
    const ProgramRun result = compare({"--planted"});
    QCOMPARE(result.exitCode, 0);
    int rows = 0;
    for (const QByteArray& line : result.output.split('\n'))
        rows += line.contains("vanilla ") || line.contains("swift ") ? 1 : 0;
    QCOMPARE(rows, 6 + 3); // two tasks and all, two decoders; equation 6 for swift
    for (const char* part :
         {"greeting", "chat", "all", "speedup", "accepted/drafted", "equation 6"})
        QVERIFY2(result.output.contains(part), part);
    QVERIFY(!result.output.contains("INCOMPLETE"));
}

void SwiftRunCompareTest::tokensPerLayerCountsPassesByTheirLayers() {
    const auto lines =
        compare({"--decoders", "vanilla,self_sd,lookup", "--set", "self_sd.r=0.5", "--json"})
            .jsonLines();
    const QJsonValue decoders = lines.constLast()["decoders"];
    const double layers = 1.0 / decoders["vanilla"]["tokens_per_layer"].toDouble();
    QVERIFY(layers > 1.0 && isNear(layers, std::round(layers))); // 1 / L
    // A free draft costs no layer: all its passes are verifying ones.
    const QJsonValue lookup = decoders["lookup"];
    QVERIFY(isNear(lookup["tokens_per_layer"].toDouble() * layers,
                   lookup["tokens"].toDouble() / lookup["steps"].toDouble()));
    // Half of the sublayers are left out: a draft pass costs half a verifying one.
    const QJsonValue half = decoders["self_sd"];
    const double passes =
        half["tokens"].toDouble() / (half["tokens_per_layer"].toDouble() * layers);
    QVERIFY(half["draft_steps"].toDouble() > 0.0);
    QVERIFY(isNear(passes, half["steps"].toDouble() + 0.5 * half["draft_steps"].toDouble()));
    double sum = 0.0;
    int prompts = 0;
    for (const QJsonObject& line : lines)
        if (line["event"] == "prompt" && line["decoder"] == "self_sd") {
            sum += line["tokens_per_layer"].toDouble();
            ++prompts;
        }
    QVERIFY(isNear(half["mean_tokens_per_layer"].toDouble(), sum / prompts));
}

void SwiftRunCompareTest::timesOfATokenAddUpToItsTime() {
    const auto done = compare({"--json"}).jsonLines().constLast();
    for (const char* name : {"vanilla", "swift"}) {
        const QJsonValue own = done["decoders"][name];
        double sum = 0.0;
        for (const char* part : {"draft", "verify", "search", "other"}) {
            const double ms = own["ms_per_token"][part].toDouble(-1.0);
            QVERIFY2(ms >= 0.0, part);
            sum += ms;
        }
        QVERIFY(isNear(sum, own["decode_ms"].toDouble() / own["tokens"].toDouble()));
    }
}

void SwiftRunCompareTest::theCsvFileHasTheFiguresOfTheDoneLine() {
    const QString file = data("{\"prompt\":\"Hi\",\"task\":\"=a, \\\"b\\\"\"}\n"
                              "{\"prompt\":\"Yes\",\"task\":\"plain\"}\n");
    const QString path = m_folder->filePath("out.csv");
    const ProgramRun result = compare({"--csv", path, "--planted", "--json"}, file);
    QCOMPARE(result.exitCode, 0);
    QFile csv(path);
    QVERIFY(csv.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = csv.readAll().trimmed().split('\n');
    QCOMPARE(lines.size(), 1 + 3 * 2); // names; two tasks and all, two decoders
    const QList<QByteArray> names = lines[0].trimmed().split(',');
    QVERIFY(lines[1].startsWith("task,\"'=a, \"\"b\"\"\",vanilla,")); // no formula
    const QList<QByteArray> cells = lines.last().trimmed().split(',');
    QCOMPARE(cells.size(), names.size());
    QCOMPARE(cells.mid(0, 4), (QList<QByteArray>{"all", "", "swift", "swift"}));
    const QJsonObject done = result.jsonLines().constLast();
    const QJsonValue swift = done["decoders"]["swift"];
    for (int i = 4; i < names.size(); ++i) {
        QByteArray name = names[i];
        if (name == "rouge1")
            break; // not scored here: see compare_quality_test
        const QJsonObject six = swift["equation_6"].toObject();
        const QJsonValue expected = name.endsWith("_ms_per_token")
                                        ? swift["ms_per_token"][QString(name.chopped(13))]
                                    : six.contains(QString(name)) ? six[QString(name)]
                                                                  : swift[QString(name)];
        QVERIFY2(expected.isDouble(), name.constData());
        QVERIFY2(isNear(cells[i].toDouble(), expected.toDouble()), name.constData());
    }
    const qsizetype acceptance = names.indexOf("acceptance");
    QVERIFY(!lines[1].trimmed().split(',')[names.indexOf("other_ms_per_token")].isEmpty());
    QCOMPARE(lines[3].trimmed().split(',')[acceptance], QByteArray()); // vanilla drafts nothing
}

void SwiftRunCompareTest::aCsvFileThatCannotBeWrittenIsToldBeforeTheWork() {
    for (const QString& path : {QString("/nowhere/at/all.csv"), m_folder->path()}) {
        const ProgramRun result = compare({"--csv", path, "--json"});
        QVERIFY(result.exitCode != 0);
        for (const QString& word : {QFileInfo(path).path(), QFileInfo(path).fileName()})
            QVERIFY2(result.errors.contains(word.toUtf8()), result.errors.constData());
        QVERIFY2(!result.output.contains("\"prompt\""), result.output.constData());
    }
}

void SwiftRunCompareTest::aDecoderThatGoesWrongIsOutAndTheOthersGoOn() {
    const ProgramRun result = compareFaulty("step", false);
    QCOMPARE(result.exitCode, static_cast<int>(app::kBug));
    QVERIFY2(result.errors.contains("faulty is dropped"), result.errors.constData());
    const auto lines = result.jsonLines();
    QCOMPARE(lines.last()["event"].toString(), QString("error"));
    QVERIFY(lines.last()["message"].toString().contains("decoder faulty"));
    const QJsonObject done = lines[lines.size() - 2];
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["prompts"].toInt(), 2);
    QCOMPARE(done["decoders"]["vanilla"]["prompts"].toInt(), 2);
    QCOMPARE(done["decoders"]["faulty"]["prompts"].toInt(-1), 0);
    QVERIFY(done["decoders"]["faulty"]["failure"].toString().contains("the fault in step"));
    QVERIFY(done["decoders"]["vanilla"]["failure"].isNull());
    QVERIFY(done["decoders"]["faulty"]["speedup"].isNull());
    QCOMPARE(std::count_if(lines.begin(),
                           lines.end(),
                           [](const QJsonObject& line) { return line["event"] == "given_up"; }),
             1);
}

void SwiftRunCompareTest::aDroppedDecoderIsComparedOnItsOwnPrompts() {
    const auto ran = compareFaulty("second begin", false);
    const auto lines = ran.jsonLines();
    QVERIFY2(lines.size() > 3, ran.errors.constData());
    const auto rate = [&](const char* decoder) { // of the first prompt
        return std::find_if(lines.begin(),
                            lines.end(),
                            [&](const auto& line) { return line["decoder"] == decoder; })
            ->value("tokens_per_second")
            .toDouble();
    };
    const QJsonValue decoders = lines[lines.size() - 2]["decoders"];
    QCOMPARE(decoders["vanilla"]["prompts"].toInt(), 2);
    QCOMPARE(decoders["faulty"]["prompts"].toInt(), 1);
    const double speedup = rate("faulty") / rate("vanilla");
    QVERIFY(isNear(decoders["faulty"]["speedup"].toDouble(), speedup));
    QVERIFY(isNear(decoders["faulty"]["speedup_of_means"].toDouble(), speedup));
}

void SwiftRunCompareTest::aPromptThatDoesNotFitIsLeftOut() {
    const QByteArray longPrompt = QByteArray("word ").repeated(300);
    const QString file =
        data("{\"prompt\":\"Hi\"}\n{\"prompt\":\"" + longPrompt + "\"}\n{\"prompt\":\"Yes\"}\n");
    const ProgramRun result = compare({"--context", "64", "--json"}, file);
    QCOMPARE(result.exitCode, 0);
    QCOMPARE(result.jsonLines().constLast()["prompts"].toInt(), 2);
    QCOMPARE(result.jsonLines().constLast()["left_out"].toInt(), 1);
    QVERIFY(result.errors.contains("line 2 was skipped"));
}

void SwiftRunCompareTest::aFileFullOfBadLinesDoesNotFloodTheTerminal() {
    const QString file = data("{\"prompt\":\"Hi\"}\n" + QByteArray("bad\n").repeated(1000));
    const ProgramRun result = compare({}, file);
    QCOMPARE(result.exitCode, 0);
    QVERIFY(result.errors.contains("line 2: "));
    QVERIFY(result.errors.contains("980 more invalid lines are skipped"));
    QVERIFY(result.errors.count('\n') < 40);
}

void SwiftRunCompareTest::badInputIsOneSentence_data() {
    QTest::addColumn<QByteArray>("lines");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const int usage = app::kUsage;
    const QByteArray good = "{\"prompt\":\"Hi\"}\n";
    QTest::newRow("empty file") << QByteArray() << QStringList{} << usage
                                << QStringList{"data.jsonl", "holds no prompts", "empty"};
    QTest::newRow("only bad lines") << QByteArray("[1]\n{\"text\":\"x\"}\n") << QStringList{}
                                    << usage << QStringList{"line 1", "line 2", "all 2 lines"};
    QTest::newRow("missing file") << good << QStringList{"--data", "nowhere.jsonl"}
                                  << static_cast<int>(app::kNotFound)
                                  << QStringList{"nowhere.jsonl"};
    QTest::newRow("unknown decoder")
        << good << QStringList{"--decoders", "vanilla,swfit"} << static_cast<int>(app::kNotFound)
        << QStringList{"swfit", "Did you mean swift?"};
    QTest::newRow("decoder twice") << good << QStringList{"--decoders", "swift,swift"} << usage
                                   << QStringList{"swift", "twice"};
    QTest::newRow("setting of nobody") << good << QStringList{"--set", "swif.r=0.4"} << usage
                                       << QStringList{"swif", "Did you mean swift?"};
    QTest::newRow("setting without drafts")
        << good << QStringList{"--decoders", "vanilla", "--set", "nonsense=1"} << usage
        << QStringList{"nonsense=1", "only vanilla is compared"};
    const QStringList two = {"--decoders", "a=swift,b=swift"};
    QTest::newRow("variant twice") << good << QStringList{"--decoders", "a=swift,a=lookup"} << usage
                                   << QStringList{"names a twice"};
    QTest::newRow("variant with a decoder's name")
        << good << QStringList{"--decoders", "lookup=swift"} << usage
        << QStringList{"lookup", "belongs to a decoder"};
    QTest::newRow("variant without a name") << good << QStringList{"--decoders", "=swift"} << usage
                                            << QStringList{"\"=swift\"", "no name"};
    QTest::newRow("variant of an unknown decoder")
        << good << QStringList{"--decoders", "a=swfit"} << static_cast<int>(app::kNotFound)
        << QStringList{"swfit", "Did you mean swift?"};
    QTest::newRow("setting of an unknown variant")
        << good << two + QStringList{"--set", "c.r=0.3"} << usage << QStringList{"sets c", "not "};
    QTest::newRow("setting of a decoder with variants")
        << good << two + QStringList{"--set", "swift.r=0.3"} << usage
        << QStringList{"sets swift", "a, b: name one of them"};
    QTest::newRow("setting out of range") << good << QStringList{"--set", "swift.r=7"} << usage
                                          << QStringList{"The setting r is", "0 to 0.95"};
    QTest::newRow("limit 0") << good << QStringList{"--limit", "0"} << usage
                             << QStringList{"--limit"};
    QTest::newRow("temperature") << good << QStringList{"--temperature", "-1"} << usage
                                 << QStringList{"emperature"};
}

void SwiftRunCompareTest::badInputIsOneSentence() {
    QFETCH(QByteArray, lines);
    QFETCH(QStringList, more);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    const ProgramRun result = compare(more, data(lines));
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    QVERIFY2(result.output.isEmpty(), result.output.constData());
    for (const QString& part : named)
        QVERIFY2(result.errors.contains(part.toUtf8()), result.errors.constData());
}

void SwiftRunCompareTest::ctrlCKeepsWhatIsThere() {
    QByteArray many;
    for (int i = 0; i < 20'000; ++i)
        many += "{\"prompt\":\"Hello\"}\n";
    QProcess process;
    process.start(support::swiftRunPath(), arguments(data(many)) + QStringList{"--json"});
    QVERIFY(process.waitForReadyRead(-1)); // the first prompt is done
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(-1));
    QCOMPARE(process.exitCode(), static_cast<int>(app::kCancelled));
    const QList<QByteArray> lines = process.readAllStandardOutput().trimmed().split('\n');
    const QJsonObject done = QJsonDocument::fromJson(lines[lines.size() - 2]).object();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["incomplete"].toBool(), true);
    QVERIFY(done["prompts"].toInt() > 0 && done["prompts"].toInt() < 20'000);
    QCOMPARE(done["decoders"]["swift"]["equal"].toInt(), done["prompts"].toInt());
}

QTEST_GUILESS_MAIN(SwiftRunCompareTest)
#include "swift_run_compare_test.moc"
