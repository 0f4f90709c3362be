// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/controls/decoder_switch.h"

#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class DecoderSwitchTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;

    void say(EventContent content) { m_stage->tell(std::move(content)); }

    void load() {
        ModelLoaded model = loadedModel();
        model.decoders = {swiftDecoder(), vanillaDecoder(), hydraDecoder()};
        say(model);
        say(DecoderChosen{vanillaDecoder(), {}});
    }

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void nothingCanBeChosenWithoutAModel() {
        const DecoderSwitch control(m_stage->context());
        QVERIFY(!control.segment(0)->isEnabled());
        QVERIFY(!control.segment(1)->isEnabled());
        QVERIFY(!control.segment(2)->isEnabled());
    }

    void whatTheEngineLacksCannotBeChosen() {
        DecoderSwitch control(m_stage->context());
        load();
        QCOMPARE(control.segment(1)->text(), QString("Auto"));
        QVERIFY(!control.segment(1)->isEnabled());
        QVERIFY(control.segment(2)->isEnabled());
    }

    void swiftStartsGuided() {
        DecoderSwitch control(m_stage->context());
        load();
        QCOMPARE(control.currentIndex(), 0);
        control.segment(2)->click();
        const auto* sent = m_stage->engine->lastSent<ChooseDecoder>();
        QCOMPARE(sent->name, std::string("swift"));
        QCOMPARE(sent->settings, (SettingValues{{"profile", std::string("guided")}}));
    }

    void onALessonModelSwiftStartsWithTheShareOfItsCopies() {
        DecoderSwitch control(m_stage->context());
        ModelLoaded model = loadedModel();
        model.model.silentCopies = {1, 3};
        model.model.layerCount = 4;
        model.decoders = {swiftDecoder(), vanillaDecoder()};
        say(model);
        say(DecoderChosen{vanillaDecoder(), {}});
        control.segment(2)->click();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->settings, (SettingValues{{"r", 0.5}}));
    }

    void swiftComesBackWithWhatItHad() {
        DecoderSwitch control(m_stage->context());
        load();
        const auto set = resolveSettings(swiftDecoder(), {{"r", 0.3}}).value();
        say(DecoderChosen{swiftDecoder(), set});
        control.segment(0)->click();
        say(DecoderChosen{vanillaDecoder(), {}});
        QCOMPARE(control.currentIndex(), 0);
        control.segment(2)->click();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->settings, set);
    }

    void whatASearchSetsIsNotKept() {
        DecoderSwitch control(m_stage->context());
        load();
        const auto set = resolveSettings(swiftDecoder(), {{"r", 0.3}}).value();
        say(DecoderChosen{swiftDecoder(), set});
        control.keepSettings(false);
        say(SettingsChanged{resolveSettings(swiftDecoder(), {{"S", 48.0}}).value()});
        say(DecoderChosen{vanillaDecoder(), {}});
        control.keepSettings(true);
        control.segment(2)->click();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->settings, set);
    }

    /// The window tells why.
    void aRefusedChoiceGoesBack() {
        DecoderSwitch control(m_stage->context());
        load();
        QSignalSpy failed(&control, &DecoderSwitch::failed);
        control.segment(2)->click();
        say(failedTask("choose_decoder", {ErrorCode::Unsupported, "No.", ""}));
        QCOMPARE(control.currentIndex(), 0);
        QCOMPARE(failed.size(), 0);
    }

    void anotherDecoderIsAFourthChoice() {
        DecoderSwitch control(m_stage->context());
        load();
        say(DecoderChosen{hydraDecoder(), {}});
        QCOMPARE(control.count(), 4);
        QCOMPARE(control.segment(3)->text(), QString("Hydra"));
        QCOMPARE(control.currentIndex(), 3);
        say(DecoderChosen{vanillaDecoder(), {}});
        QCOMPARE(control.count(), 3);
    }

    void arrowKeysChooseAndTellOnce() {
        SegmentedControl control(m_stage->theme, "Level");
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
        DecoderSwitch control(m_stage->context());
        load();
        QCOMPARE(namelessWidgets(control), QStringList());
    }
};

QTEST_MAIN(DecoderSwitchTest)
#include "decoder_switch_test.moc"
