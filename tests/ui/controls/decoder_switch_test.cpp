// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class DecoderSwitchTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<QSettings> m_file;
    std::unique_ptr<KeptSettings> m_kept;

    void say(EventContent content) { m_stage->tell(std::move(content)); }

    void load() {
        ModelLoaded model = loadedModel();
        model.decoders = {swiftDecoder(), vanillaDecoder(), hydraDecoder()};
        say(model);
        say(DecoderChosen{vanillaDecoder(), {}});
    }

    /// The engine chooses it with these settings, which are the user's.
    void choose(const DecoderInfo& info, const SettingValues& given = {}) {
        say(DecoderChosen{info, resolveSettings(info, given).value()});
        m_kept->keep(m_stage->store.settings());
    }

    static DecoderInfo searching() {
        DecoderInfo info = swiftDecoder();
        for (SettingInfo& each : info.settings)
            if (each.name == "start")
                each.choices.push_back("manual");
        info.settings.push_back(setting("skip_set", "Skip set", SettingKind::Text, std::string()));
        info.settings.push_back(setting("optimise", "Search", SettingKind::Flag, 1.0));
        return info;
    }

    void loadSearching(const std::string& path, std::vector<int> copies = {}) {
        ModelLoaded model = loadedModel();
        model.path = path;
        model.model.silentCopies = std::move(copies);
        model.decoders = {searching(), vanillaDecoder()};
        say(model);
    }

    /// What a flipped cell of the layer map sends, and something of the user's beside it.
    static SettingValues madeByHand() {
        return {{"start", std::string("manual")},
                {"skip_set", std::string(R"({"attention":[1],"mlp":[2]})")},
                {"optimise", 0.0},
                {"gamma", 8.0}};
    }

    /// The names of those that the decoder would not be chosen with.
    QStringList missing(const SettingValues& wanted) {
        QStringList names;
        const SettingValues start = m_kept->startOf("swift");
        for (const auto& [name, value] : wanted)
            if (!start.contains(name) || start.at(name) != value)
                names << QString::fromStdString(name);
        return names;
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_file = std::make_unique<QSettings>(m_folder.filePath("s.ini"), QSettings::IniFormat);
        m_file->clear();
        m_kept = std::make_unique<KeptSettings>(*m_file, m_stage->store);
    }

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
        control.setKept(*m_kept);
        load();
        const SettingValues given = {{"r", 0.3}, {"siblings", std::string("2")}};
        choose(swiftDecoder(), given);
        control.segment(0)->click();
        choose(vanillaDecoder());
        QCOMPARE(control.currentIndex(), 0);
        control.segment(2)->click();
        QCOMPARE(
            resolveSettings(swiftDecoder(), m_stage->engine->lastSent<ChooseDecoder>()->settings)
                .value(),
            resolveSettings(swiftDecoder(), given).value());
    }

    void whatAProfileHadOtherwiseComesBackWithIt() {
        load();
        // As in the profile "guided", with which SWIFT begins, but not as in this one.
        const SettingValues given = {{"profile", std::string("paper")}, {"grow", 1.0}};
        choose(swiftDecoder(), given);
        QCOMPARE(resolveSettings(swiftDecoder(), m_kept->startOf("swift")).value(),
                 resolveSettings(swiftDecoder(), given).value());
    }

    void eachDecodersSettingsComeBackAtTheNextStart() {
        load();
        choose(swiftDecoder(), {{"r", 0.3}});
        choose(hydraDecoder(), {{"heads", 8.0}});
        KeptSettings again(*m_file, m_stage->store);
        QCOMPARE(numberOf(again.startOf("swift"), "r"), 0.3);
        QCOMPARE(again.startOf("hydra"), (SettingValues{{"heads", 8.0}}));
    }

    void aSetMadeByHandComesBackForItsModelAlone() {
        loadSearching("/models/tiny.gguf");
        choose(searching(), madeByHand());
        QCOMPARE(missing(madeByHand()), QStringList());
        const QStringList set = {"optimise", "skip_set", "start"};
        loadSearching("/models/other.gguf");
        QCOMPARE(missing(madeByHand()), set);
        choose(searching(), m_kept->startOf("swift")); // without it, which forgets nothing
        loadSearching("/models/tiny.gguf", {1});       // the lesson model of it
        QCOMPARE(missing(madeByHand()), set);
        loadSearching("/models/tiny.gguf");
        QCOMPARE(missing(madeByHand()), QStringList());
    }

    void eachModelHasASetByHandOfItsOwn() {
        SettingValues others = madeByHand();
        others["skip_set"] = std::string("{\"attention\":[2],\"mlp\":[2]}");
        loadSearching("/models/tiny.gguf");
        choose(searching(), madeByHand());
        loadSearching("/models/other.gguf");
        choose(searching(), others);
        QCOMPARE(missing(others), QStringList());
        loadSearching("/models/tiny.gguf");
        QCOMPARE(missing(madeByHand()), QStringList());
        loadSearching("/models/other.gguf");
        m_kept->keep(resolveSettings(searching(), madeByHand()).value()); // those of before stay
        QCOMPARE(missing(others), QStringList());
        choose(searching(), {{"gamma", 8.0}}); // the user took it back
        QCOMPARE(missing(others), (QStringList{"optimise", "skip_set", "start"}));
    }

    void theSameSetIsMadeByHandForTwoModels() {
        SettingValues half = madeByHand();
        half["skip_set"] = std::string(R"({"attention":[1],"mlp":[]})");
        loadSearching("/models/tiny.gguf");
        choose(searching(), madeByHand());
        loadSearching("/models/other.gguf");
        choose(searching(), madeByHand()); // it stays when another model is loaded
        QCOMPARE(missing(madeByHand()), (QStringList{"optimise", "skip_set", "start"}));
        choose(searching(), half); // cell by cell
        choose(searching(), madeByHand());
        QCOMPARE(missing(madeByHand()), QStringList());
        loadSearching("/models/tiny.gguf");
        QCOMPARE(missing(madeByHand()), QStringList());
    }

    void theOneSetOfAnEarlierVersionIsOfItsModel() {
        loadSearching("/models/tiny.gguf");
        choose(searching(), madeByHand());
        m_file->beginGroup("run/decoders/swift/sets");
        const QString set = m_file->value(m_file->childKeys().front()).toString();
        m_file->endGroup();
        m_file->remove("run/decoders/swift/sets");
        m_file->setValue("run/decoders/swift/model", "/models/tiny.gguf");
        m_file->setValue("run/decoders/swift/set", set);
        QCOMPARE(missing(madeByHand()), QStringList());
        loadSearching("/models/other.gguf");
        QVERIFY(!missing(madeByHand()).isEmpty());
    }

    void aSetThatTheDecoderRefusesIsLeftOutTheNextTime() {
        loadSearching("/models/tiny.gguf");
        choose(searching(), madeByHand());
        m_kept->forgetRefused("swift"); // that of another choice
        QCOMPARE(missing(madeByHand()), QStringList());
        m_kept->forgetRefused("vanilla"); // it waits, too
        QCOMPARE(missing(madeByHand()), QStringList());
        m_kept->forgetRefused("swift");
        QCOMPARE(missing(madeByHand()), (QStringList{"optimise", "skip_set", "start"}));
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

    void anUndoHasTheUsersSettingsWhileASearchHasItsOwn() {
        DecoderSwitch control(m_stage->context());
        SkipSetFinder finder(m_stage->bridge, m_stage->store, m_stage->undoStack);
        control.setFinder(finder);
        loadSearching("/models/tiny.gguf");
        choose(searching());
        SubmitPrompt question;
        question.messages = {{"user", "Name three colours.", {}}};
        finder.start(question);
        SettingValues now = m_stage->store.settings();
        for (const auto& [name, value] : m_stage->engine->lastSent<ChangeSettings>()->values)
            now.insert_or_assign(name, value);
        say(SettingsChanged{now});
        QCOMPARE(m_stage->store.settings().at("S"), SettingValue(48.0));
        control.segment(0)->click();
        say(DecoderChosen{vanillaDecoder(), {}});
        m_stage->undoStack.undo();
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->settings.at("S"),
                 SettingValue(1000.0));
    }

    void aChoiceThatWaitsForTheEndOfAnAnswerStaysShown() {
        DecoderSwitch control(m_stage->context());
        load();
        control.segment(2)->click();
        say(ForecastMade{});
        QCOMPARE(control.currentIndex(), 2);
        say(DecoderChosen{swiftDecoder(), {}});
        QCOMPARE(control.currentIndex(), 2);
        say(ForecastMade{});
        QCOMPARE(control.currentIndex(), 2);
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
