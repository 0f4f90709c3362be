// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/bridge/settings_text.h"

#include <QTest>

using namespace support;
using namespace ui;

namespace {

class CountingView : public View {
public:
    explicit CountingView(const ViewContext& context, Topics topics, int intervalMs = 0)
        : View(context, {"counting", "Counting", "", topics, intervalMs}) {}

    Topics lastChanged;

protected:
    void refreshView(Topics changed) override { lastChanged = changed; }
};

} // namespace

class EngineBridgeTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void aVisibleViewIsRefreshedOnceATickHoweverManyEventsCame() {
        CountingView view(m_stage->context(), Topic::Answers);
        view.show();
        m_stage->bridge.tick();
        const int before = view.refreshCount();
        m_stage->engine->say(promptStarted(1));
        for (int i = 0; i < 1000; ++i)
            m_stage->engine->say(plainStep(1, i, "x", 1.0));
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), before + 1);
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), before + 1);
        QCOMPARE(m_stage->store.answers().latest()->tokens.size(), std::size_t(1000));
    }

    void aSlowViewWaitsWhileAnAnswerIsMadeAndShowsItsEndAtOnce() {
        constexpr int kHourMs = 3'600'000;
        CountingView slow(m_stage->context(), Topic::Answers | Topic::Selection, kHourMs);
        CountingView quick(m_stage->context(), Topic::Answers);
        slow.show();
        quick.show();
        m_stage->bridge.start(); // intervals hold for ticks of the clock
        m_stage->engine->say(promptStarted(1));
        m_stage->bridge.tick();
        const int before = slow.refreshCount();
        const int quickBefore = quick.refreshCount();
        m_stage->engine->say(plainStep(1, 0, "x", 1.0));
        m_stage->bridge.tick();
        QCOMPARE(slow.refreshCount(), before);
        QCOMPARE(quick.refreshCount(), quickBefore + 1);
        m_stage->bridge.markChanged(Topic::Selection); // what the user points at
        m_stage->bridge.tick();
        QCOMPARE(slow.refreshCount(), before + 1);
        m_stage->engine->say(plainStep(1, 1, "y", 1.0));
        m_stage->bridge.tick();
        QCOMPARE(slow.refreshCount(), before + 1);
        m_stage->engine->say(promptFinished(1));
        m_stage->bridge.tick();
        QCOMPARE(slow.refreshCount(), before + 2);
    }

    void viewsOfOneIntervalAreRefreshedInTheSameTicks() {
        constexpr int kIntervalMs = 3 * EngineBridge::kTickMs;
        CountingView early(m_stage->context(), Topic::Answers, kIntervalMs);
        CountingView late(m_stage->context(), Topic::Answers, kIntervalMs);
        early.show();
        m_stage->bridge.start();
        m_stage->engine->say(promptStarted(1));
        int step = 0;
        const auto nextTick = [&] {
            const int before = early.refreshCount();
            m_stage->engine->say(plainStep(1, step++, "x", 1.0));
            QSignalSpy ticks(&m_stage->bridge, &EngineBridge::tickFinished);
            while (ticks.isEmpty())
                QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
            return early.refreshCount() > before;
        };
        while (!nextTick()) {
        }
        nextTick(); // the other comes between two refreshes of the first
        late.show();
        nextTick();
        for (int refreshes = 0; refreshes < 5;) {
            const int before = late.refreshCount();
            const bool isEarlys = nextTick();
            QCOMPARE(late.refreshCount() > before, isEarlys);
            refreshes += isEarlys ? 1 : 0;
        }
    }

    void aHiddenViewIsRefreshedOnlyWhenItIsShownAgain() {
        CountingView view(m_stage->context(), Topic::Answers | Topic::Notes);
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(engine::Note{"a"});
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), 0);
        view.show();
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), 1);
        QVERIFY(view.lastChanged.testFlag(Topic::Answers));
        QVERIFY(view.lastChanged.testFlag(Topic::Notes));
    }

    void aFrozenViewStandsStill() {
        CountingView view(m_stage->context(), Topic::Notes);
        view.show();
        m_stage->bridge.tick();
        const int before = view.refreshCount();
        view.setFrozen(true);
        m_stage->engine->say(engine::Note{"a"});
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), before);
        view.setFrozen(false);
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), before + 1);
    }

    void aViewIsNotRefreshedForWhatItDoesNotShow() {
        CountingView view(m_stage->context(), Topic::Search);
        view.show();
        m_stage->bridge.tick();
        const int before = view.refreshCount();
        m_stage->engine->say(engine::Note{"a"});
        m_stage->bridge.tick();
        QCOMPARE(view.refreshCount(), before);
    }

    void everyEventIsToldInOrderAfterTheStoreTookIt() {
        QStringList kinds;
        connect(&m_stage->bridge, &EngineBridge::eventCame, this, [&](const auto& event) {
            kinds << QString::fromStdString(std::string(engine::eventKind(event)));
            QVERIFY(m_stage->store.model() != nullptr);
        });
        m_stage->engine->say(loadedModel());
        m_stage->engine->say(promptStarted(1));
        m_stage->bridge.tick();
        QCOMPARE(kinds, QStringList({"model_loaded", "prompt_started"}));
    }

    void aViewThatDiedIsNotRefreshed() {
        { CountingView view(m_stage->context(), Topic::Notes); }
        m_stage->engine->say(engine::Note{"a"});
        m_stage->bridge.tick();
        QCOMPARE(m_stage->store.notes().size(), std::size_t(1));
    }

    void goingBackEmptiesTheStoreAndRefreshesEveryView() {
        CountingView view(m_stage->context(), Topic::Search);
        view.show();
        m_stage->engine->say(loadedModel());
        m_stage->bridge.tick();
        QStringList told;
        connect(&m_stage->bridge, &EngineBridge::rewound, this, [&] {
            told << QStringLiteral("rewound");
            QVERIFY(m_stage->store.model() == nullptr);
        });
        connect(&m_stage->bridge, &EngineBridge::eventCame, this, [&] {
            told << QStringLiteral("event");
        });
        const int before = view.refreshCount();
        m_stage->engine->goesBack = true;
        m_stage->engine->say(loadedModel());
        m_stage->bridge.tick();
        QCOMPARE(told, QStringList({"rewound", "event"}));
        QCOMPARE(view.refreshCount(), before + 1);
        m_stage->bridge.tick();
        QCOMPARE(told.size(), qsizetype(2));
    }

    void aTickHasAProcessorOfTheEngineUntilItIsOnTheScreen() {
        QList<bool> had;
        QObject::connect(&m_stage->bridge, &EngineBridge::tickFinished, &m_stage->bridge, [&] {
            had.append(m_stage->engine->hasProcessor);
        });
        m_stage->bridge.tick(); // by hand: nothing would return it
        m_stage->bridge.start();
        QTRY_COMPARE(had.size(), qsizetype(2));
        QCOMPARE(had, QList<bool>({false, true}));
        QTRY_VERIFY(!m_stage->engine->hasProcessor);
    }

    void theLoadInUseIsTheOneThatBroughtTheModel() {
        EngineBridge& bridge = m_stage->bridge;
        bridge.send(engine::LoadModel{.path = "/models/other.gguf", .contextLength = 512});
        bridge.send(engine::LoadModel{.path = "/models/tiny.gguf",
                                      .backend = "plain",
                                      .settings = {{"threads", 2.0}},
                                      .contextLength = 4096});
        m_stage->tell(failedTask("load_model", {engine::ErrorCode::Cancelled, "Cancelled.", ""}));
        QVERIFY(bridge.loadInUse() == nullptr);
        m_stage->tell(loadedModel());
        QVERIFY(bridge.loadInUse() != nullptr);
        QCOMPARE(bridge.loadInUse()->backend, std::string("plain"));
        QCOMPARE(loadOptions(bridge.loadInUse()).join(QLatin1Char(' ')),
                 QStringLiteral("--backend plain --context 4096 --threads 2"));
        QVERIFY(loadOptions(nullptr).isEmpty());
        bridge.send(engine::LoadModel{.path = "/models/gone.gguf"});
        m_stage->tell(failedTask("load_model", {engine::ErrorCode::NotFound, "It is gone.", ""}));
        QCOMPARE(bridge.loadInUse()->path, std::string("/models/tiny.gguf"));
        m_stage->tell(engine::ModelUnloaded{});
        QVERIFY(bridge.loadInUse() == nullptr);
    }

    void theTimerEmptiesTheLink() {
        m_stage->bridge.start();
        m_stage->engine->say(engine::Note{"a"});
        QTRY_COMPARE(m_stage->store.notes().size(), std::size_t(1));
    }
};

QTEST_MAIN(EngineBridgeTest)
#include "engine_bridge_test.moc"
