// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/figures_run.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace engine;
using namespace support;
using namespace ui;

class ParametersViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    QTemporaryDir m_own;
    std::unique_ptr<ParametersView> m_view;

    void say(EventContent content) { m_stage->tell(std::move(content)); }

    void choose(const DecoderInfo& info, const SettingValues& given = {}) {
        say(DecoderChosen{info, resolveSettings(info, given).value()});
    }

    /// What the engine answers to the newest ChangeSettings.
    void confirm() {
        SettingValues now = m_stage->store.settings();
        for (const auto& [name, value] : m_stage->engine->lastSent<ChangeSettings>()->values)
            now.insert_or_assign(name, value);
        say(SettingsChanged{now});
    }

    void drag(const char* setting, int position) {
        auto* slider = m_view->form().row(setting)->findChild<QSlider*>();
        slider->setSliderDown(true);
        slider->setSliderPosition(position);
        slider->setSliderDown(false);
    }

    void type(const char* setting, const QString& text) {
        auto* line = m_view->sampling().row(setting)->findChild<QLineEdit*>("line");
        line->setText(text);
        emit line->editingFinished();
    }

    /// To its greatest value.
    void drag(SettingRow* row) {
        auto* slider = row->findChild<QSlider*>();
        slider->setSliderDown(true);
        slider->setSliderPosition(slider->maximum());
        slider->setSliderDown(false);
    }

    double shown(const char* setting) {
        return m_view->form().row(setting)->findChild<QDoubleSpinBox*>()->value();
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_view = std::make_unique<ParametersView>(m_stage->context(),
                                                  PresetFolders{"resources/presets", m_own.path()});
        m_view->resize(296, 800);
        m_view->show();
        ModelLoaded model = loadedModel(30);
        model.decoders = {swiftDecoder(), vanillaDecoder(), hydraDecoder()};
        say(model);
        choose(swiftDecoder());
    }

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void howADecoderWorksIsOneLineUntilItIsOpened() {
        DecoderInfo told = swiftDecoder();
        told.explanation = "It drafts & <b>checks</b>.";
        choose(told);
        auto* open = m_view->findChild<QToolButton*>("how_it_works");
        QVERIFY(open->isVisible());
        QCOMPARE(m_view->explanation(), QString());
        open->setFocus();
        QTest::keyClick(open, Qt::Key_Space);
        QCOMPARE(m_view->explanation(), QStringLiteral("It drafts & <b>checks</b>."));
        const auto* label = m_view->findChild<QLabel*>("explanation");
        QCOMPARE(label->textFormat(), Qt::PlainText);
        QVERIFY(label->isVisible());
        choose(vanillaDecoder()); // an older recording's: there is nothing to open
        QVERIFY(!open->isVisible());
        QCOMPARE(m_view->explanation(), QString());
        choose(told); // it stays open
        QCOMPARE(m_view->explanation(), QStringLiteral("It drafts & <b>checks</b>."));
        QTest::keyClick(open, Qt::Key_Space);
        QVERIFY(!label->isVisible());
    }

    void theHeadStaysInSightWhileTheSettingsScroll() {
        m_view->resize(296, 420);
        m_view->setSimple(false);
        QCoreApplication::processEvents();
        auto* scroll = m_view->findChild<QScrollArea*>();
        QVERIFY(scroll->verticalScrollBar()->maximum() > 100);
        scroll->verticalScrollBar()->setValue(scroll->verticalScrollBar()->maximum());
        for (const char* name : {"decoders", "presets"}) {
            const auto* part = m_view->findChild<QWidget*>(name);
            QVERIFY2(!part->visibleRegion().isEmpty(), name);
        }
        m_view->showSetting("gamma");
        QVERIFY(!m_view->form().row("gamma")->visibleRegion().isEmpty());
    }

    void everyDecoderOfTheModelCanBeChosen() {
        const auto* box = m_view->findChild<QComboBox*>("decoders");
        QStringList names;
        for (int i = 0; i < box->count(); ++i)
            names << box->itemData(i).toString();
        QCOMPARE(names,
                 (QStringList{"swift", "vanilla", QString::fromStdString(hydraDecoder().name)}));
    }

    void aPresetAndAnUndoHaveTheUsersSettingsWhileASearchHasItsOwn() {
        DecoderInfo searching = swiftDecoder();
        searching.settings.push_back(
            setting("skip_set", "Skip set", SettingKind::Text, std::string()));
        searching.settings.push_back(setting("optimise", "Optimise", SettingKind::Flag, 1.0));
        ModelLoaded model = loadedModel(30);
        model.decoders = {searching, vanillaDecoder()};
        say(model);
        choose(vanillaDecoder());
        choose(searching);
        SkipSetFinder finder(m_stage->bridge, m_stage->store, m_stage->undoStack);
        m_view->setFinder(finder);
        SubmitPrompt question;
        question.messages = {{"user", "Name three colours.", {}}};
        finder.start(question);
        QVERIFY(finder.isRunning());
        confirm();
        QCOMPARE(m_stage->store.settings().at("S"), SettingValue(48.0));
        m_view->presets().saveAs("Mine");
        QCOMPARE(m_view->presets().referenceName(), QString("Mine"));
        QCOMPARE(m_view->presets().reference().at("S"), SettingValue(1000.0));
        m_view->presets().removeChosen();
        m_view->chooseDecoder("vanilla");
        choose(vanillaDecoder());
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->settings.at("S"),
                 SettingValue(1000.0));
    }

    void theBoxBringsADecoderBackAsItWasLeft() {
        QSettings file(m_own.filePath("s.ini"), QSettings::IniFormat);
        KeptSettings kept(file, m_stage->store);
        m_view->setKept(kept);
        choose(swiftDecoder(), {{"r", 0.3}});
        kept.keep(m_stage->store.settings());
        m_view->chooseDecoder("vanilla");
        choose(vanillaDecoder());
        m_view->chooseDecoder("swift");
        QCOMPARE(numberOf(m_stage->engine->lastSent<ChooseDecoder>()->settings, "r"), 0.3);
    }

    void onlyTheChangedValueIsSent() {
        drag("r", 50);
        const auto* sent = m_stage->engine->lastSent<ChangeSettings>();
        QVERIFY(sent != nullptr);
        QCOMPARE(sent->values, (SettingValues{{"r", 0.5}}));
    }

    void whatTheEngineTookCanBeUndoneAndRedone() {
        drag("r", 50);
        QCOMPARE(m_stage->undoStack.count(), 0); // not before the engine said so
        confirm();
        QCOMPARE(m_stage->undoStack.count(), 1);
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChangeSettings>()->values, (SettingValues{{"r", 0.45}}));
        confirm();
        QCOMPARE(shown("r"), 0.45);
        m_stage->undoStack.redo();
        QCOMPARE(m_stage->engine->lastSent<ChangeSettings>()->values, (SettingValues{{"r", 0.5}}));
    }

    void theUndoOfASettingIsDroppedOnceAnotherDecoderIsChosen() {
        drag("r", 50);
        confirm();
        choose(hydraDecoder()); // by someone else
        m_stage->engine->sent.clear();
        m_stage->undoStack.undo();
        QVERIFY(m_stage->engine->lastSent<ChangeSettings>() == nullptr);
        QCOMPARE(m_stage->undoStack.count(), 0);
    }

    void aChoiceAndTheSettingBeforeItAreUndoneWithoutAWait() {
        drag("r", 50);
        confirm();
        auto* decoders = m_view->findChild<QComboBox*>("decoders");
        decoders->setCurrentIndex(decoders->findData("hydra"));
        emit decoders->activated(decoders->currentIndex());
        choose(hydraDecoder());
        QCOMPARE(m_stage->undoStack.count(), 2);
        m_stage->undoStack.undo();
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChangeSettings>()->values, (SettingValues{{"r", 0.45}}));
    }

    void dragsOfOneVisitAreOneToUndo() {
        for (int position : {50, 55, 60}) {
            drag("r", position);
            confirm();
        }
        QCOMPARE(m_stage->undoStack.count(), 1);
        drag("epsilon", 50);
        confirm();
        QCOMPARE(m_stage->undoStack.count(), 2);
        m_stage->undoStack.undo();
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChangeSettings>()->values, (SettingValues{{"r", 0.45}}));
    }

    void aRefusedChangeGoesBackAndSaysWhy() {
        drag("gamma", 300);
        QCOMPARE(shown("gamma"), 301.0);
        say(failedTask("change_settings",
                       {ErrorCode::InvalidInput, "gamma is too large.", "Choose less."}));
        QCOMPARE(shown("gamma"), 32.0);
        QCOMPARE(m_view->form().row("gamma")->problem(),
                 QString("gamma is too large. Choose less."));
        QCOMPARE(m_stage->undoStack.count(), 0);
        drag("gamma", 40);
        QCOMPARE(m_view->form().row("gamma")->problem(), QString());
    }

    void whatOthersChangeIsShown() {
        SettingValues now = m_stage->store.settings();
        now["S"] = 250.0;
        say(SettingsChanged{now});
        QCOMPARE(shown("S"), 250.0);
    }

    void theNoteOfRCountsInnerSublayers() {
        const QString texts = shownWords(*m_view->form().row("r"));
        QVERIFY2(texts.contains("25 of 56 inner sublayers; ends stay locked"), qPrintable(texts));
    }

    void theNoteOfRSetsTheRatioInUseBesideTheOneAskedFor() {
        const auto note = [this] { return shownWords(*m_view->form().row("r")); };
        PlanChanged change = paperPlan();
        change.askedRatio = change.skipRatio;
        say(change);
        QVERIFY2(!note().contains("in use"), qPrintable(note()));
        change.planId = 2;
        change.plan.skipped = {{2, 3}, {4}};
        change.skipRatio = 0.05;
        change.ratioReason = "It grows.";
        say(change);
        QVERIFY2(note().contains("25 of 56 inner sublayers; ends stay locked\nr asked for .45, in "
                                 "use .05: 3 of 56 sublayers. It grows."),
                 qPrintable(note()));
        change.planId = 3;
        change.skipRatio = 0.15; // more than 3 of 56
        say(change);
        QVERIFY2(note().contains("in use .15: 3 of 56 sublayers, as r counts their bytes. It"),
                 qPrintable(note()));
    }

    void settingsSayWhatATrainingMadeTheModelFor() {
        ModelLoaded loaded = loadedModel(30);
        loaded.model.tunedExit = 15;
        loaded.model.tunedMasks = 2;
        say(loaded);
        const auto note = [this](const char* decoder, const char* name, double value) {
            DecoderInfo info;
            info.name = decoder;
            info.title = decoder;
            info.settings = {setting(name, name, SettingKind::Integer, 0.0, {0.0, 64.0})};
            choose(info, {{name, value}});
            m_view->setSimple(false);
            return shownWords(*m_view->form().row(name));
        };
        QVERIFY(note("layerskip", "exit_layer", 0.0)
                    .contains("15 now: the exit that this model was trained for"));
        QVERIFY(!note("layerskip-fs", "exit_layer", 3.0).contains("now"));
        QVERIFY(!note("del", "exit_layer", 0.0).contains("now"));
        QVERIFY(note("space", "masks", 0.0)
                    .contains("at most 2 now: as many as this model was trained with"));
    }

    void aSettingWithoutEffectSaysWhatItNeeds() {
        DecoderInfo info = swiftDecoder();
        for (SettingInfo& known : info.settings)
            if (known.name == "epsilon")
                known.needs = {"early_stop", 1.0};
        const auto note = [this] {
            QStringList texts;
            for (const QLabel* label : m_view->form().row("epsilon")->findChildren<QLabel*>())
                texts << label->text();
            return texts.contains("No effect now: needs Early stop = on.");
        };
        say(DecoderChosen{info, resolveSettings(info, {}).value()});
        QVERIFY(!note());
        say(SettingsChanged{resolveSettings(info, {{"early_stop", 0.0}}).value()});
        QVERIFY(note());
    }

    void theChipCountsWhatDiffersFromThePreset() {
        auto* chip = m_view->findChild<QPushButton*>("changed");
        QCOMPARE(m_view->presets().referenceName(), QString("Paper 13B"));
        QVERIFY(chip->isHidden());
        drag("r", 50);
        confirm();
        QVERIFY(!chip->isHidden());
        QCOMPARE(chip->text(), QString("1 changed"));
        QCOMPARE(chip->accessibleName(),
                 QString("1 setting differs from Paper 13B. Click to show it"));
    }

    void aPresetSendsAllItsValuesAndIsOneToUndo() {
        auto* presets = m_view->findChild<QComboBox*>("presets");
        const SettingValues before = m_stage->store.settings();
        presets->setFocus();
        presets->setCurrentIndex(presets->findText("Authors' script"));
        emit presets->activated(presets->currentIndex());
        const auto* sent = m_stage->engine->lastSent<ChangeSettings>();
        QVERIFY(sent != nullptr);
        QCOMPARE(sent->values.at("gamma"), SettingValue(50.0));
        QCOMPARE(sent->values.at("profile"), SettingValue(std::string("code")));
        QCOMPARE(sent->values.size(), before.size());
        confirm();
        QCOMPARE(m_stage->undoStack.count(), 1);
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChangeSettings>()->values, before);
    }

    void samplingIsSentAsAWhole() {
        say(SamplingChanged{{.temperature = 0.0, .topK = 7, .topP = 1.0, .seed = 3}});
        drag(m_view->sampling().row("temperature"));
        const auto* sent = m_stage->engine->lastSent<ChangeSampling>();
        QVERIFY(sent != nullptr);
        QCOMPARE(sent->sampling.temperature, 2.0);
        QCOMPARE(sent->sampling.topK, 7);
        QCOMPARE(sent->sampling.seed, std::uint64_t(3));
    }

    /// The engine takes up a change of the sampling once the present answer has ended.
    void changesOfTheSamplingThatWaitAreAllTakenUp() {
        SettingRow* temperature = m_view->sampling().row("temperature");
        drag(temperature);
        const SamplingOptions first = m_stage->engine->lastSent<ChangeSampling>()->sampling;
        say(SettingsChanged{m_stage->store.settings()}); // something else is shown anew
        QCOMPARE(temperature->value(), SettingValue(2.0));
        drag(m_view->sampling().row("min_p"));
        const SamplingOptions second = m_stage->engine->lastSent<ChangeSampling>()->sampling;
        QCOMPARE(second.temperature, 2.0);
        QCOMPARE(second.minP, 0.99);
        say(SamplingChanged{first});
        say(SamplingChanged{second});
        QCOMPARE(m_stage->undoStack.count(), 2);
        m_stage->undoStack.undo();
        QVERIFY(m_stage->engine->lastSent<ChangeSampling>()->sampling == first);
        say(SamplingChanged{{.temperature = 0.5}}); // nothing waits any more
        QCOMPARE(temperature->value(), SettingValue(0.5));
    }

    void theSamplingOfOneAnswerAloneIsNotTheUsers() {
        m_view->setUsersSampling([] { return SamplingOptions{.temperature = 0.5, .seed = 3}; });
        say(SamplingChanged{{.temperature = 0.5, .seed = 77}}); // of an answer that is made again
        QCOMPARE(m_view->sampling().row("seed")->value(), SettingValue(3.0));
        drag(m_view->sampling().row("temperature"));
        const SamplingOptions sent = m_stage->engine->lastSent<ChangeSampling>()->sampling;
        QCOMPARE(sent.temperature, 2.0);
        QCOMPARE(sent.seed, std::uint64_t(3));
    }

    void aPresetThatIsTakenEndsWhatWasSaidOfAnother() {
        auto* presets = m_view->findChild<QComboBox*>("presets");
        emit presets->activated(1);
        say(failedTask("change_settings", {ErrorCode::InvalidInput, "Not here.", ""}));
        QVERIFY(m_view->presets().problem().contains("Not here."));
        emit presets->activated(2);
        confirm();
        QCOMPARE(m_view->presets().problem(), QString());
    }

    void rareWaysOfSamplingShowWithAllSettings() {
        SettingsForm& form = m_view->sampling();
        m_view->setSimple(true);
        QVERIFY(!form.row("min_p")->isHidden() && !form.row("seed")->isHidden());
        QVERIFY(form.row("typical_p")->isHidden() && form.row("form")->isHidden());
        m_view->setSimple(false);
        QVERIFY(!form.row("presence_penalty")->isHidden() && !form.row("form")->isHidden());
    }

    void penaltiesAndBiasAreSentAsTheyAreTyped() {
        SettingsForm& form = m_view->sampling();
        type("logit_bias", "42=-5, 7 = 2.5");
        const auto* sent = m_stage->engine->lastSent<ChangeSampling>();
        QVERIFY(sent != nullptr);
        QCOMPARE(sent->sampling.logitBias, (std::vector<LogitBias>{{42, -5.0}, {7, 2.5}}));
        say(SamplingChanged{sent->sampling});
        say(SamplingChanged{{.repetitionPenalty = 1.1,
                             .repetitionWindow = 64,
                             .presencePenalty = 0.5,
                             .frequencyPenalty = -0.5,
                             .logitBias = {{42, -5.0}, {7, 2.5}}}});
        QCOMPARE(form.row("repetition_penalty")->value(), SettingValue(1.1));
        QCOMPARE(form.row("repetition_window")->value(), SettingValue(64.0));
        QCOMPARE(form.row("presence_penalty")->value(), SettingValue(0.5));
        QCOMPARE(form.row("frequency_penalty")->value(), SettingValue(-0.5));
        QCOMPARE(form.row("logit_bias")->value(), SettingValue(std::string("42=-5, 7=2.5")));
    }

    void aBiasThatIsNoneIsToldBeneathItsField() {
        SettingRow* row = m_view->sampling().row("logit_bias");
        const auto* before = m_stage->engine->lastSent<ChangeSampling>();
        type("logit_bias", "yes=2");
        QCOMPARE(row->problem(),
                 QString("Write token ids and values separated by commas, such as 42=-5, 7=2."));
        QCOMPARE(m_stage->engine->lastSent<ChangeSampling>(), before);
    }

    void aFormIsChosenAndThenWritten() {
        auto* choice = m_view->sampling().row("form")->findChild<QComboBox*>("choice");
        choice->setCurrentIndex(choice->findText("JSON schema"));
        emit choice->activated(choice->currentIndex());
        const auto* sent = m_stage->engine->lastSent<ChangeSampling>();
        QVERIFY(sent != nullptr);
        QCOMPARE(sent->sampling.grammar, (Grammar{GrammarKind::Schema, R"({"type": "object"})"}));
        const SamplingOptions chosen = sent->sampling;
        say(SamplingChanged{chosen});
        type("form_text", R"({"type": "arr"})");
        QCOMPARE(m_stage->engine->lastSent<ChangeSampling>()->sampling.grammar,
                 (Grammar{GrammarKind::Schema, R"({"type": "arr"})"}));
        const Error error{ErrorCode::InvalidInput, "The JSON schema is refused at #/type.", ""};
        say(EngineFailed{.error = error, .task = "change_sampling"});
        QCOMPARE(m_view->sampling().row("form_text")->problem(),
                 QString("The JSON schema is refused at #/type."));
        const auto* line = m_view->sampling().row("form_text")->findChild<QLineEdit*>("line");
        QCOMPARE(line->text(), QString(R"({"type": "arr"})")); // to be mended
    }

    void theDiceDrawsAnotherSeed() {
        auto* dice = m_view->findChild<QToolButton*>("dice");
        dice->click();
        const std::uint64_t first = m_stage->engine->lastSent<ChangeSampling>()->sampling.seed;
        for (int i = 0; i < 5; ++i)
            dice->click();
        QVERIFY(m_stage->engine->lastSent<ChangeSampling>()->sampling.seed != first);
    }

    void anotherDecoderIsChosenAndShown() {
        auto* decoders = m_view->findChild<QComboBox*>("decoders");
        decoders->setCurrentIndex(decoders->findData("hydra"));
        emit decoders->activated(decoders->currentIndex());
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->name, std::string("hydra"));
        choose(hydraDecoder());
        QVERIFY(m_view->form().row("tau") != nullptr);
        QVERIFY(m_view->form().row("r") == nullptr);
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->name, std::string("swift"));
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->settings.at("r"), SettingValue(0.45));
    }

    void aDecoderWithoutSettingsSaysSo() {
        choose(vanillaDecoder());
        QVERIFY(m_view->form().isHidden());
        bool isSaid = false;
        for (const QLabel* label : m_view->findChildren<QLabel*>())
            isSaid = isSaid || (!label->isHidden() && label->text().contains("has no settings"));
        QVERIFY(isSaid);
    }

    void theTableListsEverySetting() {
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), swiftDecoder().settings.size());
        QCOMPARE(table.rows[0], QStringList({"Skip ratio r", "0.45", "0.45", "new search"}));
    }

    void everyControlHasAName() { QCOMPARE(namelessWidgets(*m_view), QStringList()); }
};

QTEST_MAIN(ParametersViewTest)
#include "parameters_view_test.moc"
