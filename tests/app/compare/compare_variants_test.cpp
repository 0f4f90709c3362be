// SPDX-License-Identifier: Apache-2.0
// swift-run compare with one decoder several times, under names of its own, and with drafts that
// have no ratio.
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"

#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

namespace {

const QString kModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

} // namespace

class CompareVariantsTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void eachVariantHasItsOwnSettingsAndFigures();
    void theTableSaysWhatAVariantIs();
    void theCsvFileNamesVariantAndDecoder();
    void aSettingForAllReachesEveryVariantThatDrafts();
    void draftsThatLeaveNoLayersOutHaveNoRatio();

private:
    ProgramRun run(const QStringList& more) const;
    ProgramRun compare(const QStringList& more) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

void CompareVariantsTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("SWIFT_STUDIO_DATA", m_folder->path().toUtf8());
    support::writeFile(m_folder->filePath("data.jsonl"),
                       "{\"prompt\":\"Hello world\"}\n{\"prompt\":\"Once upon a time\"}\n");
}

ProgramRun CompareVariantsTest::run(const QStringList& more) const {
    const QStringList command{
        "compare", "--data", m_folder->filePath("data.jsonl"), "--model", kModel};
    return support::runProgram(support::swiftRunPath(), command + more);
}

ProgramRun CompareVariantsTest::compare(const QStringList& more) const {
    return run(
        QStringList{
            "--backend", "plain", "--max-tokens", "12", "--decoders", "vanilla,a=swift,b=swift"} +
        more);
}

void CompareVariantsTest::eachVariantHasItsOwnSettingsAndFigures() {
    const ProgramRun result =
        compare({"--set", "a.max_draft=1", "--set", "b.max_draft=6", "--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const auto lines = result.jsonLines();
    const QJsonObject decoders = lines.constLast()["decoders"].toObject();
    QCOMPARE(decoders.keys(), (QStringList{"a", "b", "vanilla"}));
    for (const QString name : {"a", "b"}) {
        QCOMPARE(decoders[name]["decoder"].toString(), QString("swift"));
        QCOMPARE(decoders[name]["equal"].toInt(), 2);
    }
    QCOMPARE(decoders["a"]["settings"]["max_draft"].toDouble(), 1.0);
    QCOMPARE(decoders["b"]["settings"]["max_draft"].toDouble(), 6.0);
    QVERIFY(decoders["vanilla"]["settings"].toObject().isEmpty());
    QStringList variants;
    for (const QJsonObject& line : lines)
        if (line["event"] == "prompt") {
            variants << line["variant"].toString();
            QCOMPARE(line["decoder"].toString(),
                     QString(line["variant"] == "vanilla" ? "vanilla" : "swift"));
        }
    QCOMPARE(variants, (QStringList{"vanilla", "a", "b", "vanilla", "a", "b"}));
}

void CompareVariantsTest::theTableSaysWhatAVariantIs() {
    const ProgramRun result = compare({"--set", "a.r=0.3"});
    QVERIFY2(result.output.contains("a = swift with r=0.3\n"), result.output.constData());
    QVERIFY2(result.output.contains("b = swift\n"), result.output.constData());
}

void CompareVariantsTest::theCsvFileNamesVariantAndDecoder() {
    const QString path = m_folder->filePath("out.csv");
    QCOMPARE(compare({"--csv", path}).exitCode, 0);
    const QList<QByteArray> lines = support::fileBytes(path).split('\n');
    QVERIFY(lines[0].startsWith("scope,task,variant,decoder,"));
    QVERIFY2(lines[2].startsWith("task,data,a,swift,"), lines[2].constData());
    QVERIFY2(lines[3].startsWith("task,data,b,swift,"), lines[3].constData());
}

void CompareVariantsTest::aSettingForAllReachesEveryVariantThatDrafts() {
    const QJsonObject done = compare({"--set", "r=0.25", "--json"}).jsonLines().constLast();
    for (const QString name : {"a", "b"})
        QCOMPARE(done["decoders"][name]["settings"]["r"].toDouble(), 0.25);
}

void CompareVariantsTest::draftsThatLeaveNoLayersOutHaveNoRatio() {
    const QString file = m_folder->filePath("comparison.csv");
    const QStringList copy{"--max-tokens", "16", "--decoders", "low_precision"};
    const QJsonObject done =
        run(copy + QStringList{"--json", "--csv", file}).jsonLines().constLast();
    const QJsonObject six = done["decoders"]["low_precision"]["equation_6"].toObject();
    QVERIFY(six["c_measured"].toDouble() > 0.0);
    for (const char* none : {"c_by_ratio", "expected_by_ratio", "error_by_ratio"})
        QVERIFY2(six[none].isNull(), none);
    const QList<QByteArray> lines = support::fileBytes(file).trimmed().split('\n');
    const qsizetype place = lines.first().trimmed().split(',').indexOf("c_by_ratio");
    QCOMPARE(lines.last().trimmed().split(',')[place], QByteArray());
    const QByteArray table = run(copy).output;
    QVERIFY2(table.contains("expects - with c = 1 - r and "), table.constData());
    QCOMPARE(table.count("- : r is the share of the layers that drafts leave out"), 1);
}

QTEST_GUILESS_MAIN(CompareVariantsTest)

#include "compare_variants_test.moc"
