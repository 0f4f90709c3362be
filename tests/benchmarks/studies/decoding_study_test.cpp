// SPDX-License-Identifier: Apache-2.0
// The study of decoding: what its journal holds, that it goes on where it was stopped, and that a
// difference is told. No figure is checked that depends on the machine.
#include "app/exit_codes.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"

#include <QFile>
#include <QJsonArray>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

class DecodingStudyTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void everyPromptIsALineWithAllAnswers();
    void aSecondRunGoesOnWhereTheFirstEnded();
    void aLineThatWasCutOffIsMadeAnew();
    void otherSettingsAreRefused();
    void aDifferenceIsToldAndFails();
    void llamaTakesPartInBothOrders();

private:
    QString path(const QString& name) const { return m_folder->filePath(name); }

    void write(const QString& name, const QByteArray& content) const;
    QList<QByteArray> journal() const;
    ProgramRun study(const QStringList& more = {}) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

void DecodingStudyTest::write(const QString& name, const QByteArray& content) const {
    support::writeFile(path(name), content);
}

void DecodingStudyTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    write("a.txt", "One.\nTwo two.\n");
    write("b.txt", "Three three three.\nFour.\n");
}

QList<QByteArray> DecodingStudyTest::journal() const {
    QList<QByteArray> lines = support::fileBytes(path("journal.jsonl")).split('\n');
    lines.removeLast(); // behind the last line break
    return lines;
}

ProgramRun DecodingStudyTest::study(const QStringList& more) const {
    QStringList arguments = {"--model",
                             SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf",
                             "--data",
                             path("a.txt"),
                             "--data",
                             path("b.txt"),
                             "--decoders",
                             "lookup",
                             "--max-tokens",
                             "6",
                             "--past-end",
                             "--journal",
                             path("journal.jsonl"),
                             "--json"};
    return support::runProgram(TEST_DECODING_STUDY, arguments + more);
}

void DecodingStudyTest::everyPromptIsALineWithAllAnswers() {
    const ProgramRun run = study();
    QVERIFY2(run.exitCode == 0, run.errors.constData());
    const auto lines = journal();
    QCOMPARE(lines.size(), 5);
    QStringList order;
    for (const QByteArray& text : lines.mid(1)) {
        const QJsonObject line = QJsonDocument::fromJson(text).object();
        order << QFileInfo(line["data"].toString()).baseName();
        const QJsonArray answers = line["answers"].toArray();
        QStringList who;
        for (const QJsonValue answer : answers) {
            who << answer["decoder"].toString();
            QCOMPARE(answer["tokens"].toInt(), 6);
            QVERIFY(answer["equal"].toBool());
        }
        QCOMPARE(who, (QStringList{"vanilla", "lookup", "lookup", "vanilla"}));
    }
    QCOMPARE(order, (QStringList{"a", "b", "a", "b"})); // all files alike
    const QJsonObject done = run.jsonLines().constLast();
    QCOMPARE(done["answers"]["lookup"].toInt(), 8);
    QCOMPARE(done["tokens"]["lookup"].toInt(), 48);
    const QJsonValue ratio = done["ratios"][0];
    QCOMPARE(ratio["over"].toString(), QString("vanilla"));
    QCOMPARE(ratio["files"].toObject().keys(), (QStringList{"a", "b"}));
    QVERIFY(ratio["mean"]["ratio"].toDouble() > 0.0);
}

void DecodingStudyTest::aSecondRunGoesOnWhereTheFirstEnded() {
    QCOMPARE(study({"--prompts", "1"}).exitCode, 0);
    const auto first = journal();
    QCOMPARE(first.size(), 3);
    QCOMPARE(study().exitCode, 0);
    const auto second = journal();
    QCOMPARE(second.size(), 5);
    QCOMPARE(second.mid(0, 3), first);
    QCOMPARE(study().exitCode, 0);
    QCOMPARE(journal(), second);
    QCOMPARE(study({"--report"}).jsonLines().constLast()["answers"]["vanilla"].toInt(), 8);
}

void DecodingStudyTest::aLineThatWasCutOffIsMadeAnew() {
    QCOMPARE(study().exitCode, 0);
    QFile file(path("journal.jsonl"));
    QVERIFY(file.resize(file.size() - 20));
    QCOMPARE(study().exitCode, 0);
    QCOMPARE(journal().size(), 5);
    write("journal.jsonl", "no journal\n");
    QCOMPARE(study().exitCode, static_cast<int>(app::kCorruptFile));
}

void DecodingStudyTest::otherSettingsAreRefused() {
    QCOMPARE(study({"--prompts", "1"}).exitCode, 0);
    const auto before = journal();
    const ProgramRun other = study({"--weights", "bf16"});
    QCOMPARE(other.exitCode, static_cast<int>(app::kUsage));
    QVERIFY(other.errors.contains("other settings"));
    QCOMPARE(journal(), before);
}

void DecodingStudyTest::aDifferenceIsToldAndFails() {
    QCOMPARE(study().exitCode, 0);
    QByteArray text = support::fileBytes(path("journal.jsonl"));
    const qsizetype last = text.lastIndexOf("\"equal\":true,\"first_difference\":null");
    text.replace(last, 36, "\"equal\":false,\"first_difference\":3");
    write("journal.jsonl", text);
    const ProgramRun told = study({"--report"});
    QCOMPARE(told.exitCode, static_cast<int>(app::kBug));
    QVERIFY2(told.errors.contains("DIFFERENCE:"), told.errors.constData());
    QVERIFY(told.errors.contains("from token 3 on"));
}

/// The child only speaks the protocol: its tokens are its own, so they are seen to differ.
void DecodingStudyTest::llamaTakesPartInBothOrders() {
    const ProgramRun run = study({"--prompts",
                                  "1",
                                  "--against-llama-cpp",
                                  "--llama-python",
                                  QStandardPaths::findExecutable("python3"),
                                  "--llama-script",
                                  "tests/app/fake_llama_cpp.py"});
    QVERIFY2(run.exitCode == 0, run.errors.constData());
    QStringList who;
    const QJsonObject line = QJsonDocument::fromJson(journal().constLast()).object();
    for (const QJsonValue answer : line["answers"].toArray())
        who << answer["decoder"].toString();
    QCOMPARE(who,
             (QStringList{"vanilla", "lookup", "llama.cpp", "llama.cpp", "lookup", "vanilla"}));
    const QJsonObject done = run.jsonLines().constLast();
    QCOMPARE(done["differences"].toObject().keys(), QStringList{"llama.cpp"});
    QCOMPARE(done["ratios"].toArray().size(), 3); // lookup over vanilla, both over llama.cpp
}

QTEST_GUILESS_MAIN(DecodingStudyTest)
#include "decoding_study_test.moc"
