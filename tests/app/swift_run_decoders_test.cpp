// SPDX-License-Identifier: Apache-2.0
// Choosing and setting a decoder on the command line.
#include "app/exit_codes.h"
#include "tests/support/programs/program_copy.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

namespace {

const QString kModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

ProgramRun run(const QStringList& arguments, const QByteArray& input = {}) {
    return support::runProgram(support::swiftRunPath(), arguments, input);
}

QStringList generate(const QStringList& more) {
    return QStringList{"generate",
                       "--model",
                       kModel,
                       "--backend",
                       "plain",
                       "--prompt",
                       "Hello world, hello world",
                       "--max-tokens",
                       "24",
                       "--json"} +
           more;
}

} // namespace

class SwiftRunDecodersTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void decodersAreListedWithSettingsAndProfiles();
    void settingsThatContradictEachOtherAreRefused();
    void oneDecoderIsDescribedAlone();
    void everyDecoderExplainsItself();
    void refusedModulesAreTold();
    void anotherDecoderMakesTheSameTokens();
    void stepsTellOriginsAndDrafts();
    void settingsReachTheDecoder();
    void chatTakesADecoder();
    void badChoicesAreRefused_data();
    void badChoicesAreRefused();
    void whatADecoderThrowsIsToldInOneSentence();
    void whatIsLearntAndCannotBeStoredIsToldOnce_data();
    void whatIsLearntAndCannotBeStoredIsToldOnce();

private:
    QTemporaryDir m_folder;
};

void SwiftRunDecodersTest::initTestCase() {
    // What a decoder remembers of its runs must not leave this folder.
    qputenv("SWIFT_STUDIO_DATA", m_folder.path().toUtf8());
}

void SwiftRunDecodersTest::decodersAreListedWithSettingsAndProfiles() {
    const ProgramRun result = run({"decoders", "--json"});
    QCOMPARE(result.exitCode, 0);
    QStringList names;
    QJsonObject swift;
    for (const QJsonObject& line : result.jsonLines()) {
        names << line["name"].toString();
        if (names.last() == "swift")
            swift = line;
    }
    QVERIFY(names.contains("vanilla") && names.contains("swift"));
    bool hasRatio = false;
    for (const QJsonValue setting : swift["settings"].toArray()) {
        for (const char* field : {"name", "kind", "default", "unit", "meaning", "effect"})
            QVERIFY2(setting.toObject().contains(field), field);
        if (setting["name"] == "r") {
            hasRatio = true;
            QCOMPARE(setting["minimum"].toDouble(-1.0), 0.0);
            QVERIFY(setting["maximum"].toDouble() > setting["default"].toDouble());
            QCOMPARE(setting["effect"].toString(), QString("new search"));
        }
    }
    QVERIFY(hasRatio);
    QVERIFY(swift["profiles"].toArray().size() >= 2);
    const ProgramRun people = run({"decoders"});
    QCOMPARE(people.exitCode, 0);
    for (const QJsonValue setting : swift["settings"].toArray()) {
        QCOMPARE(setting["group"].toString().isEmpty(), setting["name"] == "profile");
        if (setting["name"] == "epsilon")
            QCOMPARE(setting["needs"]["early_stop"].toBool(false), true);
    }
    for (const char* part : {"vanilla",
                             "swift",
                             "gamma",
                             "default 32",
                             "  Draft:\n",
                             "  Beyond the paper:\n",
                             "only with early_stop=on",
                             "profile=code"})
        QVERIFY2(people.output.contains(part), part);
}

/// Before any model is read: the folder need not exist.
void SwiftRunDecodersTest::settingsThatContradictEachOtherAreRefused() {
    const ProgramRun result = run({"generate",
                                   "--model",
                                   m_folder.filePath("none"),
                                   "--prompt",
                                   "x",
                                   "--decoder",
                                   "swift",
                                   "--set",
                                   "epsilon=.6",
                                   "--set",
                                   "early_stop=off"});
    QCOMPARE(result.exitCode, static_cast<int>(app::kUsage));
    QVERIFY2(result.errors.contains("The setting epsilon has no effect with early_stop=off."),
             result.errors);
    QVERIFY(result.errors.contains("Leave epsilon out, or set early_stop=on."));
}

void SwiftRunDecodersTest::oneDecoderIsDescribedAlone() {
    const auto lines = run({"decoders", "vanilla", "--json"}).jsonLines();
    QCOMPARE(lines.size(), 1);
    QCOMPARE(lines.first()["settings"].toArray().size(), 0);
    const ProgramRun unknown = run({"decoders", "vanila"});
    QCOMPARE(unknown.exitCode, static_cast<int>(app::kNotFound));
    QVERIFY(unknown.errors.contains("Did you mean vanilla?"));
}

/// In a paragraph: how it works, when it helps, when it does not.
void SwiftRunDecodersTest::everyDecoderExplainsItself() {
    const auto lines = run({"decoders", "--json"}).jsonLines();
    QVERIFY(lines.size() >= 5);
    for (const QJsonObject& line : lines) {
        const QString text = line["explanation"].toString();
        const QByteArray name = line["name"].toString().toUtf8();
        QVERIFY2(text.size() > 200 && text.endsWith('.'), name.constData());
        QVERIFY2(!text.contains("  ") && !text.contains('\n'), name.constData());
    }
    const QString swift = run({"decoders", "swift"}).output;
    const QString explanation =
        run({"decoders", "swift", "--json"}).jsonLines().constFirst()["explanation"].toString();
    QVERIFY(QString(swift).simplified().contains(explanation)); // whole, in lines of its own
    for (const QString& line : swift.split('\n').mid(0, 8))
        QVERIFY2(line.size() <= 200, qPrintable(line));
    QVERIFY(!run({"decoders"}).output.contains(explanation.left(40).toUtf8())); // a list stays one
}

void SwiftRunDecodersTest::refusedModulesAreTold() {
    const QTemporaryDir folder;
    const QString program =
        support::copyProgram(TEST_DECODER_DIR, {"echo", "stale", "throwing"}, folder.path());
    const ProgramRun result = support::runProgram(program, {"decoders", "--json"});
    QCOMPARE(result.exitCode, 0);
    QStringList names;
    int refusedCount = 0;
    for (const QJsonObject& line : result.jsonLines())
        if (line["event"] == "refused")
            ++refusedCount;
        else
            names << line["name"].toString();
    QCOMPARE(names, (QStringList{"echo", "vanilla"}));
    QCOMPARE(refusedCount, 2);
    QVERIFY(result.errors.contains("libdecoder_stale.so"));
}

void SwiftRunDecodersTest::anotherDecoderMakesTheSameTokens() {
    for (const QStringList& sampling : {QStringList{}, {"--temperature", "1", "--seed", "7"}}) {
        const QJsonObject vanilla = run(generate(sampling)).jsonLines().constLast();
        const ProgramRun drafted = run(generate(sampling + QStringList{"--decoder", "swift"}));
        QCOMPARE(drafted.exitCode, 0);
        const QJsonObject done = drafted.jsonLines().constLast();
        QCOMPARE(done["tokens"], vanilla["tokens"]);
        QVERIFY(vanilla["metrics"]["acceptance"].isNull());
        QCOMPARE(vanilla["metrics"]["M"].toDouble(), 1.0);
        const QJsonValue metrics = done["metrics"];
        QCOMPARE(metrics["decoder"].toString(), QString("swift"));
        QVERIFY(metrics["draft_steps"].toInt() > 0);
        int rounds = 0; // also those that did not draft: the answer's end may have no room for it
        double tokens = 0.0;
        for (const QJsonObject& line : drafted.jsonLines())
            if (line["event"] == "step") {
                ++rounds;
                tokens += static_cast<double>(line["tokens"].toArray().size());
            }
        QCOMPARE(metrics["M"].toDouble(), tokens / rounds);
        QCOMPARE(metrics["acceptance"].toDouble(),
                 metrics["accepted"].toDouble() / metrics["draft_steps"].toDouble());
        QVERIFY(metrics["draft_ms"].toDouble() > 0.0 && metrics["verify_ms"].toDouble() > 0.0);
    }
    QVERIFY(run(generate({"--decoder", "swift"})).errors.contains("accepted/drafted "));
}

void SwiftRunDecodersTest::stepsTellOriginsAndDrafts() {
    const auto lines = run(generate({"--decoder", "swift"})).jsonLines();
    int accepted = 0;
    for (const QJsonObject& line : lines) {
        if (line["event"] != "step")
            continue;
        const QJsonArray origins = line["origins"].toArray();
        const QJsonArray path = line["path"].toArray();
        const QJsonArray draft = line["draft"].toArray();
        QCOMPARE(origins.size(), line["tokens"].toArray().size());
        QCOMPARE(line.contains("draft"), origins.last() != QJsonValue("vanilla"));
        accepted += static_cast<int>(path.size());
        for (qsizetype i = 0; i < path.size(); ++i) {
            const QJsonValue node = draft[path[i].toInt()];
            QCOMPARE(node["token"], line["tokens"].toArray()[i]);
            QCOMPARE(node["parent"].toInt(), i == 0 ? -1 : path[i - 1].toInt());
        }
    }
    QVERIFY(accepted > 0);
    QCOMPARE(lines.last()["metrics"]["accepted"].toInt(), accepted);
}

void SwiftRunDecodersTest::settingsReachTheDecoder() {
    const QTemporaryDir folder;
    const QString program = support::copyProgram(TEST_DECODER_DIR, {"echo"}, folder.path());
    const auto longestDraft = [&](const QString& setting) {
        qsizetype longest = 0;
        const ProgramRun result =
            support::runProgram(program, generate({"--decoder", "echo", "--set", setting}));
        for (const QJsonObject& line : result.jsonLines())
            longest = std::max(longest, line["draft"].toArray().size());
        return longest;
    };
    QCOMPARE(longestDraft("length=2"), 2);
    QCOMPARE(longestDraft("length=5"), 5);
}

void SwiftRunDecodersTest::chatTakesADecoder() {
    const QStringList arguments = {
        "chat", "--model", kModel, "--backend", "plain", "--max-tokens", "8", "--json"};
    const auto answers = [&](const QStringList& more) {
        QJsonArray tokens;
        for (const QJsonObject& line : run(arguments + more, "Hi\nAnd you?\n").jsonLines())
            if (line["event"] == "done")
                tokens.append(line["tokens"]);
        return tokens;
    };
    QCOMPARE(answers({}).size(), 2);
    QCOMPARE(answers({"--decoder", "swift", "--set", "epsilon=0.1"}), answers({}));
}

void SwiftRunDecodersTest::badChoicesAreRefused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const int usage = app::kUsage;
    QTest::newRow("unknown decoder")
        << QStringList{"--decoder", "swfit"} << static_cast<int>(app::kNotFound)
        << QStringList{"swfit", "Did you mean swift?", "vanilla"};
    QTest::newRow("unknown setting") << QStringList{"--decoder", "swift", "--set", "gama=9"}
                                     << usage << QStringList{"gama", "Did you mean gamma?"};
    QTest::newRow("out of range") << QStringList{"--decoder", "swift", "--set", "r=2"} << usage
                                  << QStringList{"The setting r is", "a number from 0 to 0.95"};
    QTest::newRow("no value") << QStringList{"--decoder", "swift", "--set", "gamma"} << usage
                              << QStringList{"NAME=VALUE"};
    QTest::newRow("vanilla has none")
        << QStringList{"--set", "r=0.4"} << usage << QStringList{"vanilla", "no settings"};
    QTest::newRow("another model's skip set")
        << QStringList{"--decoder",
                       "swift",
                       "--set",
                       "start=manual",
                       "--set",
                       R"(skip_set={"attention":[7],"mlp":[]})"}
        << usage << QStringList{"attention layer 7", "layers 0 to 1"};
}

void SwiftRunDecodersTest::badChoicesAreRefused() {
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    const ProgramRun result = run(generate(arguments));
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    for (const QString& part : named)
        QVERIFY2(result.errors.contains(part.toUtf8()), result.errors.constData());
    QCOMPARE(result.jsonLines().constLast()["event"].toString(), QString("error"));
}

void SwiftRunDecodersTest::whatADecoderThrowsIsToldInOneSentence() {
    const QTemporaryDir folder;
    const QString program = support::copyProgram(TEST_DECODER_DIR, {"faulty"}, folder.path());
    const ProgramRun result =
        support::runProgram(program, generate({"--decoder", "faulty", "--set", "fault=step"}));
    QCOMPARE(result.exitCode, static_cast<int>(app::kBug));
    QCOMPARE(result.jsonLines().constLast()["code"].toString(), QString("Internal"));
    QVERIFY(result.errors.contains("the decoder faulty"));
    QVERIFY(result.errors.contains("the fault in step"));
}

void SwiftRunDecodersTest::whatIsLearntAndCannotBeStoredIsToldOnce_data() {
    QTest::addColumn<QString>("dataFolder");
    QTest::newRow("impossible folder") << "/dev/null/data";
    QTest::newRow("a file in its place") << m_folder.filePath("file");
    QTest::newRow("nothing can be made there") << "/proc/swift-studio";
}

void SwiftRunDecodersTest::whatIsLearntAndCannotBeStoredIsToldOnce() {
    QFETCH(QString, dataFolder);
    QFile file(m_folder.filePath("file"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const QByteArray usual = qgetenv("SWIFT_STUDIO_DATA");
    qputenv("SWIFT_STUDIO_DATA", dataFolder.toUtf8());
    for (const char* decoder : {"lookup", "auto"}) {
        const ProgramRun one = run(generate({"--decoder", decoder}));
        const ProgramRun chat = run({"chat",
                                     "--model",
                                     kModel,
                                     "--backend",
                                     "plain",
                                     "--decoder",
                                     decoder,
                                     "--max-tokens",
                                     "8",
                                     "--json"},
                                    "Hello\nHello again\n");
        for (const ProgramRun& result : {one, chat}) {
            QVERIFY2(result.exitCode == 0, result.errors.constData()); // the answer is whole
            QVERIFY2(result.errors.count("The table of successors could not be stored") == 1,
                     result.errors.constData());
            QVERIFY2(result.errors.contains("SWIFT_STUDIO_DATA"), result.errors.constData());
        }
    }
    qputenv("SWIFT_STUDIO_DATA", usual);
    const ProgramRun stored = run(generate({"--decoder", "lookup"}));
    QVERIFY2(!stored.errors.contains("stored"), stored.errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunDecodersTest)
#include "swift_run_decoders_test.moc"
