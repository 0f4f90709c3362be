// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/tuning/scripted_tuning.h"

#include <QSignalSpy>
#include <QTest>

using namespace support;
using namespace ui;

/// What becomes of a training when another one is started in its place, or when its program has
/// ended with a result and an error, with a script in place of swift-run.
class EarlierTrainingTest : public QObject, private TuningBench {
    Q_OBJECT

    /// The program refuses what it is told, as where a file is missing.
    void refuse() {
        m_script->say({R"({"event":"remark","text":"A prompt was skipped."})", Script::error()});
        m_script->endBy("fail");
    }

    TuningChoice otherChoice() const {
        TuningChoice other = m_script->choice();
        other.data << m_script->path(QStringLiteral("missing.jsonl"));
        return other;
    }

private slots:

    void init() { renew(); }

    void cleanup() { clear(); }

    void whatWasStoppedCanGoOnThoughAnotherOneWasRefused() {
        m_script->say({Script::started(), Script::stepped(10, 5.0)});
        TuningChoice choice = m_script->choice();
        choice.usesChats = true;
        session().start(choice, "{\"prompt\":\"My question\"}\n");
        QTRY_COMPARE(session().run().losses.size(), std::size_t(1));
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        const QString chats = chatPromptsPath(session().adapter());
        refuse();
        QSignalSpy refused(&session(), &TuningSession::refused);
        session().start(otherChoice());
        QVERIFY(!QFile::exists(chats)); // they were not chosen this time
        QTRY_COMPARE(refused.size(), 1);
        QCOMPARE(refused[0][0].toString(), QStringLiteral("It cannot be. Wait."));
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().choice().data, m_script->choice().data);
        QCOMPARE(support::fileBytes(chats), QByteArray("{\"prompt\":\"My question\"}\n"));
        reopen();
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().choice().data, m_script->choice().data);
        QCOMPARE(session().run().losses.size(), std::size_t(1));
        QVERIFY(!session().run().notes.contains(QStringLiteral("A prompt was skipped.")));
        m_script->endBy("wait");
        session().goOn();
        QTRY_COMPARE(told().size(), 3);
        QCOMPARE(told()[2], QString(told()[0]).replace("--overwrite", "--resume"));
    }

    void aResultIsUsedAndRemovedThoughAnotherTrainingWasRefused() {
        finish();
        compareFour(4);
        QTRY_VERIFY(session().canUseResult());
        session().useResult();
        QTRY_VERIFY(session().isResultUsed());
        refuse();
        QSignalSpy refused(&session(), &TuningSession::refused);
        session().start(otherChoice());
        QTRY_COMPARE(refused.size(), 1);
        QVERIFY(state() == TuningState::Finished);
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done);
        QTRY_VERIFY(session().isResultUsed());
        session().removeUsedAdapter();
        QTRY_VERIFY(!QFile::exists(session().usedAdapter()));
    }

    void aWindowThatEndsBeforeTheProgramHasBegunKeepsWhatWas() {
        finish();
        m_script->say({});
        m_script->endBy("wait");
        session().start(otherChoice());
        QTRY_COMPARE(told().size(), 2);
        reopen();
        QVERIFY(state() == TuningState::Finished);
        QCOMPARE(session().choice().data, m_script->choice().data);
    }

    void whatTheProgramSaysBeforeItBeginsIsKept() {
        finish();
        m_script->say({R"({"event":"remark","text":"A prompt was skipped."})", Script::started()});
        m_script->endBy("wait");
        session().start(m_script->choice());
        QTRY_VERIFY(session().run().facts.has_value());
        QVERIFY(session().run().losses.empty());
        reopen();
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().run().notes, QStringList(QStringLiteral("A prompt was skipped.")));
        QVERIFY(session().run().losses.empty());
    }

    void aTrainingThatIsNotInSightIsShownFirst() {
        m_script->say({Script::started()});
        session().start(m_script->choice());
        QTRY_VERIFY(session().hasWork());
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        load(Script::model(QStringLiteral("Other")));
        TuningChoice other = m_script->choice();
        other.model = Script::model(QStringLiteral("Other"));
        QVERIFY(!session().showEarlier(other)); // it has none
        session().start(other);
        load(Script::model()); // meanwhile
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().choice().model.name, QStringLiteral("Other"));
        QVERIFY(session().showEarlier(m_script->choice()));
        QTRY_VERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().choice().model.name, QStringLiteral("Tiny"));
        QVERIFY(!session().showEarlier(m_script->choice()));
    }

    /// As behind the third loss that is not finite.
    void aResultOfATrainingThatWasGivenUpIsUsedAndRemoved() {
        m_script->say({Script::started(),
                       Script::stepped(100, 2.0),
                       Script::done(QStringLiteral("/result")),
                       Script::error()});
        m_script->endBy("fail");
        session().start(m_script->choice());
        QTRY_VERIFY(state() == TuningState::Failed);
        support::writeFile(session().adapter(), "weights");
        for (const bool isAgain : {false, true}) {
            if (isAgain)
                reopen();
            QVERIFY(state() == TuningState::Failed);
            QVERIFY(session().hasResult());
            QVERIFY(session().canGoOn());
            QTRY_VERIFY(session().canUseResult());
            session().useResult();
            QTRY_VERIFY(session().isResultUsed());
            session().removeUsedAdapter();
            QTRY_VERIFY(!session().isResultUsed());
        }
    }

    void promptsOfAllProcessesAreCounted() {
        m_script->say({Script::started(), Script::collected(1000)}); // 40 prompts
        session().start(m_script->choice());
        QTRY_VERIFY(session().run().collected.has_value());
        for (int starts = 1; starts <= 2; ++starts) {
            session().stop();
            QTRY_VERIFY(state() == TuningState::Stopped);
            m_script->say({Script::started(), Script::collected(1000 * starts)});
            session().goOn();
            QTRY_COMPARE(session().run().earlierPrompts, 40 * starts);
            QTRY_COMPARE(session().run().collected->prompts, 40);
        }
        reopen();
        QCOMPARE(session().run().earlierPrompts + session().run().collected->prompts, 120);
    }
};

QTEST_GUILESS_MAIN(EarlierTrainingTest)
#include "earlier_training_test.moc"
