// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/controls/parameters_view.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QSettings>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

/// A decoder that is chosen while an answer is generated: the engine takes it when the answer has
/// ended.
class WaitingDecoderTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<QSettings> m_file;
    std::unique_ptr<KeptSettings> m_kept;
    std::unique_ptr<ParametersView> m_view;
    std::unique_ptr<DecoderSwitch> m_switch;

    const NextDecoder& next() { return m_stage->bridge.nextDecoder(); }

    void say(EventContent content) { m_stage->tell(std::move(content)); }

    /// The engine has it, and so has what is kept of the user's settings.
    void take(const DecoderInfo& info, const SettingValues& given = {}) {
        say(DecoderChosen{info, resolveSettings(info, given).value()});
        m_kept->keep(m_stage->store.settings());
    }

    void pick(const char* name) {
        m_view->chooseDecoder(name);
        settle();
    }

    void settle() {
        m_stage->bridge.tick();
        QCoreApplication::processEvents();
    }

    void drag(const char* setting, int position) {
        auto* slider = m_view->form().row(setting)->findChild<QSlider*>();
        slider->setSliderDown(true);
        slider->setSliderPosition(position);
        slider->setSliderDown(false);
        settle();
    }

    double shown(const char* setting) {
        return m_view->form().row(setting)->findChild<QDoubleSpinBox*>()->value();
    }

    QString inBox() { return m_view->findChild<QComboBox*>("decoders")->currentData().toString(); }

    QString sentence() {
        const auto* label = m_view->findChild<QLabel*>("waiting");
        return label->isVisible() ? label->text() : QString();
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_file = std::make_unique<QSettings>(m_folder.filePath("s.ini"), QSettings::IniFormat);
        m_file->clear();
        m_kept = std::make_unique<KeptSettings>(*m_file, m_stage->store);
        m_view = std::make_unique<ParametersView>(
            m_stage->context(), PresetFolders{"resources/presets", m_folder.path()});
        m_view->setKept(*m_kept);
        m_view->resize(296, 800);
        m_view->show();
        m_switch = std::make_unique<DecoderSwitch>(m_stage->context());
        m_switch->setKept(*m_kept);
        ModelLoaded model = loadedModel(30);
        model.decoders = {swiftDecoder(), vanillaDecoder(), hydraDecoder()};
        say(model);
        take(swiftDecoder(), {{"r", 0.3}});
        say(promptStarted(1));
    }

    void cleanup() {
        m_switch.reset();
        m_view.reset();
        m_kept.reset();
        m_stage.reset();
    }

    void bothControlsShowItAtOnceAndALineSaysThatItWaits() {
        pick("hydra");
        QCOMPARE(inBox(), QStringLiteral("hydra"));
        QVERIFY(m_view->form().row("tau") != nullptr);
        QVERIFY(m_view->form().row("r") == nullptr);
        QCOMPARE(m_switch->segment(m_switch->currentIndex())->text(), QStringLiteral("Hydra"));
        QCOMPARE(sentence(),
                 QStringLiteral("Hydra and these settings take effect with the next answer. SWIFT "
                                "goes on until then."));
        say(promptFinished(1));
        take(hydraDecoder());
        QCOMPARE(sentence(), QString());
        QVERIFY(m_view->form().row("tau") != nullptr);
    }

    void whatIsShownIsWhatIsChanged() {
        pick("hydra");
        drag("heads", 9);
        const double heads = shown("heads");
        QVERIFY(heads != 4.0);
        say(StepFinished(plainStep(1, 0, "x", 1.0))); // the answer goes on
        say(SettingsChanged{m_stage->store.settings()});
        QCOMPARE(shown("heads"), heads);
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows[0][2], QString::number(heads));
        say(promptFinished(1));
        const auto* sent = m_stage->engine->lastSent<ChangeSettings>();
        QVERIFY(sent != nullptr);
        QCOMPARE(sent->decoder, std::string("hydra"));
        QCOMPARE(sent->values.at("heads"), SettingValue(heads));
        take(hydraDecoder());
        SettingValues now = m_stage->store.settings();
        now["heads"] = heads;
        say(SettingsChanged{now});
        QCOMPARE(shown("heads"), heads);
        QCOMPARE(m_stage->undoStack.count(), 2);
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChangeSettings>()->values.at("heads"),
                 SettingValue(4.0));
    }

    /// The conversation keeps its cache: the engine makes a decoder anew even where it is the same.
    void theOneInUseIsChosenAgainAsIfNothingHadBeen() {
        pick("hydra");
        drag("heads", 9);
        const double heads = shown("heads");
        pick("swift");
        QVERIFY(!next().isWaiting());
        QCOMPARE(inBox(), QStringLiteral("swift"));
        QCOMPARE(shown("r"), 0.3);
        QCOMPARE(sentence(), QString());
        say(promptFinished(1));
        QCOMPARE(m_stage->engine->sent.size(), std::size_t(0));
        QCOMPARE(m_stage->undoStack.count(), 0);
        say(promptStarted(2));
        pick("hydra"); // as it was changed while it waited
        QCOMPARE(shown("heads"), heads);
        pick("hydra"); // it is chosen already
        say(promptFinished(2));
        QCOMPARE(m_stage->engine->sent.size(), std::size_t(1));
        const auto* sent = m_stage->engine->lastSent<ChooseDecoder>();
        QCOMPARE(sent->name, std::string("hydra"));
        QCOMPARE(sent->settings.at("heads"), SettingValue(heads));
        take(hydraDecoder(), sent->settings);
        QCOMPARE(m_stage->undoStack.count(), 1);
    }

    void withOtherSettingsItIsAnotherChoice() {
        pick("hydra");
        m_stage->bridge.choose(ChooseDecoder{"swift", {{"r", 0.6}}});
        settle();
        QVERIFY(next().isWaiting());
        QTRY_COMPARE((settle(), sentence()), // views are not refreshed at each event
                     QStringLiteral("These settings take effect with the next answer."));
        say(promptFinished(1));
        QCOMPARE(numberOf(m_stage->engine->lastSent<ChooseDecoder>()->settings, "r"), 0.6);
    }

    void aFrozenFormShowsTheSettingsOfTheOneThatWasChosen() {
        m_view->setFrozen(true);
        pick("hydra");
        QVERIFY(!m_view->isFrozen());
        QVERIFY(m_view->form().row("tau") != nullptr);
    }

    void theDecoderThatAnswersIsReachedMeanwhile() {
        pick("hydra");
        m_stage->bridge.send(ChangeSettings{{{"r", 0.4}}, 0, "swift"});
        QCOMPARE(m_stage->engine->sent.size(), std::size_t(1));
        QVERIFY(m_stage->engine->lastSent<ChangeSettings>() != nullptr);
        QCOMPARE(next().name(), std::string("hydra"));
    }

    void whatIsAskedBehindItFindsItChosen() {
        pick("hydra");
        m_stage->bridge.send(CountTokens{}); // which has nothing to do with it
        QVERIFY(m_stage->engine->lastSent<ChooseDecoder>() == nullptr);
        m_stage->bridge.send(SubmitPrompt{.promptId = 2});
        QCOMPARE(m_stage->engine->sent.size(), std::size_t(3));
        QVERIFY(std::holds_alternative<ChooseDecoder>(m_stage->engine->sent[1]));
        pick("swift"); // too late: the engine has it
        QVERIFY(next().isWaiting());
    }

    void whatTheEngineDoesNotTakeGoesOnWaiting() {
        pick("hydra");
        m_stage->engine->isBusy = true;
        say(promptFinished(1));
        QVERIFY(next().isWaiting());
        m_stage->engine->isBusy = false;
        settle();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->name, std::string("hydra"));
    }

    void theSwitchTakesItBackAsTheBoxDoes() {
        pick("vanilla");
        QCOMPARE(m_switch->currentIndex(), 0);
        m_switch->segment(2)->click();
        settle();
        QCOMPARE(inBox(), QStringLiteral("swift"));
        QVERIFY(!next().isWaiting());
        say(promptFinished(1));
        m_switch->segment(2)->click(); // it is chosen already
        settle();
        QCOMPARE(m_stage->engine->sent.size(), std::size_t(0));
        QCOMPARE(m_stage->undoStack.count(), 0);
    }

    void anUndoReachesNoneOfItsSettings() {
        drag("r", 50);
        SettingValues now = m_stage->store.settings();
        now["r"] = m_stage->engine->lastSent<ChangeSettings>()->values.at("r");
        say(SettingsChanged{now});
        QCOMPARE(m_stage->undoStack.count(), 1);
        pick("hydra");
        const std::size_t before = m_stage->engine->sent.size();
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->sent.size(), before);
        QCOMPARE(m_stage->undoStack.count(), 0);
    }

    void aRefusedOneGoesWithItsChanges() {
        pick("hydra");
        drag("heads", 9);
        say(promptFinished(1));
        say(failedTask("choose_decoder", {ErrorCode::NoMemory, "It does not fit.", ""}));
        say(failedTask("change_settings", {ErrorCode::Cancelled, "It is not chosen.", ""}));
        settle();
        QVERIFY(!next().isWaiting());
        QCOMPARE(inBox(), QStringLiteral("swift"));
        QCOMPARE(shown("r"), 0.3);
        QCOMPARE(m_switch->currentIndex(), 2);
        QCOMPARE(m_view->presets().problem(), QString());
        QCOMPARE(m_stage->undoStack.count(), 0);
    }

    void aProfileResetsWhatWasChangedBeforeIt() {
        pick("vanilla");
        m_stage->bridge.send(ChooseDecoder{"swift", {{"r", 0.3}}});
        m_stage->bridge.send(ChangeSettings{{{"gamma", 8.0}}});
        QCOMPARE(next().settings().at("gamma"), SettingValue(8.0));
        m_stage->bridge.send(ChangeSettings{{{"profile", std::string("code")}}});
        QCOMPARE(next().settings().at("start"), SettingValue(std::string("odd")));
        QCOMPARE(next().settings().at("gamma"), SettingValue(32.0));
        m_stage->bridge.send(ChangeSettings{{{"gamma", -1.0}}}); // the engine will refuse it
        m_stage->bridge.send(ChangeSettings{{{"gamma", 9.0}}, 0, "hydra"}); // likewise
        QCOMPARE(next().settings().at("gamma"), SettingValue(32.0));
    }

    void whatIsNoChoiceOfTheChatsDoesNotWait() {
        m_stage->bridge.send(ChooseDecoder{"hydra", {}, 7});
        QVERIFY(!next().isWaiting());
        m_stage->bridge.send(ChooseDecoder{"not there"});
        QVERIFY(!next().isWaiting());
        QCOMPARE(next().info()->name, std::string("swift"));
        say(failedTask("choose_decoder", {ErrorCode::InvalidInput, "No.", ""}));
        QCOMPARE(next().name(), std::string("swift"));
    }
};

QTEST_MAIN(WaitingDecoderTest)
#include "waiting_decoder_test.moc"
