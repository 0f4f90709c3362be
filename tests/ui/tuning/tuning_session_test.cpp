// SPDX-License-Identifier: GPL-3.0-only
#include "engine/session/loading/draft_adapter_choice.h"
#include "tests/support/file_content.h"
#include "tests/ui/tuning/scripted_tuning.h"

#include <QSignalSpy>
#include <QTest>

#include <sys/resource.h>

#include <csignal>

using namespace support;
using namespace ui;

/// A training from Start to its result, with a script in place of swift-run.
class TuningSessionTest : public QObject, private TuningBench {
    Q_OBJECT

    /// It has trained some steps and goes on.
    void begin() {
        m_script->say({Script::started(),
                       Script::collected(1'200'000),
                       Script::stepped(10, 5.0),
                       Script::evaluated(10, 0.4),
                       Script::checkpoint(),
                       Script::stepped(20, 4.0)});
        session().start(m_script->choice());
        QTRY_COMPARE(session().run().losses.size(), std::size_t(2));
    }

private slots:

    void init() { renew(); }

    void cleanup() { clear(); }

    void atFirstThereIsNothing() {
        QVERIFY(state() == TuningState::None);
        QVERIFY(session().obstacle() == TuningObstacle::None);
        QVERIFY(!session().canGoOn());
        session().goOn();
        session().pause();
        session().stop();
        QVERIFY(state() == TuningState::None);
        TuningChoice empty = m_script->choice();
        empty.data.clear();
        session().start(empty);
        QVERIFY(state() == TuningState::None);
    }

    void itRunsAtTheLowestPriorityWithWhatWasChosen() {
        begin();
        QVERIFY(state() == TuningState::Running);
        QVERIFY(session().obstacle() == TuningObstacle::AtWork);
        const auto process = static_cast<id_t>(session().processId());
        QCOMPARE(getpriority(PRIO_PROCESS, process), 19);
        const QString arguments = told().front();
        QVERIFY(arguments.startsWith(QStringLiteral("tune --json --model /models/Tiny --out ")));
        QVERIFY(arguments.contains(QStringLiteral("--profile full")));
        QVERIFY(arguments.contains(QStringLiteral("--use")));
        QVERIFY(arguments.endsWith(QStringLiteral("--overwrite")));
        QVERIFY(session().savedAt().isValid());
        QVERIFY(session().adapter().startsWith(m_script->path(QStringLiteral("tuning/tiny-"))));
    }

    void itEndsWithAResult() {
        m_script->say({Script::started(),
                       Script::stepped(1000, 2.0),
                       Script::done(QStringLiteral("/result"))});
        m_script->endBy("done");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Finished);
        QCOMPARE(session().run().done->path, QStringLiteral("/result"));
        QVERIFY(!session().canGoOn());
        reopen();
        QVERIFY(state() == TuningState::Finished);
        QCOMPARE(session().run().done->all.tokensPerRound, 2.1);
        QCOMPARE(session().run().losses.size(), std::size_t(1));
    }

    void theUserPausesAndGoesOn() {
        begin();
        const qint64 process = session().processId();
        session().pause();
        QVERIFY(state() == TuningState::Paused);
        QTRY_COMPARE(Script::stateOf(process), 'T');
        session().goOn();
        QVERIFY(state() == TuningState::Running);
        QTRY_COMPARE(Script::stateOf(process), 'S');
        QCOMPARE(told().size(), 1);
    }

    void itWaitsWhileAnAnswerStreams() {
        begin();
        const qint64 process = session().processId();
        session().setHeld(true);
        QVERIFY(session().isHeld());
        QTRY_COMPARE(Script::stateOf(process), 'T');
        session().setHeld(false);
        QTRY_COMPARE(Script::stateOf(process), 'S');
        session().pause();
        session().setHeld(true);
        session().setHeld(false);
        QTRY_COMPARE(Script::stateOf(process), 'T'); // the user wanted a pause
        session().setHeld(true);
        session().goOn();
        QTRY_COMPARE(Script::stateOf(process), 'T'); // the answer streams
        session().setHeld(false);
        QTRY_COMPARE(Script::stateOf(process), 'S');
    }

    void whatIsStoppedGoesOnWithTheSameOptions() {
        begin();
        session().pause(); // it is stopped out of a pause, too
        session().stop();
        QVERIFY(state() == TuningState::Stopping);
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(!session().run().error);
        QVERIFY(session().canGoOn());
        m_script->say({Script::started(), Script::stepped(20, 4.5)});
        session().goOn();
        QVERIFY(session().run().notes.isEmpty());
        QTRY_COMPARE(told().size(), 2);
        QCOMPARE(told()[1], QString(told()[0]).replace("--overwrite", "--resume"));
        QTRY_COMPARE(session().run().losses.back().loss, 4.5);
        QCOMPARE(session().run().losses.size(), std::size_t(2));
    }

    void itGoesOnAfterARestartOfTheWindow() {
        begin();
        const qint64 process = session().processId();
        reopen();
        QTRY_VERIFY(Script::stateOf(process) == 'Z' || Script::stateOf(process) == 0);
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().run().losses.size(), std::size_t(2));
        QCOMPARE(session().run().evaluations.size(), std::size_t(1));
        QVERIFY(session().run().collected.has_value());
        QCOMPARE(session().choice().data, m_script->choice().data);
        session().goOn();
        QTRY_COMPARE(told().size(), 2);
        QVERIFY(told()[1].endsWith(QStringLiteral("--resume")));
    }

    void aKilledProcessIsNamedAsOneAndCanGoOn() {
        m_script->say({Script::started(), Script::stepped(10, 5.0)});
        m_script->endBy("crash");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Failed);
        QVERIFY(session().sentence().contains(QStringLiteral("killed")));
        QVERIFY(session().canGoOn());
        m_script->endBy("wait");
        session().goOn();
        QVERIFY(state() == TuningState::Running);
        QVERIFY(session().sentence().isEmpty());
    }

    void theErrorOfTheProcessIsTheSentence() {
        m_script->say({Script::error()});
        m_script->endBy("fail");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Failed);
        QCOMPARE(session().sentence(), QStringLiteral("It cannot be. Wait."));
        reopen();
        QVERIFY(state() == TuningState::Failed);
        QCOMPARE(session().sentence(), QStringLiteral("It cannot be. Wait."));
    }

    void withoutAnEventTheLastErrorOfTheProcessIsTheSentence() {
        m_script->endBy("fail");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Failed);
        QCOMPARE(session().sentence(), QStringLiteral("It failed. Look."));
    }

    void anEndWithoutAResultIsAFailure() {
        m_script->endBy("done");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Failed);
        QVERIFY(!session().sentence().isEmpty());
    }

    void damagedLinesAreLeftOut() {
        m_script->say({"garbage",
                       Script::started(),
                       "{\"event\":\"step\"}",
                       QByteArray(100, '{'),
                       Script::stepped(10, 5.0)});
        session().start(m_script->choice());
        QTRY_COMPARE(session().run().losses.size(), std::size_t(1));
        QVERIFY(state() == TuningState::Running);
    }

    void aProcessThatDoesNotStopIsEndedByASecondStop() {
        begin();
        const qint64 process = session().processId();
        session().pause();
        QTRY_COMPARE(Script::stateOf(process), 'T');
        session().stop();
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
    }

    void whatIsBeingSavedIsInterruptedOnce() {
        m_script->endBy("save");
        begin();
        const auto process = static_cast<pid_t>(session().processId());
        const QString adapter = session().adapter();
        const QString interrupts = adapter + QStringLiteral(".interrupts");
        session().stop();
        QTRY_COMPARE(support::fileBytes(interrupts), QByteArray("1"));
        m_session.reset(); // the window ends meanwhile
        QCOMPARE(::kill(process, SIGTERM), 0);
        QTRY_VERIFY(QFile::exists(adapter + QStringLiteral(".saved")));
        QCOMPARE(support::fileBytes(interrupts), QByteArray("1"));
    }

    void aStopThatCouldNotSaveIsAFailure() {
        m_script->endBy("full");
        begin();
        session().stop();
        QTRY_VERIFY(state() == TuningState::Failed);
        QCOMPARE(session().sentence(), QStringLiteral("It is full. Make room."));
        QVERIFY(session().canGoOn());
    }

    void anewForgetsWhatWas() {
        begin();
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        m_script->say({Script::started()});
        const int number = session().number();
        session().start(m_script->choice());
        QVERIFY(session().number() != number);
        QVERIFY(session().run().losses.empty());
        QTRY_VERIFY(session().run().facts.has_value());
        reopen();
        QVERIFY(session().run().losses.empty());
    }

    void eachModelHasItsOwnTraining() {
        begin();
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        const QString first = session().adapter();
        load(Script::model(QStringLiteral("Other")));
        QVERIFY(state() == TuningState::None);
        QVERIFY(session().run().losses.empty());
        load(Script::model());
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().adapter(), first);
        TuningModel planted = Script::model();
        planted.isPlanted = true;
        load(planted);
        QVERIFY(state() == TuningState::None);
    }

    void whatIsAtWorkStaysInSightWhenAnotherModelIsLoaded() {
        begin();
        session().setModel(Script::model(QStringLiteral("Other")));
        QCOMPARE(session().choice().model.name, QStringLiteral("Tiny"));
        session().setModel(std::nullopt);
        QVERIFY(state() == TuningState::Running);
    }

    void whatHasEndedStaysInSightUntilTheLoadedModelIsAskedFor() {
        begin();
        load(Script::model(QStringLiteral("Other")));
        session().showLoadedModel(); // too early
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().choice().model.name, QStringLiteral("Tiny"));
        session().showLoadedModel();
        QCOMPARE(session().choice().model.name, QStringLiteral("Other"));
        QVERIFY(state() == TuningState::None);
    }

    void nothingWaitsForTheDiskAndWhatItTellsTooLateIsLeftOut() {
        begin();
        reopen();
        QVERIFY(state() == TuningState::Stopped);
        for (const bool isTooLate : {false, true}) {
            m_session = std::make_unique<TuningSession>(m_script->places());
            session().setModel(Script::model());
            QVERIFY(session().isReading());
            QVERIFY(state() == TuningState::None);
            if (!isTooLate) {
                QTRY_VERIFY(state() == TuningState::Stopped);
                QCOMPARE(session().run().losses.size(), std::size_t(2));
                continue;
            }
            m_script->say({Script::started()});
            session().start(m_script->choice());
            QTRY_VERIFY(session().run().facts.has_value());
            QVERIFY(state() == TuningState::Running);
            QVERIFY(session().run().losses.empty());
        }
    }

    void chatsAreReadFromAFileThatOnlyTheUserMayRead() {
        TuningChoice choice = m_script->choice();
        choice.usesChats = true;
        session().start(choice, "{\"prompt\":\"My question\"}\n");
        const QString path = chatPromptsPath(session().adapter());
        QTRY_COMPARE(told().size(), 1);
        QVERIFY(told().front().contains(QStringLiteral("--data ") + path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("{\"prompt\":\"My question\"}\n"));
        const auto others =
            QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
        QVERIFY((file.permissions() & others) == QFile::Permissions());
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        session().goOn(); // with the same questions
        QTRY_COMPARE(told().size(), 2);
        QVERIFY(QFile::exists(path));
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        session().start(m_script->choice());
        QVERIFY(!QFile::exists(path));
    }

    void whatWasFinishedStaysWhereATrainingCannotBegin() {
        finish(m_script->choice());
        compareFour(4);
        const QString path = chatPromptsPath(session().adapter());
        QVERIFY(QDir().mkpath(path)); // a folder where the questions are to be written
        TuningChoice choice = m_script->choice();
        choice.usesChats = true;
        QSignalSpy faults(&session(), &TuningSession::faulted);
        session().start(choice, "{\"prompt\":\"My question\"}\n");
        QCOMPARE(faults.size(), 1);
        QVERIFY(faults[0][0].toString().startsWith(QStringLiteral("The training does not begin")));
        QVERIFY(state() == TuningState::Finished);
        QVERIFY(session().comparison().state() == ComparisonState::Done);
        reopen();
        QVERIFY(state() == TuningState::Finished);
        QCOMPARE(session().run().losses.size(), std::size_t(1));
        QVERIFY(session().comparison().state() == ComparisonState::Done);
    }

    void howManyPromptsWereWrittenIsKept() {
        m_script->say({Script::started(),
                       Script::prices(),
                       Script::selfPrompts(100),
                       Script::selfPrompts(500),
                       Script::collected(100)});
        TuningChoice choice = m_script->choice();
        choice.selfPrompts = 500;
        session().start(choice);
        QTRY_VERIFY(session().run().collected.has_value());
        reopen();
        QCOMPARE(session().run().selfPrompts->written, 500);
        QCOMPARE(session().run().prices->draft, 0.05);
        QCOMPARE(session().run().collected->answerTokens, 100);
    }

    void obstaclesAreNamed() {
        session().setModel(std::nullopt);
        QVERIFY(session().obstacle() == TuningObstacle::NoModel);
        TuningPlaces places = m_script->places();
        places.hasTrainer = false;
        QVERIFY(TuningSession(places).obstacle() == TuningObstacle::NoTrainer);
        places.program += QStringLiteral("-missing");
        QVERIFY(TuningSession(places).obstacle() == TuningObstacle::NoProgram);
        QVERIFY(TuningSession(TuningPlaces()).obstacle() == TuningObstacle::NoProgram);
    }

    void aProgramThatCannotBeStartedIsNamed() {
        m_script->write(QStringLiteral("swift-run"), "#!/nowhere/at/all\n");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Failed);
        QVERIFY(session().sentence().contains(m_script->program()));
    }

    void theAdapterInUseIsRemoved() {
        finish();
        QTRY_VERIFY(session().canUseResult());
        const QString used = session().usedAdapter();
        QCOMPARE(used, QString::fromStdString(engine::usersDraftAdapter("f00d").string()));
        session().useResult();
        QTRY_VERIFY(session().isResultUsed());
        QVERIFY(!session().canUseResult());
        session().removeUsedAdapter();
        QTRY_VERIFY(!session().isResultUsed());
        QVERIFY(!QFile::exists(used));
        QVERIFY(session().canUseResult()); // it is still where it was trained
    }

    void anotherAdapterInUseIsNeitherClaimedNorDeleted() {
        TuningChoice choice = m_script->choice();
        choice.isUsed = false;
        finish(choice);
        support::writeFile(session().adapter(), "abc");
        const QString used = support::writeFile(session().usedAdapter(), "abd");
        session().setModel(Script::model());
        QTRY_VERIFY(session().adapterUse().used() == AdapterUse::Used::Other);
        QVERIFY(!session().isResultUsed());
        session().removeUsedAdapter();
        m_session.reset(); // and what was asked for is done
        QCOMPARE(support::fileBytes(used), QByteArray("abd"));
    }

    void anAdapterWhosePlaceIsTakenIsKept() {
        finish();
        support::writeFile(session().adapter(), "abc");
        const QString used = support::writeFile(session().usedAdapter(), "abd");
        session().setModel(Script::model());
        QTRY_VERIFY(session().adapterUse().used() == AdapterUse::Used::Other);
        QSignalSpy placed(&session().adapterUse(), &AdapterUse::placed);
        session().useResult();
        QTRY_VERIFY(session().isResultUsed());
        QCOMPARE(placed.size(), 1);
        const QString before = placed[0][0].toString();
        QCOMPARE(support::fileBytes(before), QByteArray("abd"));
        QCOMPARE(support::fileBytes(used), QByteArray("abc"));
    }

    void ofTheAdaptersThatGaveWayTheNewestThreeAreKept() {
        const QString place = m_script->path(QStringLiteral("place"));
        const QString trained =
            support::writeFile(m_script->path(QStringLiteral("trained")), "new");
        AdapterUse use;
        QSignalSpy placed(&use, &AdapterUse::placed);
        use.look(trained, place);
        for (const char* other : {"one", "two", "three", "four", "two"}) { // at last one of them
            support::writeFile(place, other);
            use.use();
            QTRY_COMPARE(placed.size(), 1);
            placed.clear();
            QCOMPARE(support::fileBytes(place), QByteArray("new"));
        }
        const QDir folder(QFileInfo(place).path());
        QCOMPARE(folder.entryList({QStringLiteral("place.*")}, QDir::Files, QDir::Name),
                 (QStringList{"place.before", "place.before-2", "place.before-3"}));
        QCOMPARE(support::fileBytes(place + ".before"), QByteArray("four"));
        QCOMPARE(support::fileBytes(place + ".before-2"), QByteArray("three"));
        QCOMPARE(support::fileBytes(place + ".before-3"), QByteArray("two"));
    }

    void aDiskThatTakesNothingIsToldAndTheTrainingGoesOn() {
        m_script->write(QStringLiteral("tuning"), "a file where the folder should be");
        QSignalSpy faulted(&session(), &TuningSession::faulted);
        session().start(m_script->choice());
        QTRY_VERIFY(!faulted.isEmpty());
        QVERIFY(faulted.front().front().toString().contains(m_script->path("tuning")));
    }

    void aDamagedRecordIsToldAndKept() {
        begin();
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        const QString record = QFileInfo(session().adapter()).path() + QStringLiteral("/run.json");
        m_session.reset();
        support::writeFile(record, "{\n\"format\":");
        m_session = std::make_unique<TuningSession>(m_script->places());
        QSignalSpy faulted(m_session.get(), &TuningSession::faulted);
        load(Script::model());
        QVERIFY(state() == TuningState::None);
        QCOMPARE(faulted.size(), 1);
        const QString sentence = faulted[0][0].toString();
        QVERIFY2(sentence.contains(QStringLiteral("line 2")), qPrintable(sentence));
        const QFileInfo info(record);
        const QStringList kept = info.dir().entryList({QStringLiteral("run.json.*")});
        QCOMPARE(kept.size(), 1);
        QVERIFY2(sentence.contains(kept.front()), qPrintable(sentence));
        QCOMPARE(support::fileBytes(info.dir().filePath(kept.front())),
                 QByteArray("{\n\"format\":"));
    }
};

QTEST_GUILESS_MAIN(TuningSessionTest)
#include "tuning_session_test.moc"
