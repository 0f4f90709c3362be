// SPDX-License-Identifier: Apache-2.0
// A run on this machine that is killed goes on where it was, and only one process leads a folder.
#include "tests/app/experiment/small_experiment.h"

#include <QSet>
#include <QTest>

using support::ProgramRun;
using test_support::SmallExperiment;

namespace {

QString swiftRun() { return support::swiftRunPath(); }

} // namespace

class ExperimentKillTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        qputenv("SWIFT_STUDIO_DATA", m_experiment.path("memory").toUtf8());
        const ProgramRun whole = support::runProgram(swiftRun(), m_experiment.command("whole"));
        QVERIFY2(whole.exitCode == 0, whole.errors.constData());
    }

    void whatWasFinishedBeforeAKillIsNotRunAgain() {
        QStringList more;
        for (const int least : {2, SmallExperiment::kTasks + 1}) {
            QProcess process;
            process.start(swiftRun(), m_experiment.command("killed", more));
            QTRY_VERIFY2(m_experiment.finishedCount("killed") >= least,
                         process.readAllStandardError());
            process.kill();
            process.waitForFinished(-1);
            more = {"--resume"};
        }
        const QMap<int, QByteArray> before = shardFiles();
        QVERIFY2(before.size() < SmallExperiment::kShards, "the run was over before it was killed");
        // A shard that is run again has other times in its file.
        const ProgramRun rest =
            support::runProgram(swiftRun(), m_experiment.command("killed", more));
        QVERIFY2(rest.exitCode == 0, rest.errors.constData());
        const QMap<int, QByteArray> after = shardFiles();
        QCOMPARE(after.size(), qsizetype{SmallExperiment::kShards});
        for (const int shard : before.keys())
            QCOMPARE(after[shard], before[shard]);
    }

    void everyPromptIsCountedOnce() {
        QSet<QString> answers;
        int count = 0;
        for (int shard = 0; shard < SmallExperiment::kShards; ++shard) {
            const QString name = QString("shards/%1.json").arg(shard, 4, 10, QChar('0'));
            const QJsonObject killed = m_experiment.measured("killed/" + name);
            QCOMPARE(killed, m_experiment.measured("whole/" + name));
            for (const QJsonValue answer : killed["answers"].toArray()) {
                ++count;
                answers.insert(QString("%1 %2 %3")
                                   .arg(answer["variant"].toString())
                                   .arg(answer["prompt"].toInt())
                                   .arg(answer["pass"].toInt()));
            }
        }
        // Two prompts of each task, vanilla and swift, in order and in reverse order.
        QCOMPARE(count, SmallExperiment::kTasks * 2 * 2 * 2);
        QCOMPARE(answers.size(), qsizetype{count});
    }

    void aSecondProcessOnTheFolderIsRefusedAndTheFirstGoesOn() {
        QProcess first;
        first.start(swiftRun(), m_experiment.command("shared"));
        QTRY_VERIFY2(m_experiment.finishedCount("shared") >= 1, first.readAllStandardError());
        kill(static_cast<pid_t>(first.processId()), SIGSTOP);
        const int before = m_experiment.finishedCount("shared");
        QVERIFY2(before < SmallExperiment::kShards, "the run was over before it was stopped");
        const ProgramRun second =
            support::runProgram(swiftRun(), m_experiment.command("shared", {"--resume"}));
        support::expectRefusal(second, 2, {"Another process works on the run in"});
        const ProgramRun third =
            support::runProgram(swiftRun(), m_experiment.command("shared", {"--overwrite"}));
        support::expectRefusal(third, 2, {"Another process works on the run in"});
        QCOMPARE(m_experiment.finishedCount("shared"), before);
        kill(static_cast<pid_t>(first.processId()), SIGCONT);
        QTRY_VERIFY(first.state() == QProcess::NotRunning);
        QVERIFY2(first.exitCode() == 0, first.readAllStandardError());
        QCOMPARE(m_experiment.finishedCount("shared"), SmallExperiment::kShards);
    }

    void whatAnotherProcessFinishesMeanwhileIsNotRunAgain() {
        constexpr int shard = SmallExperiment::kTasks - 1; // the last one of the first stage
        QProcess leader;
        leader.start(swiftRun(), m_experiment.command("raced"));
        QTRY_VERIFY2(m_experiment.finishedCount("raced") >= 1, leader.readAllStandardError());
        kill(static_cast<pid_t>(leader.processId()), SIGSTOP);
        QVERIFY2(!m_experiment.isFinished("raced", shard - 1), "the stage was nearly over");
        const ProgramRun part = support::runProgram(swiftRun(),
                                                    {"experiment",
                                                     "--out",
                                                     m_experiment.path("raced"),
                                                     "--run-part",
                                                     QString::number(shard + 1)});
        QVERIFY2(part.exitCode == 0, part.errors.constData());
        const QByteArray before = shardFiles("raced").value(shard);
        QVERIFY(!before.isEmpty());
        kill(static_cast<pid_t>(leader.processId()), SIGCONT);
        QTRY_VERIFY(leader.state() == QProcess::NotRunning);
        QVERIFY2(leader.exitCode() == 0, leader.readAllStandardError());
        QCOMPARE(shardFiles("raced").value(shard), before);
        QCOMPARE(m_experiment.finishedCount("raced"), SmallExperiment::kShards);
    }

private:
    /// The finished shards of a run as they lie there.
    QMap<int, QByteArray> shardFiles(const QString& folder = "killed") const {
        QMap<int, QByteArray> files;
        for (int shard = 0; shard < SmallExperiment::kShards; ++shard) {
            QFile file(m_experiment.shardPath(folder, shard, "json"));
            if (file.open(QIODevice::ReadOnly))
                files[shard] = file.readAll();
        }
        return files;
    }

    SmallExperiment m_experiment;
};

QTEST_GUILESS_MAIN(ExperimentKillTest)
#include "experiment_kill_test.moc"
