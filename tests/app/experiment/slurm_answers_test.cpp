// SPDX-License-Identifier: Apache-2.0
// What Slurm's commands print is read strictly, and what a user types for them is checked.
#include "app/commands/experiment/executors/slurm_board.h"
#include "app/commands/experiment/executors/slurm_commands.h"
#include "app/commands/experiment/executors/slurm_files.h"
#include "engine/experiments/run/executor_state.h"
#include "tests/support/file_content.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <numeric>

using namespace app;
using namespace engine;

class SlurmAnswersTest : public QObject {
    Q_OBJECT

private slots:

    void sbatchNamesAJob_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<qlonglong>("job"); // 0 = refused
        QTest::newRow("a number") << QByteArray("12\n") << 12LL;
        QTest::newRow("with a cluster") << QByteArray("12;north\n") << 12LL;
        QTest::newRow("nothing") << QByteArray() << 0LL;
        QTest::newRow("zero") << QByteArray("0\n") << 0LL;
        QTest::newRow("negative") << QByteArray("-3\n") << 0LL;
        QTest::newRow("words") << QByteArray("Submitted batch job 12\n") << 0LL;
        QTest::newRow("too large") << QByteArray("99999999999999999999\n") << 0LL;
    }

    void sbatchNamesAJob() {
        QFETCH(const QByteArray, text);
        QFETCH(const qlonglong, job);
        const auto read = readSbatchAnswer(text.toStdString());
        QCOMPARE(read.hasValue(), job != 0);
        if (read)
            QCOMPARE(qlonglong{read.value()}, job);
    }

    void squeueTellsWhereEachTaskIs() {
        const auto read = readSqueueAnswer("7|0|run.0|RUNNING|node1|None\n"
                                           "7|12|run.0|PENDING||Nodes are DOWN|DRAINED\n"
                                           "9|3|run.1|COMPLETED|node2|None\n"
                                           "8|N/A|other|STRANGE|node2|None\n",
                                           "run");
        QVERIFY(read);
        QCOMPARE(read.value().size(), std::size_t{3});
        const auto& waiting = read.value().at({.job = 7, .index = 12, .family = 0});
        QCOMPARE(waiting.phase, SlurmPhase::Queued);
        QCOMPARE(waiting.reason, std::string("Nodes are DOWN|DRAINED"));
        QCOMPARE(read.value().at({.job = 7, .index = 0, .family = 0}).node, std::string("node1"));
        QCOMPARE(read.value().at({.job = 9, .index = 3, .family = 1}).phase, SlurmPhase::Completed);
    }

    void anotherFormIsAnError_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("too few fields") << QByteArray("7|0|run.0|RUNNING|node1");
        QTest::newRow("no index") << QByteArray("7|N/A|run.0|RUNNING|node1|None");
        QTest::newRow("an unknown state") << QByteArray("7|0|run.0|DREAMING|node1|None");
        QTest::newRow("a negative job") << QByteArray("-7|0|run.0|RUNNING|node1|None");
        QTest::newRow("a negative index") << QByteArray("7|-1|run.0|RUNNING|node1|None");
        QTest::newRow("half a number") << QByteArray("7x|0|run.0|RUNNING|node1|None");
        QTest::newRow("bytes") << QByteArray("\x1b[2J\xff\xfe");
    }

    void anotherFormIsAnError() {
        QFETCH(const QByteArray, line);
        const auto read =
            readSqueueAnswer("7|1|run.0|RUNNING|node1|None\n" + line.toStdString() + "\n", "run");
        QVERIFY(!read);
        QCOMPARE(read.error().code, ErrorCode::CorruptFile);
        QVERIFY(read.error().message.find('\x1b') == std::string::npos);
    }

    void sacctTellsWhyATaskHasEnded() {
        const auto read = readSacctAnswer("7_0|run.0|CANCELLED by 1000|node1|0:15\n"
                                          "7_1|run.0|COMPLETED|node1|0:0\n"
                                          "7_[2-5%2]|run.0|PENDING|None assigned|0:0\n"
                                          "8|other|RUNNING|node2|0:0\n",
                                          "run");
        QVERIFY(read);
        QCOMPARE(read.value().size(), std::size_t{2});
        const auto& killed = read.value().at({.job = 7, .index = 0, .family = 0});
        QCOMPARE(killed.phase, SlurmPhase::Ended);
        QCOMPARE(killed.word, std::string("CANCELLED"));
        QCOMPARE(killed.reason, std::string("exit code 0:15"));
        for (const char* line :
             {"7_|run.0|FAILED|n|0:1", "7.batch|run.0|FAILED|n|0:1", "7_1|run.0"})
            QVERIFY2(!readSacctAnswer(line, "run"), line);
        QVERIFY(readSacctAnswer("", "run").value().empty());
    }

    void whatSlurmSaysIsQuotedInOneLine() {
        QCOMPARE(slurmSaid(""), std::string("nothing"));
        QCOMPARE(slurmSaid("Slurm accounting storage is disabled\n"),
                 std::string("Slurm accounting storage is disabled"));
        QCOMPARE(slurmSaid("sbatch: lua: welcome\nsbatch: error: invalid partition\x1b\nsbatch: "
                           "error: failed\n"),
                 std::string("sbatch: error: invalid partition?; sbatch: error: failed"));
    }

    void optionsAreOneWordEach_data() {
        QTest::addColumn<QString>("partition");
        QTest::addColumn<QString>("argument");
        QTest::addColumn<bool>("isAllowed");
        QTest::newRow("plain") << "small,large"
                               << "--qos=low" << true;
        QTest::newRow("two words") << "small --array=1"
                                   << "--qos=low" << false;
        QTest::newRow("two lines") << "small\nlarge"
                                   << "--qos=low" << false;
        QTest::newRow("a script") << "small"
                                  << "/bin/sh" << false;
        QTest::newRow("another array") << "small"
                                       << "--array=0-7" << false;
        QTest::newRow("another array, short") << "small"
                                              << "-a0-7" << false;
        QTest::newRow("another output") << "small"
                                        << "-o/dev/null" << false;
        QTest::newRow("an account, short") << "small"
                                           << "-Aphysics" << true;
    }

    void optionsAreOneWordEach() {
        QFETCH(const QString, partition);
        QFETCH(const QString, argument);
        QFETCH(const bool, isAllowed);
        const auto checked = checkSlurmOptions(
            {.partition = partition.toStdString(), .arguments = {argument.toStdString()}});
        QCOMPARE(checked.hasValue(), isAllowed);
        if (!checked)
            QCOMPARE(checked.error().code, ErrorCode::InvalidInput);
    }

    void shardsBeyondAThousandAreArraysOfTheirOwn() {
        std::vector<int> shards(2100);
        std::iota(shards.begin(), shards.end(), 0);
        SlurmBoard board(shards, 3);
        board.submit(5, {998, 999});
        board.submit(6, {1000, 2001});
        QCOMPARE(board.task(999), (SlurmTask{.job = 5, .index = 999, .family = 0}));
        QCOMPARE(board.task(2001), (SlurmTask{.job = 6, .index = 1, .family = 2}));
        SlurmBoard later(shards, 3);
        later.adopt({{{.job = 6, .index = 1, .family = 2},
                      {.phase = SlurmPhase::Running, .word = "RUNNING"}}});
        QVERIFY(!later.missing().contains(2001));
        QCOMPARE(later.missing().size(), std::size_t{2099});

        const test_support::TemporaryFolder folder;
        const auto script = SlurmFiles::make(folder.path()).value().writeScript(2);
        QVERIFY(script);
        QVERIFY(support::fileBytes(QString::fromStdString(script.value().string()))
                    .contains("--run-part $((2001 + SLURM_ARRAY_TASK_ID))"));
    }

    void theStateFileComesBackAsItWasKept() {
        const test_support::TemporaryFolder folder;
        QVERIFY(!loadExecutorState(folder.path()).value());
        const ExecutorState state{.executor = "slurm",
                                  .id = "0123456789abcdef",
                                  .shards = {{.shard = 3,
                                              .phase = ExecutorPhase::GivenUp,
                                              .attempts = 3,
                                              .place = "job 7_3 on node1",
                                              .ended = "TIMEOUT \"x\""}}};
        QVERIFY(saveExecutorState(folder.path(), state));
        const auto loaded = loadExecutorState(folder.path());
        QVERIFY(loaded);
        QVERIFY(loaded.value() == state);
        folder.write("executor.json", "{\"shards\":[{\"shard\":\"three\"}]}");
        const auto damaged = loadExecutorState(folder.path());
        QVERIFY(!damaged);
        QCOMPARE(damaged.error().code, ErrorCode::CorruptFile);
    }
};

QTEST_GUILESS_MAIN(SlurmAnswersTest)
#include "slurm_answers_test.moc"
