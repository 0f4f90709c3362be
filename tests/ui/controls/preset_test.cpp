// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/shown_words.h"
#include "ui/language/language.h"
#include "ui/views/controls/presets/changes_popup.h"
#include "ui/views/controls/presets/preset_bar.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTranslator>
#include <QTreeWidget>

#include <algorithm>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

void write(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

QByteArray presetJson(const QByteArray& name, const QByteArray& values) {
    return R"({"format": "swift-studio-preset", "version": 1, "name": ")" + name +
           R"(", "decoder": "swift", "values": )" + values + "}";
}

} // namespace

class PresetTest : public QObject {
    Q_OBJECT

    static constexpr const char* kBundled = "resources/presets";

    Theme m_theme;

private slots:

    void thePresetsThatComeWithTheProgramAreGood() {
        const PresetShelf shelf(kBundled, {});
        QCOMPARE(shelf.problems(), QStringList());
        QStringList names;
        for (const Preset& preset : shelf.presets()) {
            names << preset.name;
            QVERIFY(!preset.isOwn);
            QVERIFY(!preset.meaning.isEmpty());
            QVERIFY2(resolveSettings(swiftDecoder(), preset.values).hasValue(),
                     qPrintable(preset.name));
        }
        QCOMPARE(names,
                 QStringList({"Authors' script", "Paper 13B", "Paper 34B/70B", "Small model"}));
        const SettingValues& script = shelf.presets()[0].values;
        QCOMPARE(script.at("gamma"), SettingValue(50.0));
        QCOMPARE(script.at("stop_score"), SettingValue(0.93));
        QCOMPARE(shelf.presets()[2].values.at("r"), SettingValue(0.5));
    }

    void badFilesAreNamedAndPassedOver() {
        QTemporaryDir folder;
        write(folder.filePath("a.json"), presetJson("Good", R"({"r": 0.3, "grow": true})"));
        write(folder.filePath("b.json"), "{\"format\": ");
        write(folder.filePath("c.json"), presetJson("List", R"({"r": [1]})"));
        write(folder.filePath("d.json"), "{}");
        write(folder.filePath("e.json"), "[1]");
        const PresetShelf shelf({}, folder.path());
        QCOMPARE(shelf.presets().size(), std::size_t(1));
        QCOMPARE(shelf.presets()[0].values.at("grow"), SettingValue(1.0));
        QCOMPARE(shelf.problems().size(), 4);
        QVERIFY(shelf.problems()[0].contains("b.json"));
        QVERIFY(shelf.problems()[1].contains("\"r\""));
    }

    void aSavedPresetIsReadBackAndCanBeDeleted() {
        QTemporaryDir folder;
        const QString own = folder.filePath("deep/presets");
        PresetShelf shelf(kBundled, own);
        Preset made;
        made.name = "My: best/one";
        made.decoder = "swift";
        made.values = {{"r", 0.25}, {"siblings", std::string("1,1,1,1")}};
        QVERIFY(shelf.save(made).hasValue());
        const Preset kept = PresetShelf({}, own).presets().front();
        QCOMPARE(kept.name, made.name);
        QCOMPARE(kept.values, made.values);
        QVERIFY(kept.isOwn);
        QVERIFY(shelf.save(made).hasValue()); // again: in place of the first
        QCOMPARE(QDir(own).entryList(QDir::Files).size(), 1);
        QVERIFY(shelf.remove(kept).hasValue());
        QCOMPARE(QDir(own).entryList(QDir::Files).size(), 0);
    }

    void namesThatGiveTheSameFileNameAreKeptApart() {
        QTemporaryDir folder;
        PresetShelf shelf({}, folder.path());
        Preset made;
        made.decoder = "swift";
        made.name = "a b";
        QVERIFY(shelf.save(made).hasValue());
        made.name = "a-b";
        QVERIFY(shelf.save(made).hasValue());
        QCOMPARE(shelf.presets().size(), std::size_t(2));
    }

    void oneNameForTwoDecodersIsTwoPresets() {
        QTemporaryDir folder;
        PresetShelf shelf({}, folder.path());
        Preset made;
        made.name = "Fast";
        for (const char* decoder : {"swift", "hydra", "hydra"}) { // the last one again
            made.decoder = decoder;
            QVERIFY(shelf.save(made).hasValue());
        }
        QCOMPARE(shelf.presets().size(), std::size_t(2));
        QVERIFY(shelf.presets()[0].decoder != shelf.presets()[1].decoder);
    }

    void whatCameWithTheProgramCannotBeDeleted() {
        PresetShelf shelf(kBundled, {});
        QVERIFY(!shelf.remove(shelf.presets()[0]).hasValue());
        QVERIFY(QFile::exists(shelf.presets()[0].path));
    }

    void aPresetWithoutANameIsNotSaved() {
        QTemporaryDir folder;
        PresetShelf shelf({}, folder.path());
        const auto saved = shelf.save({});
        QVERIFY(!saved.hasValue());
        QVERIFY(!saved.error().hint.empty());
    }

    void theNearestPresetIsTheReference() {
        PresetShelf shelf(kBundled, {});
        PresetBar bar(m_theme, shelf);
        const DecoderInfo swift = swiftDecoder();
        bar.setDecoder(swift, resolveSettings(swift, {{"r", 0.5}, {"S", 600.0}}).value());
        QCOMPARE(bar.referenceName(), QString("Paper 34B/70B"));
        QCOMPARE(bar.reference().at("S"), SettingValue(1000.0));
    }

    void aPresetWithUnknownSettingsIsNamedAndLeftOut() {
        QTemporaryDir folder;
        write(folder.filePath("a.json"), presetJson("Odd one", R"({"gama": 3})"));
        PresetShelf shelf({}, folder.path());
        PresetBar bar(m_theme, shelf);
        bar.setDecoder(swiftDecoder(), resolveSettings(swiftDecoder(), {}).value());
        QCOMPARE(bar.findChild<QComboBox*>("presets")->count(), 1);
        QVERIFY(bar.problem().contains("Odd one"));
    }

    void tipsShowPresetsAndValuesAsTheyAre() {
        QTemporaryDir folder;
        PresetShelf shelf({}, folder.path());
        Preset made;
        made.name = "R&D \"<b>\"";
        made.meaning = "\"Fast\" & <i>good</i>";
        made.decoder = "swift";
        made.values = {{"r", 0.25}};
        QVERIFY(shelf.save(made).hasValue());
        PresetBar bar(m_theme, shelf);
        const DecoderInfo swift = swiftDecoder();
        bar.setDecoder(swift, resolveSettings(swift, {{"r", 0.25}}).value());
        const auto* box = bar.findChild<QComboBox*>("presets");
        QCOMPARE(shownTip(box->toolTip()), made.meaning);
        QCOMPARE(shownTip(box->itemData(1, Qt::ToolTipRole).toString()), made.meaning);
        const auto siblings = std::ranges::find(swift.settings, "siblings", &SettingInfo::name);
        QVERIFY(siblings != swift.settings.end());
        const SettingDifference difference{
            *siblings, std::string("1,1"), std::string("2 & \"3\" <b>")};
        bar.setDifferences({difference});
        QVERIFY(
            shownTip(bar.findChild<QPushButton*>("changed")->toolTip()).endsWith(" " + made.name));
        QWidget window;
        auto* popup = new ChangesPopup(m_theme, {difference}, made.name, &window);
        const QTreeWidgetItem* item = popup->findChild<QTreeWidget*>()->topLevelItem(0);
        QVERIFY(item->text(2).contains("2 & \"3\" <b>"));
        QCOMPARE(shownTip(item->toolTip(2)), item->text(2));
    }

    void savingFromTheBarChoosesTheNewPreset() {
        QTemporaryDir folder;
        PresetShelf shelf(kBundled, folder.path());
        PresetBar bar(m_theme, shelf);
        const auto values = resolveSettings(swiftDecoder(), {{"r", 0.11}}).value();
        bar.setDecoder(swiftDecoder(), values);
        bar.saveAs("Eleven");
        QCOMPARE(bar.referenceName(), QString("Eleven"));
        QCOMPARE(bar.reference(), values);
        bar.removeChosen();
        QVERIFY(bar.referenceName() != "Eleven");
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 0);
    }

    /// As when a model with a decoder of its own was loaded meanwhile.
    void theNamedPresetGoesThoughAnotherDecoderIsChosenByThen() {
        QTemporaryDir folder;
        PresetShelf shelf({}, folder.path());
        PresetBar bar(m_theme, shelf);
        bar.show();
        bar.setDecoder(hydraDecoder(), resolveSettings(hydraDecoder(), {{"heads", 8.0}}).value());
        bar.saveAs("Eight");
        bar.setDecoder(swiftDecoder(), resolveSettings(swiftDecoder(), {{"r", 0.11}}).value());
        bar.saveAs("Eleven");
        QSignalSpy changed(&bar, &PresetBar::shelfChanged);
        bar.findChild<QToolButton*>("presetMenu")->menu()->actions().last()->trigger();
        bar.setDecoder(hydraDecoder(), resolveSettings(hydraDecoder(), {{"heads", 8.0}}).value());
        QCOMPARE(bar.referenceName(), QString("Eight"));
        for (QAbstractButton* button : bar.findChild<QMessageBox*>()->buttons())
            if (button->text() == "Delete")
                button->click();
        QCOMPARE(changed.size(), 1);
        QCOMPARE(shelf.presets().size(), std::size_t(1));
        QCOMPARE(shelf.presets()[0].name, QString("Eight"));
        QCOMPARE(bar.referenceName(), QString("Eight"));
    }

    void aPresetHasOneNameInTheLanguageOfTheWindow() {
        const QString folder = "resources/translations";
        QVERIFY(useLanguage("de", folder).hasValue());
        const auto english = qScopeGuard([&folder] {
            delete qApp->findChild<QTranslator*>();
            static_cast<void>(useLanguage("en", folder));
        });
        PresetShelf shelf(kBundled, {});
        PresetBar bar(m_theme, shelf);
        const SettingValues guided = {{"profile", std::string("guided")}};
        bar.setDecoder(swiftDecoder(), resolveSettings(swiftDecoder(), guided).value());
        QCOMPARE(bar.findChild<QComboBox*>("presets")->currentText(), QString("Kleines Modell"));
        QCOMPARE(bar.referenceName(), QString("Kleines Modell"));
    }

    void aLoadedFileIsKeptAndApplied() {
        QTemporaryDir folder;
        QTemporaryDir elsewhere;
        write(elsewhere.filePath("x.json"), presetJson("From a friend", R"({"r": 0.2})"));
        PresetShelf shelf(kBundled, folder.path());
        PresetBar bar(m_theme, shelf);
        bar.setDecoder(swiftDecoder(), resolveSettings(swiftDecoder(), {}).value());
        QSignalSpy applied(&bar, &PresetBar::applyWanted);
        bar.load(elsewhere.filePath("x.json"));
        QCOMPARE(applied.size(), 1);
        QCOMPARE(bar.referenceName(), QString("From a friend"));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
        bar.load(elsewhere.filePath("nothing.json"));
        QCOMPARE(applied.size(), 1);
        QVERIFY(bar.problem().contains("nothing.json"));
    }
};

QTEST_MAIN(PresetTest)
#include "preset_test.moc"
