// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/studio_stage.h"
#include "tests/ui/tuning/scripted_tuning.h"
#include "ui/shell/bars/work_link.h"
#include "ui/views/tune/recipe/tune_recipe_panel.h"
#include "ui/views/tune/tune_desk.h"

#include <QAbstractButton>
#include <QCheckBox>
#include <QDockWidget>
#include <QListWidget>
#include <QPushButton>

#include <set>
#include <utility>

using namespace support;
using namespace ui;

/// The workspace Tune in the whole window.
class StudioTuneTest : public QObject {
    Q_OBJECT

    using Script = ScriptedTuning;

    std::unique_ptr<Script> m_script;
    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() { return m_stage->studio->window(); }

    TuneDesk& tune() { return *m_stage->studio->tune(); }

    void press(Qt::Key key, Qt::KeyboardModifiers modifiers) {
        QTest::keyClick(&window(), key, modifiers);
    }

    void start() {
        m_script->say({Script::started(), Script::stepped(100, 4.0), Script::evaluated(100, 0.5)});
        tune().addPrompts({m_script->path(QStringLiteral("prompts.jsonl"))});
        tune().recipe().startButton().click();
        QTRY_VERIFY(tune().session().run().newest() != nullptr);
    }

private slots:

    void init() {
        if (m_stage != nullptr)
            return;
        m_script = std::make_unique<Script>();
        m_stage = std::make_unique<StudioStage>();
        m_stage->options.tuning = m_script->places();
        m_stage->open();
        QVERIFY(QTest::qWaitForWindowActive(&window(), support::kPatienceMs));
        m_stage->loadModel();
    }

    void cleanup() {
        if (std::exchange(m_isKept, false))
            return;
        m_stage.reset();
        m_script.reset();
    }

    void itsKeyShowsItAndTheKeyboardIsAtThePrompts() {
        press(Qt::Key_5, Qt::ControlModifier);
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("tune_workspace"));
        QVERIFY(tune().recipe().sources().list().hasFocus());
        QVERIFY(m_stage->action("workspace.tune_workspace") != nullptr);
        m_isKept = true;
    }

    void filesDroppedOntoTheWindowArePromptsOrModels() {
        window().showWorkspace(QStringLiteral("tune_workspace"));
        const QString prompts = m_script->path(QStringLiteral("prompts.jsonl"));
        window().currentWorkspace()->dock(QStringLiteral("tune.recipe"))->hide();
        emit window().filesDropped({prompts});
        QCOMPARE(tune().recipe().sources().paths(), QStringList(prompts));
        QVERIFY(tune().recipe().isVisible()); // also where the window had no room for it
        emit window().filesDropped({m_script->path(QStringLiteral("model.gguf"))});
        QCOMPARE(tune().recipe().sources().paths(), QStringList(prompts));
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("chat_workspace"));
        m_isKept = true;
    }

    void aNewModelIsLoadedWithTheDecoderThatItWasTrainedFor() {
        m_stage->engine->sent.clear();
        emit tune().loadAsked(QStringLiteral("/models/Tiny-layerskip"), QStringLiteral("swift"));
        QCOMPARE(QString::fromStdString(m_stage->engine->lastSent<engine::LoadModel>()->path),
                 QStringLiteral("/models/Tiny-layerskip"));
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.path = "/models/Tiny-layerskip";
        loaded.decoders = {vanillaDecoder(), swiftDecoder()};
        m_stage->say(loaded);
        m_stage->settle();
        QCOMPARE(m_stage->engine->lastSent<engine::ChooseDecoder>()->name, std::string("swift"));
        m_stage->engine->sent.clear();
        m_stage->say(loaded); // later loads are the user's own
        m_stage->settle();
        QVERIFY(m_stage->engine->lastSent<engine::ChooseDecoder>() == nullptr);
        m_isKept = true;
    }

    void theModelIsLoadedAgain() {
        m_stage->engine->sent.clear();
        emit tune().reloadAsked(QStringLiteral("/models/Tiny"), false);
        QCOMPARE(QString::fromStdString(m_stage->engine->lastSent<engine::LoadModel>()->path),
                 QStringLiteral("/models/Tiny"));
        m_isKept = true;
    }

    void anUnloadedModelIsNoneToTrainFor() {
        m_stage->say(engine::ModelUnloaded{});
        m_stage->settle();
        QVERIFY(tune().session().obstacle() == TuningObstacle::NoModel);
        m_isKept = true;
    }

    void aReplayTrainsNothing() {
        m_stage = std::make_unique<StudioStage>(QString(), QStringLiteral("run.swiftrun"));
        m_stage->open();
        QVERIFY(m_stage->studio->tune() == nullptr);
        QVERIFY(m_stage->action("workspace.tune_workspace") == nullptr);
    }

    void theTabKeyMeetsEverything() {
        window().showWorkspace(QStringLiteral("tune_workspace"));
        start();
        m_stage->settle();
        QCOMPARE(namelessWidgets(window()).join(QLatin1Char('\n')), QString());
        QStringList missed;
        std::set<const QWidget*> met;
        QTest::keyClick(&window(), Qt::Key_F6);
        for (int i = 0; i < 200; ++i) {
            met.insert(QApplication::focusWidget());
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        }
        for (QWidget* part :
             {static_cast<QWidget*>(&tune().page()), static_cast<QWidget*>(&tune().recipe())})
            for (const QWidget* widget : part->findChildren<QWidget*>()) {
                const auto* button = qobject_cast<const QAbstractButton*>(widget);
                const bool isInGroup = button != nullptr && button->autoExclusive();
                if (widget->isVisible() && widget->isEnabled() && !isInGroup &&
                    (widget->focusPolicy() & Qt::TabFocus) != 0 &&
                    widget->focusProxy() == nullptr && !met.contains(widget))
                    missed << QString::fromLatin1(widget->metaObject()->className()) +
                                  QLatin1Char(' ') + widget->accessibleName();
            }
        QCOMPARE(missed.join(QLatin1Char('\n')), QString());
    }

    void itWaitsBehindAnAnswerOfTheChat() {
        start();
        const qint64 process = tune().session().processId();
        m_stage->beginAnswer();
        QVERIFY(tune().session().isHeld());
        QTRY_COMPARE(Script::stateOf(process), 'T');
        m_stage->finishAnswer();
        QVERIFY(!tune().session().isHeld());
        QTRY_COMPARE(Script::stateOf(process), 'S');
    }

    void theStatusStripTellsOfItAndLeadsToIt() {
        start();
        WorkLink& link = window().statusStrip().workLink();
        QCOMPARE(link.note().title, QStringLiteral("Draft layer for Tiny"));
        QVERIFY(link.note().state.startsWith(QStringLiteral("trains \u00B7 10 %")));
        link.click();
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("tune_workspace"));
        m_stage->action("tune.stop")->trigger();
        QTRY_VERIFY(tune().session().state() == TuningState::Stopped);
        QCOMPARE(link.note(), WorkNote());
    }

    void actionsFollowTheTraining() {
        QVERIFY(!m_stage->action("tune.pause")->isEnabled());
        QVERIFY(!m_stage->action("tune.stop")->isEnabled());
        start();
        QVERIFY(!m_stage->action("tune.prompts")->isEnabled());
        m_stage->action("tune.pause")->trigger();
        QVERIFY(tune().session().state() == TuningState::Paused);
        m_stage->action("tune.pause")->trigger();
        QVERIFY(tune().session().state() == TuningState::Running);
        QVERIFY(m_stage->action("tune.stop")->isEnabled());
    }

    void aResultIsComparedByAKey() {
        QVERIFY(!m_stage->action("tune.compare")->isEnabled());
        QVERIFY(!tune().recipe().chats().isChecked()); // only when it is ticked
        m_script->say({Script::started(), Script::done(QStringLiteral("/result"))});
        m_script->endBy("done");
        tune().addPrompts({m_script->path(QStringLiteral("prompts.jsonl"))});
        tune().recipe().startButton().click();
        QTRY_VERIFY(tune().session().state() == TuningState::Finished);
        QTRY_VERIFY(m_stage->action("tune.compare")->isEnabled());
        m_stage->action("tune.compare")->trigger();
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("tune_workspace"));
        QVERIFY(tune().session().comparison().isRunning());
        QVERIFY(window().statusStrip().workLink().note().state.startsWith("compares"));
        m_stage->beginAnswer();
        QVERIFY(tune().session().comparison().isHeld());
        m_stage->finishAnswer();
        m_stage->action("tune.compare")->trigger();
        QVERIFY(!tune().session().comparison().isRunning());
    }

    void aButtonThatGoesLeavesTheKeyboardToAnother() {
        window().showWorkspace(QStringLiteral("tune_workspace"));
        start();
        QVERIFY(tune().page().button(TunePage::Action::PauseOrGoOn).hasFocus());
        QPushButton& stop = tune().page().button(TunePage::Action::Stop);
        stop.setFocus();
        QTest::keyClick(&stop, Qt::Key_Space);
        QTRY_VERIFY(tune().session().state() == TuningState::Stopped);
        QVERIFY(tune().page().button(TunePage::Action::PauseOrGoOn).hasFocus());
    }

    void theWindowEndsWithoutWaitingAndTheProcessStops() {
        start();
        const qint64 process = tune().session().processId();
        tune().session().pause();
        QTRY_COMPARE(Script::stateOf(process), 'T');
        m_stage.reset();
        QTRY_VERIFY(Script::stateOf(process) == 'Z' || Script::stateOf(process) == 0);
    }
};

QTEST_MAIN(StudioTuneTest)
#include "studio_tune_test.moc"
