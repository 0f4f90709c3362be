// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/tuning/scripted_tuning.h"

#include <QTest>

using namespace support;
using namespace ui;

/// What a finished training gives, compared on the user's prompts, with a script in place of
/// swift-run.
class TuningComparisonTest : public QObject, private TuningBench {
    Q_OBJECT

private slots:

    void init() { renew(); }

    void cleanup() { clear(); }

    void aResultIsComparedInAProcessOfItsOwn() {
        finish();
        QVERIFY(session().canCompare());
        m_script->sayCompared(Script::compared(1, 200, 100, 160, 2) +
                              Script::compared(2, 200, 100, 160, 2));
        m_script->endComparisonBy("done");
        session().compare();
        QVERIFY(session().comparison().isRunning());
        QVERIFY(!session().comparison().isMeasured());
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done);
        QVERIFY(session().comparison().isMeasured());
        QCOMPARE(session().comparison().prompts().all().with, 2.0);
        const QStringList toldOnce = Script::toldToCompare(session().adapter());
        QCOMPARE(toldOnce.size(), 1);
        QVERIFY(toldOnce.front().contains(QStringLiteral("--held-out")));
        QVERIFY(toldOnce.front().contains(session().adapter()));
        QVERIFY(state() == TuningState::Finished);
    }

    void whatWasMeasuredIsKeptAsLongAsTheAdapterIsTheSame() {
        finish();
        m_script->sayCompared(Script::compared(1, 200, 100, 160, 1));
        m_script->endComparisonBy("done");
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done);
        reopen();
        QVERIFY(session().comparison().state() == ComparisonState::Done);
        QCOMPARE(session().comparison().prompts().all().with, 2.0);
        QFile adapter(session().adapter());
        QVERIFY(adapter.open(QIODevice::Append));
        adapter.write("another one");
        adapter.close();
        reopen();
        QVERIFY(session().comparison().state() == ComparisonState::None);
        QVERIFY(!session().comparison().isMeasured());
    }

    void aComparisonThatIsStoppedShowsWhatItHad() {
        finish();
        m_script->sayCompared(Script::compared(1, 200, 100, 160, 5));
        session().compare();
        QTRY_COMPARE(session().comparison().prompts().prompts().size(), std::size_t(1));
        const qint64 process = session().comparison().processId();
        session().stopComparing();
        QVERIFY(session().comparison().state() == ComparisonState::Stopped);
        QVERIFY(session().comparison().isMeasured());
        QTRY_VERIFY(Script::stateOf(process) == 'Z' || Script::stateOf(process) == 0);
        session().compare(); // begins anew
        QVERIFY(session().comparison().prompts().prompts().empty());
        QTRY_COMPARE(session().comparison().prompts().prompts().size(), std::size_t(1));
        reopen(); // the end of the program stops it, too
        QVERIFY(session().comparison().state() == ComparisonState::Stopped);
        QCOMPARE(session().comparison().prompts().prompts().size(), std::size_t(1));
        session().compare();
        QVERIFY(session().comparison().prompts().prompts().empty());
        QVERIFY(session().comparison().isRunning());
    }

    void behindThatOfAnotherRecipeItsOwnIsThereAgain() {
        finish();
        m_script->sayCompared(Script::compared(1, 200, 100, 160, 1));
        m_script->endComparisonBy("done");
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done);
        session().setRecipe(TuningRecipe::LayerSkip);
        m_script->say({Script::copyStarted(), Script::copyDone(m_script->copyChoice().output)});
        session().start(m_script->copyChoice());
        QTRY_VERIFY(state() == TuningState::Finished);
        m_script->endComparisonBy("wait");
        session().compare();
        session().setRecipe(TuningRecipe::Draft);
        QVERIFY(!session().isComparisonOwn());
        QVERIFY(session().comparison().isRunning());
        session().stopComparing();
        QVERIFY(session().isComparisonOwn());
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done);
    }

    void aComparisonWaitsWhileAnAnswerStreams() {
        finish();
        session().compare();
        const qint64 process = session().comparison().processId();
        QTRY_COMPARE(Script::toldToCompare(session().adapter()).size(), 1);
        session().setHeld(true);
        QVERIFY(session().comparison().isHeld());
        QTRY_COMPARE(Script::stateOf(process), 'T');
        session().setHeld(false);
        QTRY_COMPARE(Script::stateOf(process), 'S');
    }

    void whyAComparisonFailedIsASentence() {
        finish();
        m_script->endComparisonBy("fail");
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Failed);
        QCOMPARE(session().comparison().sentence(), QStringLiteral("It failed. Look."));
        m_script->sayCompared({Script::error()});
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Failed);
        QCOMPARE(session().comparison().sentence(), QStringLiteral("It cannot be. Wait."));
    }

    void aNewTrainingForgetsTheComparison() {
        finish();
        m_script->sayCompared(Script::compared(1, 200, 100, 160, 5));
        session().compare();
        QTRY_COMPARE(session().comparison().prompts().prompts().size(), std::size_t(1));
        const qint64 process = session().comparison().processId();
        m_script->endBy("wait");
        session().start(m_script->choice());
        QVERIFY(session().comparison().state() == ComparisonState::None);
        QVERIFY(!session().canCompare());
        QTRY_VERIFY(Script::stateOf(process) == 'Z' || Script::stateOf(process) == 0);
    }

    void withoutPromptsOfTheUserThereIsNothingToCompareOn() {
        TuningChoice choice = m_script->choice();
        choice.data.clear();
        choice.selfPrompts = 500;
        finish(choice);
        QVERIFY(!session().canCompare());
        session().compare();
        QVERIFY(!session().comparison().isRunning());
    }

    void aFinishedComparisonStaysFinishedThoughAPromptWasLeftOut() {
        finish(m_script->choice());
        compareFour(5);
        reopen();
        QVERIFY(session().comparison().state() == ComparisonState::Done);
        QCOMPARE(session().comparison().prompts().planned(), 5);
    }

    void whereNoPromptIsHeldOutThatIsSaid() {
        finish(m_script->choice());
        m_script->sayCompared({R"({"event":"error","code":"invalid_input","message":"None.",)"
                               R"("hint":"Give more prompts, or leave out --held-out."})"});
        m_script->endComparisonBy("fail");
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Failed);
        QVERIFY(session().comparison().sentence().startsWith(
            QStringLiteral("All of these prompts were trained on")));
    }
};

QTEST_GUILESS_MAIN(TuningComparisonTest)
#include "tuning_comparison_test.moc"
