// SPDX-License-Identifier: Apache-2.0
// swift-run compare: which prompts of the data it takes.
#include "app/exit_codes.h"
#include "engine/tuning/rows/answer_rows.h"
#include "tests/support/programs/swift_run.h"

#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

namespace {

const QString kModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

} // namespace

class ComparePromptsTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() { qputenv("SWIFT_STUDIO_DATA", m_folder.path().toUtf8()); }

    void theTotalIsTakenFromTheTasksInTurn();
    void onlyPromptsThatAreNotTrainedOnAreHeldOut();
    void aRunWithoutAnyAnswerIsNoSuccess();

private:
    QString data(const QByteArray& lines, const QString& name = "data.jsonl") const {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(lines) != lines.size())
            qFatal("the data file cannot be written");
        return file.fileName();
    }

    static ProgramRun compare(const QStringList& more, const QString& file) {
        return support::runProgram(support::swiftRunPath(),
                                   QStringList{"compare",
                                               "--data",
                                               file,
                                               "--model",
                                               kModel,
                                               "--backend",
                                               "plain",
                                               "--max-tokens",
                                               "8",
                                               "--decoders",
                                               "vanilla"} +
                                       more);
    }

    QTemporaryDir m_folder;
};

void ComparePromptsTest::theTotalIsTakenFromTheTasksInTurn() {
    const QString first = data("{\"prompt\":\"Hello\",\"task\":\"greeting\"}\n"
                               "{\"prompt\":\"Hi\",\"task\":\"chat\"}\n"
                               "{\"prompt\":\"Good day\",\"task\":\"greeting\"}\n");
    const QString second = data("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n", "second.jsonl");
    const auto lines = compare({"--data", second, "--total", "3", "--json"}, first).jsonLines();
    QCOMPARE(lines.constLast()["prompts"].toInt(), 3);
    QCOMPARE(lines.constLast()["tasks"].toObject().keys(),
             (QStringList{"chat", "greeting", "second"}));
    for (const QJsonObject& line : lines)
        if (line["event"] == "prompt")
            QCOMPARE(line["of"].toInt(), 3);
}

/// Each text stands there twice, under two ids.
void ComparePromptsTest::onlyPromptsThatAreNotTrainedOnAreHeldOut() {
    QByteArray prompts;
    QByteArray trainedOn;
    QStringList heldOut;
    for (int i = 0; i < 24; ++i) {
        const QString id = QString("prompt-%1").arg(i);
        const QByteArray text = QByteArray("Hello ").repeated(i % 12 + 1).trimmed();
        const QByteArray line = "{\"id\":\"" + id.toUtf8() + "\",\"prompt\":\"" + text + "\"}\n";
        prompts += line;
        if (engine::splitOf(text.toStdString()) != engine::RowSplit::Training)
            heldOut << id;
        else
            trainedOn += line;
    }
    QVERIFY(!heldOut.isEmpty() && !trainedOn.isEmpty());
    const auto lines = compare({"--held-out", "--json"}, data(prompts)).jsonLines();
    QStringList asked;
    for (const QJsonObject& line : lines)
        if (line["event"] == "prompt") {
            asked << line["id"].toString();
            QCOMPARE(line["of"].toInt(), static_cast<int>(heldOut.size()));
        }
    QCOMPARE(asked, heldOut);
    QCOMPARE(lines.constLast()["left_out"].toInt(), 0);
    support::expectRefusal(
        compare({"--held-out"}, data(trainedOn)), app::kUsage, {"held out", "--held-out"});
}

void ComparePromptsTest::aRunWithoutAnyAnswerIsNoSuccess() {
    const QByteArray words = QByteArray("word ").repeated(300);
    const ProgramRun result =
        compare({"--context", "64", "--json"}, data("{\"prompt\":\"" + words + "\"}\n"));
    QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
    QVERIFY2(result.errors.contains("line 1 was skipped"), result.errors.constData());
    QVERIFY2(result.errors.contains("No prompt was answered."), result.errors.constData());
    const auto lines = result.jsonLines();
    QCOMPARE(lines[lines.size() - 2]["left_out"].toInt(), 1);
}

QTEST_GUILESS_MAIN(ComparePromptsTest)
#include "compare_prompts_test.moc"
