// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/experiments/scripted_experiment.h"
#include "ui/experiments/queue/experiment_queue.h"

#include <QFileInfo>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace support;
using namespace ui;

/// The queue of experiments with a process that a script stands in for.
class ExperimentQueueTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ScriptedExperiment> m_script;
    std::unique_ptr<ExperimentQueue> m_queue;

    ExperimentPlaces places() const { return {m_script->program(), {}, m_script->folder()}; }

    /// As after the end of the program, however it came.
    void reopen() {
        m_queue.reset();
        m_queue = std::make_unique<ExperimentQueue>(places());
    }

    QString add(const char* recipe, const QString& title = QStringLiteral("Title")) {
        ExperimentJob job;
        job.title = title;
        job.recipe = QString::fromLatin1(recipe);
        job.arguments = {QStringLiteral("--size"), QStringLiteral("quick")};
        return m_queue->add(std::move(job));
    }

    JobState state(const QString& id) const { return m_queue->job(id)->state; }

    QStringList told(const QString& id) const {
        return ScriptedExperiment::told(m_queue->job(id)->folder);
    }

    /// What it is called with to go on; `executor` behind the folder.
    QString resumed(const QString& id, const char* executor = "") const {
        return QStringLiteral("experiment --resume --out %1%2 --control stdin --turns %3")
            .arg(m_queue->job(id)->folder, QLatin1String(executor), m_queue->turnsFile());
    }

private slots:

    void init() {
        m_script = std::make_unique<ScriptedExperiment>();
        m_queue = std::make_unique<ExperimentQueue>(places());
    }

    void cleanup() {
        m_queue.reset();
        m_script.reset();
    }

    void aJobRunsInAProcessWithItsFolder() {
        const QString id = add("done");
        QCOMPARE(state(id), JobState::Waiting);
        m_queue->run(id);
        QTRY_COMPARE(state(id), JobState::Finished);
        const QString folder = m_queue->job(id)->folder;
        QCOMPARE(told(id),
                 QStringList(QStringLiteral("experiment done --out %1 --size quick --control stdin "
                                            "--turns %2")
                                 .arg(folder, m_queue->turnsFile())));
        QVERIFY(m_queue->job(id)->endedAt.isValid());
        QVERIFY(m_queue->current() == nullptr);
    }

    void jobsRunOneAfterTheOther() {
        const QString first = add("work");
        const QString second = add("done");
        const QString third = add("done");
        m_queue->run(first);
        QTRY_COMPARE(told(first).size(), 1);
        m_queue->run(third); // in front of the second
        QCOMPARE(state(third), JobState::Waiting);
        QCOMPARE(m_queue->jobs()[1].id, third);
        QCOMPARE(m_queue->jobs().size(), std::size_t{3}); // it was moved, and left nothing behind
        m_queue->remove(first);
        QTRY_COMPARE(state(second), JobState::Finished);
        QCOMPARE(state(third), JobState::Finished);
        QVERIFY(m_queue->job(third)->endedAt <= m_queue->job(second)->endedAt);
    }

    void aRunGoesOnWithItsModelWhereItIsNow() {
        ExperimentJob job;
        job.recipe = QStringLiteral("fail");
        job.arguments = {QStringLiteral("--model"), QStringLiteral("before.gguf")};
        const QString id = m_queue->add(std::move(job));
        m_queue->run(id);
        QTRY_COMPARE(state(id), JobState::Failed);
        for (int start = 2; start <= 3; ++start) {
            if (start == 2)
                m_queue->runWithModel(id, QStringLiteral("now.gguf"));
            else
                m_queue->run(id);
            QTRY_COMPARE(state(id), JobState::Failed);
            QCOMPARE(told(id).size(), start);
        }
        const QString call = resumed(id);
        const auto end = call.indexOf(QStringLiteral(" --control"));
        QCOMPARE(told(id)[1], QString(call).insert(end, QStringLiteral(" --model now.gguf")));
        QCOMPARE(told(id)[2], call); // the run knows the place now
        const auto modelOfNext = [&] {
            return m_queue->job(m_queue->runAgain(id))->arguments.back();
        };
        QCOMPARE(modelOfNext(), QStringLiteral("before.gguf")); // the run has not taken it
        support::writeFile(m_queue->job(id)->folder + QStringLiteral("/plan.json"),
                           R"({"models":[{"path":"now.gguf"}]})");
        QCOMPARE(modelOfNext(), QStringLiteral("now.gguf"));
    }

    void aJobThatWasOnlyAddedWaits() {
        const QString id = add("done");
        QSignalSpy changed(m_queue.get(), &ExperimentQueue::changed);
        m_queue->begin();
        QCOMPARE(state(id), JobState::Waiting);
        QVERIFY(changed.isEmpty());
    }

    void theUserPausesAndGoesOn() {
        const QString id = add("work");
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 1);
        m_queue->pause(id);
        QCOMPARE(state(id), JobState::Paused);
        QTRY_COMPARE(told(id).size(), 2);
        m_queue->run(id);
        QCOMPARE(state(id), JobState::Running);
        QTRY_COMPARE(told(id).size(), 3);
        QCOMPARE(told(id).mid(1), QStringList({"pause", "resume"}));
    }

    void whatIsStoppedIsResumedInItsFolder() {
        const QString id = add("work");
        const QString waiting = add("done");
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 1);
        m_queue->stop(id);
        QTRY_COMPARE(state(id), JobState::Stopped);
        QCOMPARE(state(waiting), JobState::Waiting); // the user wanted rest
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 3);
        QCOMPARE(told(id)[1], QStringLiteral("stop"));
        QCOMPARE(told(id)[2], resumed(id));
    }

    /// The user may have moved both; the folder of the run has its own.
    void whatIsResumedNeedsNeitherItsRecipeNorItsPrompts() {
        ExperimentJob job;
        job.title = QStringLiteral("Title");
        job.recipe = QStringLiteral("work");
        job.arguments = QStringList({"--size", "quick", "--data", "gone.csv", "--text-field=q"}) +
                        QStringList({"--executor", "slurm", "--slurm-argument=-pcpu"}) +
                        QStringList({"--slurm-time", "2:00:00", "--model", "tiny"});
        const QString id = m_queue->add(std::move(job));
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 1);
        QVERIFY(told(id)[0].contains(QStringLiteral("--data gone.csv")));
        m_queue->stop(id);
        QTRY_COMPARE(state(id), JobState::Stopped);
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 3);
        QCOMPARE(told(id)[2],
                 resumed(id, " --executor slurm --slurm-argument=-pcpu --slurm-time 2:00:00"));
    }

    void aNoteOfTheProcessIsToldWhileItRuns() {
        const QString id = add("remark");
        m_queue->run(id);
        QTRY_COMPARE(m_queue->job(id)->notes.count, 2); // what is in brackets is none
        QCOMPARE(m_queue->job(id)->notes.newest,
                 QStringLiteral("Part 2 is run again: its file is damaged."));
        QCOMPARE(state(id), JobState::Running);
        m_queue->stop(id);
        QTRY_COMPARE(state(id), JobState::Stopped);
        QCOMPARE(m_queue->job(id)->notes.count, 2);
    }

    void theErrorOfTheProcessIsTheJobsSentence() {
        const QString id = add("fail");
        const QString next = add("done");
        m_queue->run(id);
        QTRY_COMPARE(state(id), JobState::Failed);
        QCOMPARE(m_queue->job(id)->sentence, QStringLiteral("There is no model. Give --model."));
        QTRY_COMPARE(state(next), JobState::Finished); // others do not suffer
    }

    void aKilledProcessIsNamedAsOne() {
        const QString id = add("crash");
        m_queue->run(id);
        QTRY_COMPARE(state(id), JobState::Failed);
        QVERIFY(m_queue->job(id)->sentence.contains(QStringLiteral("killed")));
    }

    void aProgramThatIsNotThereIsNamed() {
        QVERIFY(QFile::remove(m_script->program()));
        const QString id = add("done");
        m_queue->run(id);
        QTRY_COMPARE(state(id), JobState::Failed);
        QVERIFY(m_queue->job(id)->sentence.contains(m_script->program()));
    }

    void theListComesBackAndGoesOnIfTheUserHadItGoing() {
        const QString id = add("work", QStringLiteral("Nine tasks, by task"));
        const QString waiting = add("done");
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 1);
        const ExperimentJob before = *m_queue->job(id);
        reopen();
        QCOMPARE(*m_queue->job(id), before);
        QCOMPARE(m_queue->jobs().size(), std::size_t(2));
        // The process of before stopped because its input ended.
        QTRY_VERIFY(told(id).contains(QStringLiteral("end of input")));
        m_queue->begin();
        QTRY_COMPARE(told(id).size(), 3);
        QCOMPARE(told(id)[2], resumed(id));
        QCOMPARE(state(id), JobState::Running);
        QCOMPARE(state(waiting), JobState::Waiting);
    }

    void whatWasPausedIsOnlyOffered() {
        const QString id = add("work");
        m_queue->run(id);
        QTRY_COMPARE(told(id).size(), 1);
        m_queue->pause(id);
        reopen();
        m_queue->begin();
        QCOMPARE(state(id), JobState::Stopped);
        QVERIFY(m_queue->current() == nullptr);
    }

    void aDamagedListIsKeptAside() {
        add("done");
        m_queue.reset();
        support::writeFile(m_script->folder() + QStringLiteral("/queue.json"), "{\n\"format\":");
        m_queue = std::make_unique<ExperimentQueue>(places());
        QVERIFY(m_queue->jobs().empty());
        QVERIFY(m_queue->problem().contains(QStringLiteral(".damaged-")));
        QVERIFY2(m_queue->problem().contains(QStringLiteral("(line 2: ")),
                 qPrintable(m_queue->problem()));
        const QStringList kept = QDir(m_script->folder()).entryList({"queue.json.damaged-*"});
        QCOMPARE(kept.size(), 1);
    }

    void aListThatCannotBeWrittenIsTold() {
        support::writeFile(m_script->folder()); // a file where the folder should be
        QSignalSpy faulted(m_queue.get(), &ExperimentQueue::faulted);
        add("done");
        QTRY_COMPARE(faulted.size(), 1);
        QVERIFY(faulted.front().front().toString().contains(QStringLiteral("queue.json")));
    }

    void againIsANewRunOfTheSame() {
        const QString id = add("done");
        m_queue->run(id);
        QTRY_COMPARE(state(id), JobState::Finished);
        m_queue->setOutcome(id, QStringLiteral("1.27×"), true);
        const QString again = m_queue->runAgain(id);
        QTRY_COMPARE(state(again), JobState::Finished);
        QVERIFY(m_queue->job(again)->folder != m_queue->job(id)->folder);
        QVERIFY(m_queue->job(again)->outcome.isEmpty());
        QCOMPARE(m_queue->job(id)->outcome, QStringLiteral("1.27×"));
    }

    void folderNamesAreThoseThatEveryFileSystemTakes() {
        const QString folder = m_queue->folderFor(QStringLiteral("../Main: comparison / ü?"));
        QVERIFY(QFileInfo(folder).fileName().startsWith(QStringLiteral("main-comparison-2")));
        QCOMPARE(QFileInfo(folder).path(), m_script->folder());
        QVERIFY(QFileInfo(m_queue->folderFor(QStringLiteral("..")))
                    .fileName()
                    .startsWith(QStringLiteral("experiment-")));
    }
};

QTEST_GUILESS_MAIN(ExperimentQueueTest)
#include "experiment_queue_test.moc"
