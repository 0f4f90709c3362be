// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/shown_words.h"
#include "ui/views/controls/settings/setting_scale.h"
#include "ui/views/controls/settings/setting_text.h"
#include "ui/views/controls/settings/settings_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>

using namespace engine;
using namespace support;
using namespace ui;

class SettingsFormTest : public QObject {
    Q_OBJECT

    Theme m_theme;

    struct Edit {
        std::string setting;
        SettingValue value;
    };

    static std::vector<Edit>& record(SettingsForm& form, std::vector<Edit>& edits) {
        connect(&form, &SettingsForm::edited, &form, [&](SettingRow* row, const auto& value) {
            edits.push_back({row->setting().name, value});
        });
        return edits;
    }

    template <typename T> static T* control(const SettingsForm& form, const char* setting) {
        return form.row(setting)->findChild<T*>();
    }

private slots:

    void aDecoderThatNobodyKnowsHasAControlOfEachKind() {
        SettingsForm form(m_theme);
        form.setSettings(hydraDecoder().settings);
        QCOMPARE(form.rows().size(), std::size_t(5));
        QCOMPARE(control<QDoubleSpinBox>(form, "heads")->value(), 4.0);
        QCOMPARE(control<QDoubleSpinBox>(form, "tau")->minimum(), -1.0);
        QVERIFY(control<QCheckBox>(form, "regrow")->isChecked());
        QCOMPARE(control<QComboBox>(form, "lake")->count(), 2);
        QCOMPARE(control<QLineEdit>(form, "label")->text(), QString("<b>none</b>"));
    }

    void theEndOfTheNewestSearchAloneIsTold() {
        RunStore store;
        const PlanOutline plan{4, {{1}, {2}}, 3};
        const auto search = [&](std::uint64_t id, int trials, double score) {
            store.apply({0.0, PlanChanged{id, plan, 0.25, "start"}});
            QCOMPARE(settingNote(store, "S"), QString());
            for (int index = 1; index <= trials; ++index)
                store.apply({0.0, trial("random", index, score, score, plan)});
            store.apply({0.0, PhaseChanged{DecoderPhase::Accelerate}});
        };
        search(1, 3, 0.5);
        QCOMPARE(settingNote(store, "S"), QString("stopped at 3 with score 0.50"));
        search(2, 2, 0.75); // with another r
        QCOMPARE(settingNote(store, "S"), QString("stopped at 2 with score 0.75"));
    }

    /// The paper's five stand first and alone when the form is simple.
    void theOthersStandUnderTheHeadingsOfTheirGroups() {
        SettingsForm form(m_theme);
        std::vector<SettingInfo> settings = {setting("heads", "Heads", SettingKind::Number, 4.0),
                                             setting("tau", "Tau", SettingKind::Number, 0.3),
                                             setting("r", "Skip ratio r", SettingKind::Number, 0.4),
                                             setting("lake", "Lake", SettingKind::Number, 1.0)};
        settings[1].group = settings[2].group = "Bite";
        settings[3].group = "Swim";
        form.setSettings(settings);
        form.show();
        QCOMPARE(form.headings(), QStringList());
        form.setSimple(false);
        QCOMPARE(form.headings(), QStringList({"Bite", "Swim"}));
        QCOMPARE(form.rows().front()->setting().name, std::string("r"));
        const auto top = [&form](const char* name) { return form.row(name)->y(); };
        QVERIFY(top("r") < top("heads") && top("heads") < top("tau") && top("tau") < top("lake"));
        form.setSettings(hydraDecoder().settings); // that have no groups
        QCOMPARE(form.headings(), QStringList());
    }

    void eachKindTellsItsNewValue() {
        SettingsForm form(m_theme);
        form.setSettings(hydraDecoder().settings);
        form.setSimple(false);
        form.show();
        std::vector<Edit> edits;
        record(form, edits);
        control<QCheckBox>(form, "regrow")->click();
        QTest::keyClick(control<QComboBox>(form, "lake"), Qt::Key_Down);
        auto* line = control<QLineEdit>(form, "label");
        line->selectAll();
        QTest::keyClicks(line, "nine");
        QCOMPARE(edits.size(), std::size_t(2)); // a line is told when it is left
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(edits.size(), std::size_t(3));
        QCOMPARE(edits[0].value, SettingValue(0.0));
        QCOMPARE(edits[1].value, SettingValue(std::string("argos")));
        QCOMPARE(edits[2].value, SettingValue(std::string("nine")));
    }

    void aDragIsToldOnceWhenItIsLetGo() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        std::vector<Edit> edits;
        record(form, edits);
        auto* slider = control<QSlider>(form, "r");
        slider->setSliderDown(true);
        for (int position = 46; position <= 60; ++position)
            slider->setSliderPosition(position);
        QCOMPARE(control<QDoubleSpinBox>(form, "r")->value(), 0.60); // shown at once
        QCOMPARE(edits.size(), std::size_t(0));
        slider->setSliderDown(false);
        QCOMPARE(edits.size(), std::size_t(1));
        QCOMPARE(edits[0].value, SettingValue(0.60));
    }

    void aBurstOfKeysIsToldOnce() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        std::vector<Edit> edits;
        record(form, edits);
        auto* slider = control<QSlider>(form, "gamma");
        for (int i = 0; i < 5; ++i)
            QTest::keyClick(slider, Qt::Key_Right);
        QCOMPARE(edits.size(), std::size_t(0));
        QTRY_COMPARE(edits.size(), std::size_t(1));
        QCOMPARE(edits[0].value, SettingValue(37.0));
    }

    void aValueFinerThanTheSpinBoxIsNotChangedByLeavingIt() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        form.setValues({{"r", 0.4567}});
        std::vector<Edit> edits;
        record(form, edits);
        QTest::keyClick(control<QDoubleSpinBox>(form, "r"), Qt::Key_Return);
        QCOMPARE(edits.size(), std::size_t(0));
    }

    void whatTheUserIsTypingIsNotOverwritten() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        form.setSimple(false);
        form.show();
        form.activateWindow();
        auto* line = control<QLineEdit>(form, "siblings");
        line->setFocus();
        QTRY_VERIFY(line->hasFocus());
        line->selectAll();
        QTest::keyClicks(line, "1,2");
        form.setValues({{"siblings", std::string("9,9,9,9")}});
        QCOMPARE(line->text(), QString("1,2"));
    }

    void theResetGoesBackToTheReferenceAndIsOffThere() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        form.setReference({{"S", 1000.0}}, "Paper 13B \"A&B\"");
        form.setValues({{"S", 1000.0}});
        auto* reset = form.row("S")->findChild<QToolButton*>("reset");
        QVERIFY(!reset->isEnabled());
        form.setValues({{"S", 600.0}});
        QVERIFY(reset->isEnabled());
        QVERIFY(shownTip(reset->toolTip()).contains("Paper 13B \"A&B\""));
        std::vector<Edit> edits;
        record(form, edits);
        reset->click();
        QCOMPARE(edits.size(), std::size_t(1));
        QCOMPARE(edits[0].value, SettingValue(1000.0));
        QVERIFY(!reset->isEnabled());
    }

    /// As one in a preset that was made elsewhere.
    void theResetGoesBackToAReferenceWithMoreDigitsThanAreShown() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        form.setReference({{"r", 1.0 / 3.0}}, "Odd one");
        form.setValues({{"r", 0.45}});
        std::vector<Edit> edits;
        record(form, edits);
        form.row("r")->findChild<QToolButton*>("reset")->click();
        QCOMPARE(edits.size(), std::size_t(1));
        QCOMPARE(edits[0].value, SettingValue(1.0 / 3.0));
        QVERIFY(!form.row("r")->isChanged());
    }

    void thePapersFiveComeFirstAndAloneInTheSimpleForm() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        QStringList shown;
        for (const SettingRow* row : form.rows())
            if (!row->isHidden())
                shown << QString::fromStdString(row->setting().name);
        QCOMPARE(shown, QStringList({"r", "gamma", "epsilon", "beta", "S"}));
        form.setSimple(false);
        for (const SettingRow* row : form.rows())
            QVERIFY(!row->isHidden());
    }

    void differencesNameBeforeAndAfter() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        form.setReference({{"r", 0.45}, {"S", 1000.0}}, "Paper 13B");
        form.setValues({{"r", 0.45}, {"S", 600.0}});
        const auto differences = form.differences();
        QCOMPARE(differences.size(), std::size_t(1));
        QCOMPARE(differences[0].before, SettingValue(1000.0));
        QCOMPARE(differences[0].now, SettingValue(600.0));
    }

    void f1ShowsTheHelpInPlaceAndHidesItAgain() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        SettingRow* row = form.row("epsilon");
        QTest::keyClick(control<QSlider>(form, "epsilon"), Qt::Key_F1);
        QVERIFY(row->isHelpShown());
        QVERIFY(shownWords(*row).contains("0.8"));
        QTest::keyClick(control<QDoubleSpinBox>(form, "epsilon"), Qt::Key_F1, Qt::ShiftModifier);
        QVERIFY(!row->isHelpShown());
    }

    void symbolsAreTakenFromTheTitle() {
        const auto titleOf = [](const char* name, const char* title) {
            return settingTitle(setting(name, title, SettingKind::Number, 0.0));
        };
        QCOMPARE(titleOf("r", "Skip ratio r").symbol, QString("r"));
        QCOMPARE(titleOf("r", "Skip ratio r").name, QString("Skip ratio"));
        QCOMPARE(titleOf("gamma", "Context window \u03b3").symbol, QString("\u03b3"));
        QCOMPARE(titleOf("beta1", "Memory \u03b21").symbol, QString("\u03b21"));
        QCOMPARE(titleOf("r_min", "Least r").symbol, QString());
        QCOMPARE(titleOf("r_min", "Least r").name, QString("Least r"));
    }

    void theHelpOfAnUnknownSettingIsItsMeaning() {
        SettingInfo heads = hydraDecoder().settings[0];
        heads.meaning = "Heads at most.";
        const QString help = settingHelp(heads);
        QVERIFY(help.startsWith("Heads at most."));
        QVERIFY(help.contains("16"));
        QVERIFY(help.contains("next step"));
    }

    void wideRangesAreSpreadByMagnitude() {
        const SettingScale steps(0, 1'000'000, true);
        const int half = steps.lastPosition() / 2;
        QVERIFY(steps.valueAt(half) > 900 && steps.valueAt(half) < 1100);
        QCOMPARE(steps.valueAt(0), 0.0);
        QCOMPARE(steps.valueAt(steps.lastPosition()), 1'000'000.0);
        for (int position = 1; position <= steps.lastPosition(); ++position)
            QVERIFY(steps.valueAt(position) >= steps.valueAt(position - 1));
    }

    void evenRangesGoThereAndBack() {
        for (const SettingScale& scale : {SettingScale(0, 0.95, false), SettingScale(1, 512, true)})
            for (int position = 0; position <= scale.lastPosition(); ++position)
                QCOMPARE(scale.positionOf(scale.valueAt(position)), position);
    }

    void aDefaultIsShownInFull() {
        QCOMPARE(SettingScale(0, 1, false, 0.005).decimals(), 3);
        QCOMPARE(SettingScale(-1, 1, false, 0.02).decimals(), 2);
        QCOMPARE(SettingScale(0, 1, false, 1.0 / 3.0).decimals(), 6);
        QCOMPARE(SettingScale(1, 512, true, 50).decimals(), 0);
    }

    void eachNumberOfASettingHasRoomInItsBox_data() {
        QTest::addColumn<int>("percent");
        QTest::newRow("small text") << 70;
        QTest::newRow("usual text") << 100;
        QTest::newRow("large text") << 200;
    }

    void eachNumberOfASettingHasRoomInItsBox() {
        QFETCH(int, percent);
        Theme theme;
        theme.applyTo(*qApp);
        theme.setTextPercent(percent);
        using enum SettingKind;
        SettingsForm form(theme);
        form.setSettings({setting("share", "Time for probing", Number, 0.005),
                          setting("fine", "Third", Number, 1.0 / 3.0),
                          setting("signed", "Doubt", Number, 0.3, {-100.0, 100.0}),
                          setting("S", "Steps", Integer, 1000.0, {0, 1e6})});
        form.setSimple(false);
        form.resize(theme.scaled(296), theme.scaled(600));
        form.show();
        theme.setTextPercent(percent == 100 ? 150 : 100); // as the user does it
        theme.setTextPercent(percent);
        QCoreApplication::processEvents();
        for (const SettingRow* row : form.rows()) {
            auto* spin = row->findChild<QDoubleSpinBox*>();
            auto* line = spin->findChild<QLineEdit*>();
            for (const double value : {spin->minimum(), spin->value(), spin->maximum()}) {
                spin->setValue(value);
                // Room for all: the first character stays in sight with the cursor at the end.
                line->end(false);
                const int inside = line->cursorPositionAt({0, line->height() / 2});
                QVERIFY2(inside == 0, qPrintable(line->text()));
                const int wanted = QFontMetrics(line->font()).horizontalAdvance(line->text()) + 2;
                QVERIFY2(wanted <= line->width(), qPrintable(line->text()));
            }
        }
        qApp->setStyleSheet({});
    }

    void seedsHaveNoSlider() { QVERIFY(!SettingScale(0, 1e9, true).hasSlider()); }

    void everyControlHasAName() {
        SettingsForm form(m_theme);
        form.setSettings(swiftDecoder().settings);
        QCOMPARE(namelessWidgets(form), QStringList());
        form.setSettings(hydraDecoder().settings);
        QCOMPARE(namelessWidgets(form), QStringList());
        control<QSlider>(form, "heads")->setAccessibleName({});
        QCOMPARE(namelessWidgets(form).size(), 1); // the walk finds one that has none
    }
};

QTEST_MAIN(SettingsFormTest)
#include "settings_form_test.moc"
