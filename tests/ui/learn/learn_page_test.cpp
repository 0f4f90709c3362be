// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/studio_stage.h"
#include "ui/learn/empty_learn.h"
#include "ui/learn/learn_page.h"
#include "ui/learn/stage_list.h"

#include <QPushButton>
#include <QtTest>

#include <set>

using namespace engine;
using namespace support;
using namespace ui;

/// The workspace Learn: reached by its keys, empty until there is a round, one page a stage.
class LearnPageTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;

    MainWindow& window() const { return m_stage->studio->window(); }

    LearnPage& page() const { return m_stage->studio->learnPage(); }

    void open(const QString& replay = {}) {
        m_stage = std::make_unique<StudioStage>(QString(), replay);
        m_stage->open();
    }

    void pressKeys() {
        m_stage->action("workspace.learn_workspace")->trigger();
        m_stage->settle();
    }

private slots:

    void cleanup() { m_stage.reset(); }

    void itsKeysAreTheSameInAReplay_data() {
        QTest::addColumn<QString>("replay");
        QTest::newRow("engine") << QString();
        QTest::newRow("replay") << QStringLiteral("run.swiftrun");
    }

    void itsKeysAreTheSameInAReplay() {
        QFETCH(QString, replay);
        open(replay);
        const QAction* action = m_stage->action("workspace.learn_workspace");
        QVERIFY(action != nullptr);
        QCOMPARE(action->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_4));
        pressKeys();
        QVERIFY(page().isVisible());
    }

    void itSaysWhatToDoUntilThereIsARound() {
        open();
        pressKeys();
        QVERIFY(page().isEmpty());
        QVERIFY(page().emptyPage().isVisible());
        QCOMPARE(QApplication::focusWidget(), &page().emptyPage().mainButton());
        page().emptyPage().mainButton().click();
        QVERIFY(!page().isVisible()); // now in Chat
        m_stage->loadModel();
        m_stage->beginAnswer();
        pressKeys();
        QVERIFY(!page().isEmpty());
        QVERIFY(!page().emptyPage().isVisible());
        QVERIFY(page().stageView(0)->isVisible());
    }

    void eachStageHasAPageUnderItsOwnName() {
        open();
        std::set<QString> ids;
        int index = 0;
        for (const LearnStage& stage : learnStages()) {
            QVERIFY2(ids.insert(stage.id).second, qPrintable(stage.id));
            QVERIFY(!stage.title.isEmpty() && !stage.sentence.isEmpty());
            QCOMPARE(page().stageView(index++)->info().id, stage.id);
        }
    }

    void aStageIsChosenInTheListOrByItsId() {
        open();
        m_stage->loadModel();
        m_stage->beginAnswer();
        pressKeys();
        auto* list = window().findChild<StageList*>();
        QVERIFY(list != nullptr);
        const std::vector<LearnStage> stages = learnStages();
        for (int index = static_cast<int>(stages.size()) - 1; index >= 0; --index) {
            list->button(index)->click();
            QCOMPARE(page().stage(), index);
            QVERIFY(page().stageView(index)->isVisible());
        }
        page().showStage(stages.back().id);
        QCOMPARE(page().stage(), static_cast<int>(stages.size()) - 1);
        QCOMPARE(list->current(), page().stage());
        page().showStage(QStringLiteral("nonsense"));
        QCOMPARE(page().stage(), static_cast<int>(stages.size()) - 1);
        m_stage->action("learn.lens")->trigger(); // where the list of stages has no room
        QCOMPARE(stages[static_cast<std::size_t>(page().stage())].id, QStringLiteral("lens"));
    }

    void aStageIsNotRefreshedWhileItIsHidden() {
        open();
        m_stage->loadModel();
        m_stage->beginAnswer();
        const int before = page().stageView(0)->refreshCount();
        for (int step = 2; step < 20; ++step) {
            m_stage->say(draftStep(m_stage->promptId, step, {" two", " three"}, 1, " four"));
            m_stage->settle();
        }
        QCOMPARE(page().stageView(0)->refreshCount(), before);
        pressKeys();
        m_stage->studio->bridge().refreshPictures();
        QVERIFY(page().stageView(0)->refreshCount() > before);
    }
};

QTEST_MAIN(LearnPageTest)

#include "learn_page_test.moc"
