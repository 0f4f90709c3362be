// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/bridge/engine_bridge.h"
#include "ui/shell/view.h"

#include <QUndoStack>
#include <QtTest>

using namespace support;
using namespace ui;

namespace {

class CountingView : public View {
public:
    explicit CountingView(const ViewContext& context, Topics topics)
        : View(context, {"counting", "Counting", "", topics}) {}

    Topics lastChanged;

protected:
    void refreshView(Topics changed) override { lastChanged = changed; }
};

} // namespace

class EngineBridgeTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    RunStore m_store;
    ScriptedLink* m_engine = nullptr;
    std::unique_ptr<EngineBridge> m_bridge;
    Selection m_selection;
    QUndoStack m_undo;

    ViewContext context() { return {m_theme, m_store, *m_bridge, m_selection, m_undo}; }

private slots:

    void init() {
        auto link = std::make_unique<ScriptedLink>();
        m_engine = link.get();
        m_store = RunStore();
        m_bridge = std::make_unique<EngineBridge>(std::move(link), m_store);
    }

    void aVisibleViewIsRefreshedOnceATickHoweverManyEventsCame() {
        CountingView view(context(), Topic::Answers);
        view.show();
        m_bridge->tick();
        const int before = view.refreshCount();
        m_engine->say(promptStarted(1));
        for (int i = 0; i < 1000; ++i)
            m_engine->say(plainStep(1, i, "x", 1.0));
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), before + 1);
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), before + 1);
        QCOMPARE(m_store.answers().latest()->tokens.size(), std::size_t(1000));
    }

    void aHiddenViewIsRefreshedOnlyWhenItIsShownAgain() {
        CountingView view(context(), Topic::Answers | Topic::Remarks);
        m_engine->say(promptStarted(1));
        m_engine->say(engine::Remark{"a"});
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), 0);
        view.show();
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), 1);
        QVERIFY(view.lastChanged.testFlag(Topic::Answers));
        QVERIFY(view.lastChanged.testFlag(Topic::Remarks));
    }

    void aFrozenViewStandsStill() {
        CountingView view(context(), Topic::Remarks);
        view.show();
        m_bridge->tick();
        const int before = view.refreshCount();
        view.setFrozen(true);
        m_engine->say(engine::Remark{"a"});
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), before);
        view.setFrozen(false);
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), before + 1);
    }

    void aViewIsNotRefreshedForWhatItDoesNotShow() {
        CountingView view(context(), Topic::Search);
        view.show();
        m_bridge->tick();
        const int before = view.refreshCount();
        m_engine->say(engine::Remark{"a"});
        m_bridge->tick();
        QCOMPARE(view.refreshCount(), before);
    }

    void everyEventIsToldInOrderAfterTheStoreTookIt() {
        QStringList kinds;
        connect(m_bridge.get(), &EngineBridge::eventCame, this, [&](const auto& event) {
            kinds << QString::fromStdString(std::string(engine::eventKind(event)));
            QVERIFY(m_store.model() != nullptr);
        });
        m_engine->say(loadedModel());
        m_engine->say(promptStarted(1));
        m_bridge->tick();
        QCOMPARE(kinds, QStringList({"model_loaded", "prompt_started"}));
    }

    void aViewThatDiedIsNotRefreshed() {
        { CountingView view(context(), Topic::Remarks); }
        m_engine->say(engine::Remark{"a"});
        m_bridge->tick();
        QCOMPARE(m_store.remarks().size(), std::size_t(1));
    }

    void theTimerEmptiesTheLink() {
        m_bridge->start();
        m_engine->say(engine::Remark{"a"});
        QTRY_COMPARE(m_store.remarks().size(), std::size_t(1));
    }
};

QTEST_MAIN(EngineBridgeTest)
#include "engine_bridge_test.moc"
