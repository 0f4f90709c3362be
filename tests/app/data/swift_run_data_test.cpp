// SPDX-License-Identifier: Apache-2.0
// What compare, search, stream and experiment have in common: which prompts they read, and in which
// order.
#include "app/exit_codes.h"
#include "tests/support/file_content.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

class SwiftRunDataTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void eachCommandTakesAFolderOfTables_data();
    void eachCommandTakesAFolderOfTables();
    void theOrderAndTheLimitsChooseThePrompts_data();
    void theOrderAndTheLimitsChooseThePrompts();
    void aTableNeedsNoHeader();
    void fieldsOfOtherNamesAreKept_data();
    void fieldsOfOtherNamesAreKept();
    void faultsOfAFolderAreNamedAndTheRestIsRun();
    void wrongOptionsAreOneSentence_data();
    void wrongOptionsAreOneSentence();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    void write(const QString& name, const std::string& text) const {
        support::writeText(path(name).toStdString(), text);
    }

    /// Runs a command with the tiny model.
    ProgramRun run(const QStringList& command) const {
        return support::runProgram(support::swiftRunPath(),
                                   command + QStringList{"--model",
                                                         path("model"),
                                                         "--backend",
                                                         "plain",
                                                         "--raw",
                                                         "--max-tokens",
                                                         "12",
                                                         "--json"});
    }

    /// "TASK ID" of all prompts that stream has answered, in their order.
    QStringList streamed(const QStringList& more) const {
        const ProgramRun result =
            run(QStringList{"stream", "--decoder", "vanilla", "--data"} + more);
        QStringList prompts;
        for (const QJsonObject& line : result.jsonLines())
            if (line["event"].toString() == "prompt")
                prompts << line["task"].toString() + " " + line["id"].toString();
        return prompts;
    }

    QTemporaryDir m_folder;
};

void SwiftRunDataTest::initTestCase() {
    qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
    const auto config = support::letterConfig(5);
    auto weights = support::randomWeights(config, 3);
    support::writeFolderModel(path("model").toStdString(), config, weights);
    QVERIFY(QDir(m_folder.path()).mkdir("data"));
    write("data/first.csv", "kind;question;id\nleft;abc ab;1\nleft;da;2\nright;be;3\n");
    write("data/second.tsv", "question\tkind\n\"cab\ndab\"\tright\n");
    write("data/README.md", "about them\n");
    write("plain.jsonl",
          "{\"prompt\":\"a\",\"task\":\"x\",\"id\":\"1\"}\n"
          "{\"prompt\":\"b\",\"task\":\"y\",\"id\":\"2\"}\n"
          "{\"prompt\":\"c\",\"task\":\"x\",\"id\":\"3\"}\n"
          "{\"prompt\":\"d\",\"task\":\"y\",\"id\":\"4\"}\n");
}

void SwiftRunDataTest::eachCommandTakesAFolderOfTables_data() {
    QTest::addColumn<QStringList>("command");
    QTest::addColumn<int>("prompts");
    QTest::newRow("stream") << QStringList{"stream", "--decoder", "vanilla"} << 4;
    QTest::newRow("compare") << QStringList{"compare", "--decoders", "vanilla"} << 4;
    QTest::newRow("search") << QStringList{"search",
                                           "--task",
                                           "right",
                                           "--method",
                                           "random",
                                           "--trials",
                                           "2",
                                           "--out",
                                           path("set.json")}
                            << 2;
}

void SwiftRunDataTest::eachCommandTakesAFolderOfTables() {
    QFETCH(const QStringList, command);
    QFETCH(const int, prompts);
    const ProgramRun result = run(
        command +
        QStringList{"--data", path("data"), "--text-field", "question", "--task-field", "kind"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QCOMPARE(result.jsonLines().constLast()["prompts"].toInt(), prompts);
}

void SwiftRunDataTest::theOrderAndTheLimitsChooseThePrompts_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QStringList>("expected");
    QTest::newRow("as is") << QStringList{} << QStringList{"x 1", "y 2", "x 3", "y 4"};
    QTest::newRow("by task") << QStringList{"--order", "by-task"}
                             << QStringList{"x 1", "x 3", "y 2", "y 4"};
    QTest::newRow("of each task") << QStringList{"--per-task", "1"} << QStringList{"x 1", "y 2"};
    QTest::newRow("of each file and task")
        << QStringList{"--limit", "3", "--order", "by-task"} << QStringList{"x 1", "x 3", "y 2"};
}

void SwiftRunDataTest::theOrderAndTheLimitsChooseThePrompts() {
    QFETCH(const QStringList, more);
    QTEST(streamed(QStringList{path("plain.jsonl")} + more), "expected");
}

void SwiftRunDataTest::aTableNeedsNoHeader() {
    write("bare.csv", "left:abc\nright:de\n");
    QCOMPARE(streamed({path("bare.csv"),
                       "--no-header",
                       "--separator",
                       ":",
                       "--text-field",
                       "2",
                       "--task-field",
                       "1"}),
             (QStringList{"left 1", "right 2"}));
}

void SwiftRunDataTest::fieldsOfOtherNamesAreKept_data() {
    QTest::addColumn<QStringList>("fields");
    QTest::addColumn<QStringList>("expected"); // task, id, prompt, reference
    QTest::newRow("named") << QStringList{"--text-field=question",
                                          "--task-field=kind",
                                          "--reference-field=answer",
                                          "--id-field=nr"}
                           << QStringList{"left n1 abc ab da", "right n2 be cab"};
    QTest::newRow("none")
        << QStringList{"--text-field=question", "--task-field", "", "--reference-field", ""}
        << QStringList{"mails 2 abc ab ", "mails 3 be "};
}

/// As a run of an experiment keeps them.
void SwiftRunDataTest::fieldsOfOtherNamesAreKept() {
    QFETCH(const QStringList, fields);
    QFETCH(const QStringList, expected);
    write("mails.csv",
          "nr,kind,question,answer,task,reference\nn1,left,abc ab,da,own,e\n"
          "n2,right,be,cab,own,e\n");
    write("mine.swiftexp",
          R"({"format": "swift-experiment", "version": 1, "name": "mine", "title": "Mine",
              "summary": "It compares.",
              "stages": [{"name": "run", "variants": [{"name": "lookup", "decoder": "lookup"}]}],
              "sizes": {"quick": {"prompts_per_task": 2, "max_tokens": 8}},
              "verdict": {"kind": "gain", "variant": "lookup"}})");
    const QString out = path(QStringLiteral("kept ") + QTest::currentDataTag());
    const ProgramRun result =
        run(QStringList{
                "experiment", path("mine.swiftexp"), "--data", path("mails.csv"), "--out", out} +
            fields);
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QStringList kept;
    for (const QByteArray& line : support::fileBytes(out + "/data.jsonl").trimmed().split('\n')) {
        const QJsonObject prompt = QJsonDocument::fromJson(line).object();
        kept << QStringLiteral("%1 %2 %3 %4")
                    .arg(prompt["task"].toString(),
                         prompt["id"].toString(),
                         prompt["prompt"].toString(),
                         prompt["reference"].toArray().first().toString());
    }
    QCOMPARE(kept, expected);
}

void SwiftRunDataTest::faultsOfAFolderAreNamedAndTheRestIsRun() {
    QVERIFY(QDir(m_folder.path()).mkdir("mixed"));
    write("mixed/a.csv", "other\nabc\n");
    write("mixed/b.csv", "prompt\n\"abc\" d\nde\n");
    const ProgramRun result = run({"stream", "--decoder", "vanilla", "--data", path("mixed")});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY2(result.errors.contains("a.csv has no column \"prompt\""), result.errors.constData());
    QVERIFY2(result.errors.contains("line 2: a quote"), result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["prompts"].toInt(), 1);
    QCOMPARE(done["bad_lines"].toInt(), 1);
}

void SwiftRunDataTest::wrongOptionsAreOneSentence_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QString>("named");
    QTest::newRow("order") << QStringList{"--order", "random"} << "shuffled";
    QTest::newRow("seed") << QStringList{"--order-seed", "-1"} << "-1";
    QTest::newRow("separator") << QStringList{"--separator", "::"} << "neither tab nor";
    QTest::newRow("field") << QStringList{"--task-field", "categry"} << "\"categry\"";
    QTest::newRow("per task") << QStringList{"--per-task", "0"} << "whole number";
    QTest::newRow("folder") << QStringList{"--data", path("memory none")} << "does not exist";
}

void SwiftRunDataTest::wrongOptionsAreOneSentence() {
    QFETCH(const QStringList, more);
    QFETCH(const QString, named);
    const ProgramRun result =
        run(QStringList{"stream", "--decoder", "vanilla", "--data", path("plain.jsonl")} + more);
    QVERIFY(result.exitCode == app::kUsage || result.exitCode == app::kNotFound);
    QVERIFY2(result.errors.contains(named.toUtf8()), result.errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunDataTest)
#include "swift_run_data_test.moc"
