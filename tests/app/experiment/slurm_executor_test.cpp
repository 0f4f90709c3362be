// SPDX-License-Identifier: Apache-2.0
// Shards as job arrays of a Slurm that is a script: what is submitted, what again, and what is
// said.
#include "app/commands/experiment/executors/slurm_executor.h"
#include "app/commands/experiment/executors/slurm_files.h"
#include "engine/experiments/run/executor_state.h"
#include "tests/app/experiment/many_shards.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace app;
using namespace engine;
using test_support::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

/// The interpreter itself: a launcher of one, as some machines have, takes ten times as long, and
/// is called a thousand times here.
const QByteArray& python() {
    static const QByteArray path =
        support::runProgram("python3", {"-c", "import sys; print(sys.executable)"})
            .output.trimmed();
    return path;
}

/// A run folder beside a Slurm that is a script.
class Cluster {
public:
    explicit Cluster(int shards)
        : m_run(test_support::makeRunOf(shards, m_folder.path() / "it's a run").value()) {
        const fs::path script =
            m_folder.write("fake_slurm",
                           "#!" + python().toStdString() + " -IS\n" +
                               support::fileText("tests/app/experiment/fake_slurm.py"));
        fs::permissions(script, fs::perms::owner_all);
        fs::create_directory(commands());
        for (const char* name : {"sbatch", "squeue", "sacct", "scancel", "scontrol"})
            fs::create_symlink(script, commands() / name);
        m_path = qgetenv("PATH");
        qputenv("PATH", QByteArray::fromStdString(commands().string()) + ":" + m_path);
        qputenv("FAKE_SLURM", QByteArray::fromStdString(m_folder.path().string()));
    }

    ~Cluster() {
        qputenv("PATH", m_path);
        for (const char* name : {"FAKE_SLURM", "FAKE_SLURM_FATES", "FAKE_SLURM_FAULTS"})
            qunsetenv(name);
    }

    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    fs::path commands() const { return m_folder.path() / "bin"; }

    const RunFolder& folder() const { return m_run; }

    /// Runs all shards to the end, without pauses between the questions.
    Result<void> run(SlurmOptions options = {}) {
        options.pollSeconds = 0;
        ENGINE_TRY(const auto executor, makeSlurmExecutor(m_run, options));
        std::vector<int> shards;
        for (const PlannedShard& shard : m_run.plan().shards)
            shards.push_back(shard.index);
        return executor->run(shards,
                             {.onState =
                                  [this](const ShardState& state) {
                                      if (onState)
                                          onState(state);
                                  },
                              .onNote =
                                  [this](const std::string& note) {
                                      notes.append(QString::fromStdString(note));
                                      if (onNote)
                                          onNote();
                                  },
                              .onFailure =
                                  [this](int shard, const Error& error) {
                                      failed.append(shard);
                                      notes.append(QString::fromStdString(error.message));
                                  }},
                             pause,
                             stop.get_token());
    }

    /// The calls of one command, in order.
    QByteArrayList calls(const QByteArray& command) const {
        QByteArrayList found;
        for (const QByteArray& line :
             QByteArray::fromStdString(support::fileText(m_folder.path() / "calls")).split('\n'))
            if (line.startsWith(command + " "))
                found.append(line);
        return found;
    }

    /// The arrays that were submitted, in order: "0-4%2".
    QByteArrayList arrays() const {
        QByteArrayList found;
        for (const QByteArray& call : calls("sbatch"))
            found.append(call.split('=')[1].split(' ')[0]);
        return found;
    }

    /// How often each shard was run.
    QMap<int, int> runs() const {
        QMap<int, int> counts;
        for (const QByteArray& line :
             QByteArray::fromStdString(support::fileText(m_run.path() / "slurm" / "ran"))
                 .split('\n'))
            if (!line.isEmpty())
                ++counts[line.toInt()];
        return counts;
    }

    ExecutorShard kept(int shard) const {
        const auto state = loadExecutorState(m_run.path()).value();
        return state.value().shards.at(static_cast<std::size_t>(shard));
    }

    int finishedCount() const {
        int count = 0;
        for (const ShardState& state : m_run.states())
            count += state.phase == ShardPhase::Finished ? 1 : 0;
        return count;
    }

    QStringList notes;
    QList<int> failed;
    std::function<void(const ShardState&)> onState;
    std::function<void()> onNote;
    RunPause pause;
    std::stop_source stop;

private:
    TemporaryFolder m_folder;
    RunFolder m_run;
    QByteArray m_path;
};

#define VERIFY_DONE(result) QVERIFY2(result, (result) ? "" : (result).error().message.c_str())

} // namespace

class SlurmExecutorTest : public QObject {
    Q_OBJECT

private slots:

    void theShardsOfAStageAreOneArrayWithTheUsersOptions() {
        Cluster cluster(5);
        const auto done = cluster.run({.partition = "small",
                                       .time = "2:00:00",
                                       .memory = "4G",
                                       .cpus = 3,
                                       .throttle = 2,
                                       .arguments = {"--exclusive"}});
        VERIFY_DONE(done);
        QCOMPARE(cluster.finishedCount(), 5);
        QCOMPARE(cluster.arrays(), QByteArrayList{"0-4%2"});
        for (const char* word : {" --partition=small ",
                                 " --time=2:00:00 ",
                                 " --mem=4G ",
                                 " --cpus-per-task=3 ",
                                 " --exclusive ",
                                 " --no-requeue "})
            QVERIFY2(cluster.calls("sbatch")[0].contains(word), word);
        QCOMPARE(cluster.kept(4).phase, ExecutorPhase::Finished);
        QCOMPARE(cluster.kept(4).attempts, 1);
        QVERIFY(cluster.notes.isEmpty());
    }

    void whatIsKilledIsSubmittedAgainAndWhatIsFinishedNever() {
        Cluster cluster(6);
        qputenv("FAKE_SLURM_FATES", "1:1:CANCELLED 2:1:NODE_FAIL 4:1:TIMEOUT 4:2:OUT_OF_MEMORY");
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0-5", "1-2,4", "4"}));
        QCOMPARE(cluster.runs(), (QMap<int, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}));
        QCOMPARE(cluster.kept(4).attempts, 3);
        QVERIFY(cluster.kept(4).ended.starts_with("OUT_OF_MEMORY on node1"));
        QCOMPARE(cluster.notes.size(), 4);
    }

    void withAThrottleOneArrayRunsAtATime() {
        Cluster cluster(3);
        qputenv("FAKE_SLURM_FATES", "0:1:FAILED 2:1:wait");
        qsizetype arrays = 0;
        cluster.onState = [&](const ShardState& state) {
            if (state.shard != 1 || state.phase != ShardPhase::Finished)
                return;
            arrays = cluster.arrays().size();
            qunsetenv("FAKE_SLURM_FATES");
        };
        const auto done = cluster.run({.throttle = 2});
        VERIFY_DONE(done);
        QCOMPARE(cluster.notes.size(), 1);
        QCOMPARE(arrays, qsizetype{1});
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0-2%2", "0%2"}));
        QCOMPARE(cluster.finishedCount(), 3);
    }

    void aShardThatSlurmForgetsIsRunAgain_data() {
        QTest::addColumn<QByteArray>("faults");
        QTest::addColumn<QString>("said");
        QTest::newRow("with accounts") << QByteArray() << "OUT_OF_MEMORY";
        QTest::newRow("without accounts")
            << QByteArray("sacct=no_accounts") << "Slurm no longer knows it";
        QTest::newRow("accounts in another form")
            << QByteArray("sacct=garbage") << "Slurm no longer knows it";
    }

    void aShardThatSlurmForgetsIsRunAgain() {
        QFETCH(const QByteArray, faults);
        QFETCH(const QString, said);
        Cluster cluster(3);
        qputenv("FAKE_SLURM_FATES", "1:1:vanish");
        qputenv("FAKE_SLURM_FAULTS", faults);
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0-2", "1"}));
        QCOMPARE(cluster.notes.size(), 1);
        QVERIFY2(cluster.notes[0].contains(said), qPrintable(cluster.notes[0]));
    }

    void aShardThatFailsTooOftenIsNamedAndTheOthersGoOn() {
        Cluster cluster(4);
        qputenv("FAKE_SLURM_FATES", "2:*:FAILED");
        std::vector<ShardState> told;
        cluster.onState = [&](const ShardState& state) {
            if (state.shard == 2)
                told.push_back(state);
        };
        const auto done = cluster.run({.attempts = 2});
        VERIFY_DONE(done);
        std::vector<std::string> phases;
        for (const ShardState& state : told)
            phases.emplace_back(shardPhaseName(state.phase));
        QCOMPARE(phases,
                 (std::vector<std::string>{"waiting", "running", "failed", "running", "failed"}));
        QVERIFY2(told.back().problem.starts_with("FAILED on node1"), told.back().problem.c_str());
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0-3", "2"}));
        QCOMPARE(cluster.finishedCount(), 3);
        QCOMPARE(cluster.kept(2).phase, ExecutorPhase::GivenUp);
        QCOMPARE(cluster.failed, QList<int>{2});
        QCOMPARE(cluster.notes.last(),
                 QString("The cluster has ended part 3 without a result 2 times; the last time: "
                         "FAILED on node1, and its log ends with \"the fate of 2 is FAILED\"."));
    }

    void aNodeThatDoesNotSeeTheFolderIsSuspected() {
        Cluster cluster(2);
        qputenv("FAKE_SLURM_FATES", "1:*:hidden");
        const auto done = cluster.run({.attempts = 1});
        VERIFY_DONE(done);
        QVERIFY2(cluster.notes.last().contains("it left no log: does that node see the folder"),
                 qPrintable(cluster.notes.last()));
    }

    void aShardThatCompletesWithoutItsResultIsRunAgain() {
        Cluster cluster(2);
        qputenv("FAKE_SLURM_FATES", "0:1:mute");
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0-1", "0"}));
        QVERIFY(cluster.notes[0].contains("its result did not arrive"));
    }

    void aRefusalOfSbatchIsQuoted() {
        Cluster cluster(2);
        qputenv("FAKE_SLURM_FAULTS", "sbatch=refuse");
        const auto refused = cluster.run();
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
        QVERIFY(refused.error().message.find("Unable to contact slurm controller") !=
                std::string::npos);
        QVERIFY(!refused.error().hint.empty());
        QCOMPARE(cluster.calls("sbatch").size(), 1);
    }

    void anAnswerInAnotherFormIsNoAnswer_data() {
        QTest::addColumn<QByteArray>("command");
        QTest::newRow("sbatch") << QByteArray("sbatch");
        QTest::newRow("squeue") << QByteArray("squeue");
    }

    void anAnswerInAnotherFormIsNoAnswer() {
        QFETCH(const QByteArray, command);
        Cluster cluster(2);
        qputenv("FAKE_SLURM_FAULTS", command + "=garbage");
        const auto refused = cluster.run();
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
        QVERIFY(refused.error().message.find("7|?[31mno form that Slurm has") != std::string::npos);
    }

    void withoutSlurmTheUserHearsWhatToDo() {
        Cluster cluster(2);
        qputenv("PATH", "/nowhere");
        const auto refused = cluster.run();
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::NotFound);
        QCOMPARE(refused.error().message,
                 std::string("Slurm is not installed here: there is no sbatch."));
        QVERIFY(!fs::exists(cluster.folder().path() / "executor.json"));
    }

    void aControllerThatIsAwayForAWhileCostsNothing() {
        Cluster cluster(3);
        qputenv("FAKE_SLURM_FAULTS", "sacct=no_accounts");
        cluster.onState = [](const ShardState& state) {
            if (state.phase == ShardPhase::Running)
                qputenv("FAKE_SLURM_FAULTS", "squeue=refuse sacct=no_accounts");
        };
        cluster.onNote = [&cluster] {
            cluster.onState = {};
            qunsetenv("FAKE_SLURM_FAULTS");
        };
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.notes.size(), 2);
        QVERIFY(cluster.notes[0].contains("Unable to contact slurm controller"));
        QCOMPARE(cluster.notes[1], QString("Slurm answers again."));
        QCOMPARE(cluster.arrays(), QByteArrayList{"0-2"});
    }

    void aControllerThatStaysAwayEndsTheRunAndTheJobsGoOn() {
        Cluster cluster(3);
        cluster.onState = [](const ShardState& state) {
            if (state.phase == ShardPhase::Running)
                qputenv("FAKE_SLURM_FAULTS", "squeue=refuse sacct=no_accounts");
        };
        const auto ended = cluster.run();
        QVERIFY(!ended);
        QCOMPARE(ended.error().code, ErrorCode::Io);
        QVERIFY(ended.error().hint.find("--resume") != std::string::npos);
        QVERIFY(cluster.calls("scancel").isEmpty());
        qunsetenv("FAKE_SLURM_FAULTS");
        cluster.onState = {};
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), QByteArrayList{"0-2"});
        QCOMPARE(cluster.finishedCount(), 3);
    }

    void aStopCancelsTheJobsAndLaterOnlyWhatIsMissingIsSubmitted() {
        Cluster cluster(4);
        qputenv("FAKE_SLURM_FATES", "1:1:wait 3:1:wait");
        int finished = 0;
        cluster.onState = [&](const ShardState& state) {
            finished += state.phase == ShardPhase::Finished ? 1 : 0;
            if (finished == 2)
                cluster.stop.request_stop();
        };
        const auto stopped = cluster.run();
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
        QCOMPARE(cluster.calls("scancel"), QByteArrayList{"scancel 1"});
        QCOMPARE(cluster.kept(1).phase, ExecutorPhase::Waiting);
        cluster.stop = std::stop_source();
        cluster.onState = {};
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0-3", "1,3"}));
        QCOMPARE(cluster.runs(), (QMap<int, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
    }

    void aStopThatCannotCancelTheJobsSaysThatTheyGoOn() {
        Cluster cluster(2);
        qputenv("FAKE_SLURM_FATES", "1:1:wait");
        qputenv("FAKE_SLURM_FAULTS", "scancel=refuse");
        cluster.onState = [&](const ShardState& state) {
            if (state.phase == ShardPhase::Finished)
                cluster.stop.request_stop();
        };
        const auto stopped = cluster.run();
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
        QCOMPARE(stopped.error().message,
                 std::string("The run was stopped; its jobs could not be cancelled and go on."));
        QVERIFY(cluster.notes.last().contains("Unable to contact slurm controller"));
    }

    void jobsThatAnEarlierProcessHasLeftAreTakenOver() {
        Cluster cluster(5);
        // Its number was never written down: it is found by its name.
        QVERIFY(leaveJobs(cluster, {1, 2}));
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), (QByteArrayList{"1-2", "0,3-4"}));
        QCOMPARE(cluster.runs(), (QMap<int, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
        QVERIFY(cluster.calls("scontrol").isEmpty());
    }

    void jobsThatAProcessHasLeftPausedGoOn() {
        Cluster cluster(2);
        const auto commands = leaveJobs(cluster, {0, 1});
        QVERIFY(commands);
        QVERIFY(commands->hold({{.job = 1, .index = 0}, {.job = 1, .index = 1}}));
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.calls("scontrol").last(), QByteArray("scontrol release 1_0,1_1"));
        QCOMPARE(cluster.arrays(), QByteArrayList{"0-1"});
        QCOMPARE(cluster.finishedCount(), 2);
    }

    void aPauseHoldsWhatIsQueued() {
        Cluster cluster(3);
        qputenv("FAKE_SLURM_FATES", "2:1:wait");
        cluster.onState = [&](const ShardState& state) {
            if (state.phase == ShardPhase::Running)
                cluster.pause.set(true);
            if (state.phase == ShardPhase::Finished) {
                qunsetenv("FAKE_SLURM_FATES");
                cluster.pause.set(false);
            }
        };
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.calls("scontrol"),
                 (QByteArrayList{"scontrol hold 1_2", "scontrol release 1_2"}));
        QCOMPARE(cluster.finishedCount(), 3);
    }

    void aShardThatAnotherProcessRunsIsNotSubmitted() {
        Cluster cluster(2);
        auto lock = cluster.folder().claim(1).value();
        QVERIFY(lock);
        cluster.onState = [&](const ShardState& state) {
            if (state.phase == ShardPhase::Finished)
                lock.reset();
        };
        const auto done = cluster.run();
        VERIFY_DONE(done);
        QCOMPARE(cluster.arrays(), (QByteArrayList{"0", "1"}));
    }

private:
    /// Submits these shards as a process would that is killed right after it.
    static std::optional<SlurmCommands> leaveJobs(const Cluster& cluster,
                                                  const std::set<int>& shards) {
        const auto& path = cluster.folder().path();
        const std::string id = "0123456789abcdef";
        const auto kept = saveExecutorState(path, {.executor = "slurm", .id = id, .shards = {}});
        const auto files = SlurmFiles::make(path);
        const auto commands = SlurmCommands::find("swift-" + id);
        if (!kept || !files || !commands)
            return std::nullopt;
        const auto script = files.value().writeScript(0);
        const auto pattern = files.value().logPattern();
        if (!script || !commands.value().submit({}, script.value(), pattern, 0, shards))
            return std::nullopt;
        return commands.value();
    }
};

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments[0] == "experiment")
        return test_support::runEmptyShard(arguments);
    const QCoreApplication application(argc, argv);
    SlurmExecutorTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "slurm_executor_test.moc"
