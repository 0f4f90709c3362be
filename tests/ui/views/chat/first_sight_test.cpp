// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/temporary_folder.h"
#include "tests/ui/support/figures_run.h"
#include "ui/views/chat/panels/first_sight.h"

#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace engine;
using namespace support;
using namespace ui;

class FirstSightTest : public QObject {
    Q_OBJECT

    std::unique_ptr<test_support::TemporaryFolder> m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<ViewStage> m_stage;

    std::unique_ptr<FirstSight> make() {
        auto made = std::make_unique<FirstSight>(m_stage->theme, m_stage->store, *m_settings);
        made->resize(800, 900);
        return made;
    }

    static EngineEvent finished(std::uint64_t id, FinishReason reason = FinishReason::EndToken) {
        PromptFinished content = promptFinished(id);
        content.reason = reason;
        return {0.0, content};
    }

private slots:

    void init() {
        m_folder = std::make_unique<test_support::TemporaryFolder>();
        m_settings = std::make_unique<QSettings>(
            QString::fromStdString((m_folder->path() / "settings.ini").string()),
            QSettings::IniFormat);
        m_stage = std::make_unique<ViewStage>();
    }

    void theFirstAnswerIsExplainedInOneSentence() {
        const auto sight = make();
        QVERIFY(sight->isHidden());
        sayBaseline(*m_stage);
        sayAnswer(*m_stage);
        sight->apply(finished(1));
        QVERIFY(!sight->isHidden());
        QVERIFY2(sight->text().startsWith(QStringLiteral(
                     "What you see: The underlined green words were guessed cheaply and confirmed "
                     "by the whole model several at a time, so this answer came 1.3")),
                 qPrintable(sight->text()));
        QVERIFY(sight->text().contains(QStringLiteral("not a word changed")));
    }

    /// Large text on a small screen would cover the answer that is explained.
    void inALowWindowTheSentenceIsATooltip() {
        for (const int height : {500, 900}) {
            QWidget window;
            window.resize(800, height);
            m_settings->clear();
            FirstSight sight(m_stage->theme, m_stage->store, *m_settings, &window);
            sight.showAgain();
            QString shown;
            QString tip;
            for (const QLabel* label : sight.findChildren<QLabel*>()) {
                shown += label->text();
                tip += label->toolTip();
            }
            QCOMPARE(shown.contains(QStringLiteral("guessed cheaply")), height == 900);
            QCOMPARE(tip.contains(QStringLiteral("guessed cheaply")), height == 500);
            QVERIFY(sight.findChild<QPushButton*>() != nullptr);
        }
    }

    /// Its number equals that of the answer below it.
    void whileItIsOpenItTellsOfTheNewestAnswer() {
        const auto sight = make();
        sayBaseline(*m_stage);
        sayAnswer(*m_stage);
        sight->apply(finished(1));
        QVERIFY(sight->text().contains(QStringLiteral("green")));
        m_stage->say(promptStarted(2));
        m_stage->say(plainStep(2, 0, "x", kPlainStepMs));
        sight->apply(finished(2));
        QVERIFY2(sight->text().contains(QStringLiteral("wrote every word")),
                 qPrintable(sight->text()));
    }

    void whereNothingWasDraftedNothingIsGreen() {
        const auto sight = make();
        m_stage->say(promptStarted(1));
        sayBaseline(*m_stage);
        sight->apply(finished(1));
        QVERIFY(!sight->text().contains(QStringLiteral("green")));
        QVERIFY(sight->text().contains(QStringLiteral("wrote every word")));
    }

    /// What was guessed and thrown away has no mark, and an answer may come more slowly for it.
    void whereNothingWasConfirmedNothingIsGreenAndTheLossIsTold() {
        const auto sight = make();
        sayBaseline(*m_stage);
        m_stage->say(promptStarted(2));
        StepFinished step = draftStep(2, 0, {"a", "b"}, 0, "c");
        step.draftMs = kPlainStepMs;
        step.verifyMs = kPlainStepMs;
        m_stage->say(step);
        sight->apply(finished(2));
        QCOMPARE(sight->text(),
                 QStringLiteral("What you see: The whole model confirmed none of the words that "
                                "were guessed, and wrote every word of this answer itself. "
                                "Guessing cost more than it saved: this answer came 0.50 times as "
                                "fast as without it."));
    }

    void aSlowerAnswerIsSaidToBeSlower() {
        const auto sight = make();
        sayBaseline(*m_stage);
        m_stage->say(promptStarted(2));
        StepFinished step = draftStep(2, 0, {"a"}, 1, "b");
        step.draftMs = 2.0 * kPlainStepMs;
        step.verifyMs = 2.0 * kPlainStepMs;
        m_stage->say(step);
        sight->apply(finished(2));
        QVERIFY(sight->text().contains(QStringLiteral("underlined green words")));
        QVERIFY2(sight->text().endsWith(QStringLiteral("this answer came 0.50 times as fast as "
                                                       "without it.")),
                 qPrintable(sight->text()));
    }

    void answersThatNobodySeesAndStoppedOnesAreNotExplained() {
        const auto sight = make();
        sayAnswer(*m_stage);
        sight->apply(finished(kFirstHiddenPrompt + 1));
        sight->apply(finished(1, FinishReason::Cancelled));
        QVERIFY(sight->isHidden());
    }

    void closedItStaysClosedAlsoInTheNextRun() {
        auto sight = make();
        sayAnswer(*m_stage);
        sight->apply(finished(1));
        sight->findChild<QToolButton*>()->click();
        QVERIFY(sight->isHidden());
        sight->apply(finished(2));
        QVERIFY(sight->isHidden());
        sight = make();
        sight->apply(finished(3));
        QVERIFY(sight->isHidden());
        QSignalSpy marked(sight.get(), &FirstSight::originAsked);
        sight->showAgain();
        QVERIFY(!sight->isHidden());
        QCOMPARE(marked.count(), 1);
        QVERIFY(sight->text().contains(QStringLiteral("green words")));
    }

    void watchingARoundClosesItToo() {
        const auto sight = make();
        QSignalSpy asked(sight.get(), &FirstSight::roundAsked);
        sayAnswer(*m_stage);
        sight->apply(finished(1));
        sight->findChild<QPushButton*>()->click();
        QCOMPARE(asked.count(), 1);
        QVERIFY(sight->isHidden());
        sight->apply(finished(2));
        QVERIFY(sight->isHidden());
    }
};

QTEST_MAIN(FirstSightTest)
#include "first_sight_test.moc"
