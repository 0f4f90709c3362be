// SPDX-License-Identifier: Apache-2.0
// A stopped run of `swift-run tune` goes on though its model lies elsewhere, and though an earlier
// version began it. No function needs LibTorch or a decoder.
#include "engine/base/to_size.h"
#include "engine/tuning/rows/row_store.h"
#include "tests/app/tune/tiny_tuning.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <memory>
#include <set>
#include <string>

using namespace engine;
using support::ProgramRun;
using test_support::TinyTuning;

namespace {

const QString kOut = "run";
const QString kPlan = kOut + ".work/plan.json";
const QString kRows = kOut + ".work/rows-00000.bin";

} // namespace

class SwiftRunTuneResumeTest : public QObject {
    Q_OBJECT

private slots:

    void init() { m_tuning = std::make_unique<TinyTuning>(); }

    void aRunGoesOnThoughItsModelWasMoved();
    void aRunOfAnEarlierVersionKeepsItsPromptsWhereTheyWere();

private:
    /// Collects the answers of all prompts.
    QStringList command(const QStringList& more = {}) const {
        return m_tuning->bare(
            kOut,
            QStringList{"--collect-only", "--answer-tokens", "4000", "--set", "longest_answer=48"} +
                more);
    }

    /// As where the run was stopped before it had kept any.
    void forgetAnswers() const { QVERIFY(QFile::remove(m_tuning->path(kRows))); }

    /// What the answers to the prompts of a task are for; fails by exception.
    std::set<RowSplit> splitsOf(const std::string& task) const {
        const QJsonObject plan = QJsonDocument::fromJson(m_tuning->read(kPlan)).object();
        const auto rows = RowStore::open(m_tuning->path(kOut + ".work").toStdString(),
                                         contentSumOf(plan["rows"].toString().toStdString()));
        ENGINE_CHECK(rows.hasValue(), "{}", rows.error().message);
        std::set<RowSplit> found;
        for (const RowSplit split : {RowSplit::Training, RowSplit::Validation, RowSplit::Test})
            for (const TextPlace place : rows.value().texts(split))
                if (rows.value().facts(place).task == task)
                    found.insert(split);
        return found;
    }

    std::unique_ptr<TinyTuning> m_tuning;
};

void SwiftRunTuneResumeTest::aRunGoesOnThoughItsModelWasMoved() {
    const ProgramRun first = TinyTuning::run(command());
    QVERIFY2(first.exitCode == 0, first.errors.constData());
    const QByteArray rows = m_tuning->read(kRows);
    QVERIFY(!rows.isEmpty());
    forgetAnswers();
    QVERIFY(QDir().rename(m_tuning->path("model"), m_tuning->path("renamed")));
    QStringList elsewhere = command({"--resume"});
    elsewhere[elsewhere.indexOf("--model") + 1] = m_tuning->path("renamed");
    const ProgramRun rest = TinyTuning::run(elsewhere);
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QCOMPARE(m_tuning->read(kRows), rows);
}

/// Prompts that are held out by their bytes, and trained on if the blank behind them counts
/// nothing.
void SwiftRunTuneResumeTest::aRunOfAnEarlierVersionKeepsItsPromptsWhereTheyWere() {
    QByteArray lines = m_tuning->read("data.jsonl");
    int found = 0;
    for (int length = 1; length < 200 && found < 3; ++length) {
        const std::string text = std::string(toSize(length), 'a') + "b ";
        if (splitOf(text, SplitRule::ByBytes) != RowSplit::Validation ||
            splitOf(text) != RowSplit::Training)
            continue;
        lines += QByteArray("{\"task\":\"blank\",\"prompt\":\"") + text.c_str() + "\"}\n";
        ++found;
    }
    QCOMPARE(found, 3);
    m_tuning->write("data.jsonl", lines);
    const ProgramRun first = TinyTuning::run(command());
    QVERIFY2(first.exitCode == 0, first.errors.constData());
    QCOMPARE(splitsOf("blank"), std::set<RowSplit>{RowSplit::Training});
    forgetAnswers();
    const QByteArray plan = m_tuning->read(kPlan).replace("version\\\":3", "version\\\":2");
    QVERIFY(plan != m_tuning->read(kPlan));
    m_tuning->write(kPlan, plan);
    const ProgramRun rest = TinyTuning::run(command({"--resume"}));
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QCOMPARE(splitsOf("blank"), std::set<RowSplit>{RowSplit::Validation});
    QCOMPARE(m_tuning->read(kPlan), plan);
}

QTEST_GUILESS_MAIN(SwiftRunTuneResumeTest)
#include "swift_run_tune_resume_test.moc"
