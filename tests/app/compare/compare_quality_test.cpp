// SPDX-License-Identifier: Apache-2.0
// swift-run compare with references: answers are scored by their task, and every lossless decoder
// has vanilla's scores.
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"

#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

namespace {

const QString kModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

} // namespace

class CompareQualityTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void answersAreScoredByTheirTask();
    void theTableShowsThatQualityIsEqual();
    void theCsvFileHasTheScores();
    void withoutReferencesNothingIsScored();

private:
    ProgramRun compare(const QByteArray& lines, const QStringList& more) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

void CompareQualityTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("SWIFT_STUDIO_DATA", m_folder->path().toUtf8());
}

ProgramRun CompareQualityTest::compare(const QByteArray& lines, const QStringList& more) const {
    const QString file = support::writeFile(m_folder->filePath("data.jsonl"), lines);
    return support::runProgram(support::swiftRunPath(),
                               QStringList{"compare",
                                           "--data",
                                           file,
                                           "--model",
                                           kModel,
                                           "--backend",
                                           "plain",
                                           "--raw",
                                           "--max-tokens",
                                           "12",
                                           "--decoders",
                                           "vanilla,swift,lookup"} +
                                   more);
}

namespace {

const QByteArray kLines =
    "{\"task\":\"summarization\",\"prompt\":\"Hello\",\"reference\":[\"one\",\"two three\"]}\n"
    "{\"task\":\"math_reasoning\",\"prompt\":\"2+2\",\"reference\":\"#### 4\"}\n"
    "{\"task\":\"question_answering\",\"prompt\":\"Who?\",\"reference\":[\"Nobody\"]}\n"
    "{\"task\":\"story\",\"prompt\":\"Once\",\"reference\":\"upon\"}\n"
    "{\"task\":\"code\",\"prompt\":\"def f():\\n    '''>>> f()\\n    1\\n    '''\\n\"}\n";

} // namespace

void CompareQualityTest::answersAreScoredByTheirTask() {
    const ProgramRun result = compare(kLines, {"--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    for (const QString name : {"vanilla", "swift", "lookup"}) {
        const auto scores = [&](const char* task) {
            return done["tasks"][task][name]["quality"].toObject();
        };
        QCOMPARE(scores("summarization").keys(), (QStringList{"rouge1", "rouge2", "rougeL"}));
        QCOMPARE(scores("math_reasoning").keys(), QStringList{"exact_match"});
        QCOMPARE(scores("question_answering").keys(), QStringList{"exact_match"});
        QVERIFY(done["tasks"]["story"][name]["quality"].isNull());
        QVERIFY(done["tasks"]["code"][name]["quality"].isNull()); // not without --run-code
        QCOMPARE(done["decoders"][name]["quality"], done["decoders"]["vanilla"]["quality"]);
    }
}

void CompareQualityTest::theTableShowsThatQualityIsEqual() {
    const ProgramRun result = compare(kLines, {});
    QVERIFY2(result.output.contains("quality of the answers"), result.output.constData());
    QCOMPARE(result.output.count("the same as vanilla"), 3 * 2); // tasks with scores, decoders
    QVERIFY(!result.output.contains("NOT the same"));
}

void CompareQualityTest::theCsvFileHasTheScores() {
    const QString path = m_folder->filePath("out.csv");
    QCOMPARE(compare(kLines, {"--csv", path}).exitCode, 0);
    const QList<QByteArray> lines = support::fileBytes(path).trimmed().split('\n');
    const QList<QByteArray> names = lines[0].trimmed().split(',');
    QCOMPARE(names.mid(names.size() - 5),
             (QList<QByteArray>{"rouge1", "rouge2", "rougeL", "exact_match", "pass_at_1"}));
    const QList<QByteArray> last = lines.last().trimmed().split(',');
    QVERIFY(last.size() == names.size() && !last[names.indexOf("rouge1")].isEmpty());
    QVERIFY(!last[names.indexOf("exact_match")].isEmpty());
    QVERIFY(last[names.indexOf("pass_at_1")].isEmpty());
}

void CompareQualityTest::withoutReferencesNothingIsScored() {
    const ProgramRun result =
        compare("{\"task\":\"summarization\",\"prompt\":\"Hello\",\"reference\":[1]}\n", {});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY(!result.output.contains("quality"));
}

QTEST_GUILESS_MAIN(CompareQualityTest)
#include "compare_quality_test.moc"
