// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/views/controls/decoder_switch.h"

#include <QSignalSpy>
#include <QUndoStack>
#include <QtTest>

using namespace engine;
using namespace support;
using namespace ui;

class DecoderSwitchTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    RunStore m_store;
    ScriptedLink* m_engine = nullptr;
    std::unique_ptr<EngineBridge> m_bridge;
    Selection m_selection;
    QUndoStack m_undo;

    ViewContext context() { return {m_theme, m_store, *m_bridge, m_selection, m_undo}; }

    void say(EventContent content) {
        m_engine->say(std::move(content));
        m_bridge->tick();
    }

    void load() {
        ModelLoaded model = loadedModel();
        model.decoders = {swiftDecoder(), vanillaDecoder(), hydraDecoder()};
        say(model);
        say(DecoderChosen{vanillaDecoder(), {}});
    }

private slots:

    void init() {
        auto link = std::make_unique<ScriptedLink>();
        m_engine = link.get();
        m_store = RunStore();
        m_undo.clear();
        m_bridge = std::make_unique<EngineBridge>(std::move(link), m_store);
    }

    void nothingCanBeChosenWithoutAModel() {
        const DecoderSwitch control(context());
        QVERIFY(!control.segment(0)->isEnabled());
        QVERIFY(!control.segment(1)->isEnabled());
    }

    void swiftStartsGuided() {
        DecoderSwitch control(context());
        load();
        QCOMPARE(control.currentIndex(), 1);
        control.segment(0)->click();
        const auto* sent = m_engine->lastSent<ChooseDecoder>();
        QCOMPARE(sent->name, std::string("swift"));
        QCOMPARE(sent->settings, (SettingValues{{"profile", std::string("guided")}}));
    }

    void swiftComesBackWithWhatItHad() {
        DecoderSwitch control(context());
        load();
        const auto set = resolveSettings(swiftDecoder(), {{"r", 0.3}}).value();
        say(DecoderChosen{swiftDecoder(), set});
        control.segment(1)->click();
        say(DecoderChosen{vanillaDecoder(), {}});
        QCOMPARE(control.currentIndex(), 1);
        control.segment(0)->click();
        QCOMPARE(m_engine->lastSent<ChooseDecoder>()->settings, set);
    }

    void aRefusedChoiceGoesBackAndIsTold() {
        DecoderSwitch control(context());
        load();
        QSignalSpy failed(&control, &DecoderSwitch::failed);
        control.segment(0)->click();
        say(failedTask("choose_decoder", {ErrorCode::Unsupported, "No.", ""}));
        QCOMPARE(control.currentIndex(), 1);
        QCOMPARE(failed.size(), 1);
    }

    void anotherDecoderIsAThirdChoice() {
        DecoderSwitch control(context());
        load();
        say(DecoderChosen{hydraDecoder(), {}});
        QCOMPARE(control.count(), 3);
        QCOMPARE(control.segment(2)->text(), QString("Hydra"));
        QCOMPARE(control.currentIndex(), 2);
        say(DecoderChosen{vanillaDecoder(), {}});
        QCOMPARE(control.count(), 2);
    }

    void arrowKeysChooseAndTellOnce() {
        SegmentedControl control(m_theme, "Level");
        control.setSegments({"Simple", "Most", "All"});
        control.setCurrentIndex(0);
        control.show();
        QSignalSpy chosen(&control, &SegmentedControl::chosen);
        QTest::keyClick(control.segment(0), Qt::Key_Left);
        QCOMPARE(chosen.size(), 0);
        QTest::keyClick(control.segment(0), Qt::Key_Right);
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(control.currentIndex(), 1);
        QTest::keyClick(control.segment(1), Qt::Key_End);
        QCOMPARE(control.currentIndex(), 2);
        QCOMPARE(chosen.size(), 2);
        control.setCurrentIndex(-1);
        QCOMPARE(control.currentIndex(), -1);
        QCOMPARE(chosen.size(), 2);
    }

    void everyChoiceHasAName() {
        DecoderSwitch control(context());
        load();
        QCOMPARE(namelessWidgets(control), QStringList());
    }
};

QTEST_MAIN(DecoderSwitchTest)
#include "decoder_switch_test.moc"
