// SPDX-License-Identifier: Apache-2.0
// An experiment on a real Slurm of one node and two processors, which this program starts for
// itself (tests/support/programs/one_node_slurm.py): parts are killed, the node is drained, the
// controller is away, and the result is that of a run on this machine.
#include "tests/app/experiment/small_experiment.h"
#include "tests/support/file_content.h"

#include <QScopeGuard>
#include <QTest>

#include <unistd.h>

using support::ProgramRun;
using test_support::processWith;
using test_support::SmallExperiment;

namespace {

/// What a command of Slurm prints.
QByteArray slurm(const QStringList& words) {
    return support::runProgram(words[0], words.mid(1)).output.trimmed();
}

/// Whether Slurm does as it is told.
bool tellSlurm(const QStringList& words) {
    return support::runProgram(words[0], words.mid(1)).exitCode == 0;
}

/// A run on the cluster, at work in a process of its own.
class ClusterRun {
public:
    ClusterRun(const SmallExperiment& experiment, const QStringList& more = {})
        : m_experiment(experiment) {
        m_process.start(
            support::swiftRunPath(),
            experiment.command(
                "cluster",
                QStringList{"--executor", "slurm", "--slurm-throttle", "2", "--slurm-poll", "0.2"} +
                    more));
    }

    ~ClusterRun() {
        m_process.kill();
        m_process.waitForFinished(-1);
    }

    ClusterRun(const ClusterRun&) = delete;
    ClusterRun& operator=(const ClusterRun&) = delete;

    bool isRunning() { return m_process.state() != QProcess::NotRunning; }

    /// Stops a part in its middle that was not stopped before: it has no result, and will have
    /// none. -1 if the run ends before.
    int stopAPart() {
        while (isRunning()) {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
            for (int shard = 0; shard < SmallExperiment::kShards; ++shard) {
                if (m_stopped.contains(shard) ||
                    !QFile::exists(m_experiment.shardPath("cluster", shard, "part.jsonl")))
                    continue;
                const auto process = processWith({"--run-part", QString::number(shard + 1)});
                if (!process || kill(*process, SIGSTOP) != 0)
                    continue;
                m_stopped.append(shard);
                if (!m_experiment.isFinished("cluster", shard)) {
                    m_last = *process;
                    return shard;
                }
                kill(*process, SIGCONT);
            }
        }
        return -1;
    }

    /// The process of the part that was stopped last.
    pid_t stopped() const { return m_last; }

    /// Kills the part that was stopped last.
    void killIt() const { kill(m_last, SIGKILL); }

    /// "7_3" of the part that was stopped last.
    QString taskOf(int shard) const {
        for (const QByteArray& task :
             slurm({"squeue", "--noheader", "--array", "--states=RUNNING", "--format=%F_%K"})
                 .split('\n'))
            if (task.endsWith("_" + QByteArray::number(shard)))
                return task;
        return {};
    }

    QByteArray errors() {
        m_errors += m_process.readAllStandardError();
        return m_errors;
    }

    int exitCode() const {
        return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1;
    }

private:
    const SmallExperiment& m_experiment;
    QProcess m_process;
    QList<int> m_stopped;
    QByteArray m_errors;
    pid_t m_last = 0;
};

QByteArray nodeState() { return slurm({"sinfo", "--noheader", "--format=%T"}); }

QString fileOfTheNode(const QString& name) {
    return qEnvironmentVariable("ONE_NODE_SLURM") + "/" + name;
}

} // namespace

class SlurmClusterTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        if (qEnvironmentVariableIsSet("NO_SLURM_BECAUSE"))
            QSKIP(qPrintable("There is no Slurm: " + qEnvironmentVariable("NO_SLURM_BECAUSE")));
        m_experiment.emplace();
        qputenv("SWIFT_STUDIO_DATA", m_experiment->path("memory").toUtf8());
        const ProgramRun local =
            support::runProgram(support::swiftRunPath(), m_experiment->command("local"));
        QVERIFY2(local.exitCode == 0, local.errors.constData());
        QCOMPARE(m_experiment->finishedCount("local"), SmallExperiment::kShards);
    }

    void cleanup() {
        if (m_experiment)
            QDir(m_experiment->path("cluster")).removeRecursively();
    }

    void killedPartsAndADrainedNodeChangeNothing() {
        ClusterRun run(*m_experiment);
        QVERIFY2(run.stopAPart() >= 0, run.errors());
        run.killIt();
        QVERIFY2(run.stopAPart() >= 0, run.errors());

        // As long as a part stands still, the run is not over, however fast the others are.
        QVERIFY(
            tellSlurm({"scontrol", "update", "NodeName=localhost", "State=DRAIN", "Reason=test"}));
        run.killIt();
        QTRY_COMPARE(nodeState(), QByteArray("drained"));
        const int before = m_experiment->finishedCount("cluster");
        QVERIFY2(before < SmallExperiment::kShards, "the run was over before the node was drained");
        QVERIFY(tellSlurm({"scontrol", "update", "NodeName=localhost", "State=RESUME"}));

        const int cancelled = run.stopAPart();
        QVERIFY2(cancelled >= 0, run.errors());
        const QString task = run.taskOf(cancelled);
        QVERIFY(!task.isEmpty());
        QVERIFY(tellSlurm({"scancel", task}));

        QTRY_VERIFY(!run.isRunning());
        QVERIFY2(run.exitCode() == 0, run.errors());
        QCOMPARE(run.errors().count("is run again"), 3);
        equalsTheLocalRun();
        const QJsonArray shards =
            m_experiment->measured("cluster/executor.json")["shards"].toArray();
        QCOMPARE(shards.size(), SmallExperiment::kShards);
        int attempts = 0;
        for (const QJsonValue shard : shards) {
            QCOMPARE(shard["phase"].toString(), QString("finished"));
            attempts += shard["attempts"].toInt();
        }
        QCOMPARE(attempts, SmallExperiment::kShards + 3);
    }

    void theLeaderMayDieAndTheControllerMayBeAway() {
        // A part stands still until Slurm answers again: before that the run cannot be over,
        // however fast the other parts are and however late the controller is back.
        pid_t part = 0;
        {
            ClusterRun run(*m_experiment);
            QVERIFY2(run.stopAPart() >= 0, run.errors());
            part = run.stopped();
            QTRY_VERIFY2(!run.isRunning() || m_experiment->finishedCount("cluster") >= 1,
                         run.errors());
            QVERIFY2(run.isRunning(), run.errors());
        } // kill -9; its jobs go on
        const auto goOn = qScopeGuard([part] { kill(part, SIGCONT); });
        const pid_t controller =
            support::fileBytes(fileOfTheNode("slurmctld.pid")).trimmed().toInt();
        QVERIFY(controller > 1);

        ClusterRun run(*m_experiment, {"--resume"});
        QTRY_VERIFY2(!run.isRunning() || m_experiment->finishedCount("cluster") >= 3, run.errors());
        QVERIFY2(run.isRunning(), run.errors());
        QCOMPARE(kill(controller, SIGTERM), 0);
        QTRY_VERIFY2(run.errors().contains("Unable to contact slurm controller"), run.errors());
        QVERIFY(QProcess::startDetached("slurmctld", {}));
        QTRY_VERIFY2(run.errors().contains("Slurm answers again."), run.errors());
        QCOMPARE(kill(part, SIGCONT), 0);
        QTRY_VERIFY(!run.isRunning());
        QVERIFY2(run.exitCode() == 0, run.errors());
        equalsTheLocalRun();
    }

    void aPartitionThatIsNotThereIsRefusedInSlurmsWords() {
        ClusterRun run(*m_experiment, {"--slurm-partition", "nowhere"});
        QTRY_VERIFY(!run.isRunning());
        QCOMPARE(run.exitCode(), 2);
        QVERIFY2(run.errors().contains("invalid partition specified: nowhere"), run.errors());
    }

private:
    void equalsTheLocalRun() const {
        for (int shard = 0; shard < SmallExperiment::kShards; ++shard) {
            const QString name = QString("shards/%1.json").arg(shard, 4, 10, QChar('0'));
            const QJsonObject local = m_experiment->measured("local/" + name);
            QVERIFY2(!local.isEmpty(), qPrintable(name));
            QCOMPARE(m_experiment->measured("cluster/" + name), local);
        }
        const QJsonObject local = m_experiment->measured("local/result.json");
        const QJsonObject merged = m_experiment->measured("cluster/result.json");
        for (const char* part : {"tables", "figures", "verdict", "is_complete"}) {
            QVERIFY2(local.contains(part), part);
            QCOMPARE(merged[part], local[part]);
        }
        QVERIFY(!remarksOf(local).isEmpty());
        QCOMPARE(remarksOf(merged), remarksOf(local));
    }

    /// What a result says in sentences, but for those about times.
    static QStringList remarksOf(const QJsonObject& result) {
        QStringList kept;
        for (const QJsonValue remark : result["remarks"].toArray())
            if (!remark.toString().contains("vanilla moved by"))
                kept.append(remark.toString());
        return kept;
    }

    std::optional<SmallExperiment> m_experiment;
};

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("ONE_NODE_SLURM") &&
        !qEnvironmentVariableIsSet("NO_SLURM_BECAUSE")) {
        std::vector<char*> words = {const_cast<char*>("python3"),
                                    const_cast<char*>("tests/support/programs/one_node_slurm.py")};
        words.insert(words.end(), argv, argv + argc);
        words.push_back(nullptr);
        execvp(words[0], words.data());
        return 1;
    }
    const QCoreApplication application(argc, argv);
    SlurmClusterTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "slurm_cluster_test.moc"
