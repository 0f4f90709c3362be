// SPDX-License-Identifier: Apache-2.0
// swift-run replay: recordings of a real session on a tiny model, whole and damaged.
#include "app/exit_codes.h"
#include "engine/session/engine_session.h"
#include "tests/support/programs/swift_run.h"
#include "tests/support/temporary_folder.h"

#include <QFile>
#include <QTest>

using namespace engine;
using support::ProgramRun;

namespace {

ProgramRun replay(const QStringList& arguments) {
    return support::runProgram(support::swiftRunPath(), QStringList{"replay"} + arguments);
}

/// Waits for an event of this type; false when none comes or an error does.
template <typename T> bool waitFor(EngineSession& session) {
    while (session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
        for (const EngineEvent& event : session.takeEvents()) {
            if (event.as<EngineFailed>() != nullptr)
                return false;
            if (event.as<T>() != nullptr)
                return true;
        }
    return false;
}

} // namespace

class SwiftRunReplayTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void aRecordingIsPrintedForPeople();
    void jsonGivesEveryEventAsALine();
    void limitEndsEarly();
    void aDamagedRecordingIsPrintedUpToTheDamage();
    void whatIsNoRecordingIsRefused();

private:
    test_support::TemporaryFolder m_folder;
    QString m_path;
};

void SwiftRunReplayTest::initTestCase() {
    m_path = QString::fromStdString((m_folder.path() / "run.swiftrun").string());
    EngineSession session({});
    session.send(StartRecording{m_path.toStdString()});
    session.send(LoadModel{.path = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf", .backend = "plain"});
    QVERIFY(waitFor<ModelLoaded>(session));
    session.send(SubmitPrompt{.promptId = 9, .text = "Once", .task = "tales", .maxTokens = 6});
    QVERIFY(waitFor<PromptFinished>(session));
    session.send(StopRecording{});
    QVERIFY(waitFor<RecordingStopped>(session));
}

void SwiftRunReplayTest::aRecordingIsPrintedForPeople() {
    const ProgramRun result = replay({m_path});
    QCOMPARE(result.exitCode, 0);
    for (const char* words : {"tiny.gguf",
                              "decoder vanilla",
                              "prompt 9",
                              "task tales",
                              "step 0",
                              "step 5: 1 token (plain)",
                              "ended (max_tokens): 6 tokens"})
        QVERIFY2(result.output.contains(words), words);
    QVERIFY2(result.errors.contains("1 prompt ended, 6 steps, 6 tokens]"),
             result.errors.constData());
    for (const QByteArray& line : result.output.split('\n'))
        QVERIFY2(line.isEmpty() || line.contains(" s  "), line.constData());
}

void SwiftRunReplayTest::jsonGivesEveryEventAsALine() {
    const ProgramRun result = replay({m_path, "--json"});
    QCOMPARE(result.exitCode, 0);
    const auto lines = result.jsonLines();
    int steps = 0;
    for (const QJsonObject& line : lines) {
        QVERIFY(!line["event"].toString().isEmpty());
        steps += line["event"].toString() == "step_finished" ? 1 : 0;
    }
    QCOMPARE(steps, 6);
    QCOMPARE(lines.last()["event"].toString(), QString("done"));
    QCOMPARE(lines.last()["events"].toInt(), static_cast<int>(lines.size()) - 1);
    QCOMPARE(lines.last()["tokens"].toInt(), 6);
    QCOMPARE(lines.last()["prompts"].toInt(), 1);
}

void SwiftRunReplayTest::limitEndsEarly() {
    const auto lines = replay({m_path, "--json", "--limit", "3"}).jsonLines();
    QCOMPARE(lines.size(), 4);
    QCOMPARE(lines.last()["events"].toInt(), 3);
}

void SwiftRunReplayTest::aDamagedRecordingIsPrintedUpToTheDamage() {
    QFile file(m_path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    const auto whole = replay({m_path, "--json"}).jsonLines();
    const auto cut = m_folder.write("cut.swiftrun", bytes.left(bytes.size() - 5).toStdString());
    const ProgramRun result = replay({QString::fromStdString(cut.string()), "--json"});
    QCOMPARE(result.exitCode, static_cast<int>(app::kCorruptFile));
    const auto lines = result.jsonLines();
    QCOMPARE(lines.size(), whole.size() - 1); // one event and "done" less, the error more
    QCOMPARE(lines.first(), whole.first());
    QCOMPARE(lines.last()["event"].toString(), QString("error"));
    QVERIFY(lines.last()["message"].toString().contains("byte"));
}

void SwiftRunReplayTest::whatIsNoRecordingIsRefused() {
    QCOMPARE(replay({SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf"}).exitCode,
             static_cast<int>(app::kCorruptFile));
    QCOMPARE(replay({"/no/such/run.swiftrun"}).exitCode, static_cast<int>(app::kNotFound));
    QCOMPARE(replay({}).exitCode, static_cast<int>(app::kUsage));
    QCOMPARE(replay({m_path, "--limit", "-1"}).exitCode, static_cast<int>(app::kUsage));
}

QTEST_GUILESS_MAIN(SwiftRunReplayTest)
#include "swift_run_replay_test.moc"
