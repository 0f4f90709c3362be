// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/views/layer_map/editing/manual_set.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <optional>

using namespace support;
using namespace ui;

/// A skip set made by hand belongs to one model, and all views show the same one.
class ManualSetTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;

    engine::SkipSet set() const { return {{1, 3}, {2}}; }

    engine::SettingValues settingsWith(const engine::SkipSet& byHand) const {
        engine::SettingValues settings = searchingSettings();
        settings["start"] = std::string("manual");
        settings["skip_set"] = engine::skipSetJson(byHand);
        settings["optimise"] = 0.0;
        return settings;
    }

    void choose(const engine::SettingValues& settings) {
        m_run->engine->say(engine::DecoderChosen{searchingDecoderInfo(), settings});
        m_run->bridge->tick();
    }

    void answer(const engine::SettingValues& settings) {
        m_run->engine->say(engine::SettingsChanged{settings});
        m_run->bridge->tick();
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(6);
        m_run->begin();
    }

    void cleanup() { m_run.reset(); }

    void aSetAmongTheSettingsIsShownBeforeTheFirstAnswer() {
        LayerMapView map(m_run->context());
        map.resize(700, 150);
        map.show();
        choose(settingsWith(set()));
        QCOMPARE(map.model().state().skipped, set());
        QCOMPARE(map.subtitle(), QStringLiteral("manual set"));
        QCOMPARE(map.notice(), QStringLiteral("Manual set: matchness not measured yet."));
        choose(settingsWith({{7}, {}})); // of a model with more layers
        QVERIFY(!map.shownSet());
        choose(settingsWith(set()));
        m_run->install(m_run->plan({4}, {4}), "better"); // what drafts use counts from then on
        m_run->bridge->tick();
        QCOMPARE(map.model().state().skipped, m_run->plan({4}, {4}).skipped);
    }

    void aSetSentByOneViewIsThatOfAllViews() {
        ManualSet first(m_run->context());
        ManualSet second(m_run->context());
        first.use(set(), QStringLiteral("the first set"));
        answer(settingsWith(set()));
        QCOMPARE(second.pending(), std::optional(set()));
        second.use({{4}, {}}, QStringLiteral("the second set"));
        answer(settingsWith({{4}, {}}));
        QCOMPARE(first.pending(), std::optional(engine::SkipSet{{4}, {}}));
        m_run->undo.undo();
        answer(settingsWith(set()));
        QCOMPARE(first.pending(), std::optional(set()));
        m_run->undo.undo();
        QVERIFY(!first.isManual()); // before the engine has answered
    }

    void aSearchThatIsOffIsNotPromised() {
        LayerMapView map(m_run->context());
        map.resize(700, 300);
        map.show();
        m_run->bridge->tick();
        const QString promise = QStringLiteral("The search begins with the next answer.");
        QVERIFY2(shownWords(map).contains(promise), qPrintable(shownWords(map)));
        engine::SettingValues settings = searchingSettings();
        settings["optimise"] = 0.0;
        choose(settings);
        QVERIFY2(!shownWords(map).contains(promise), qPrintable(shownWords(map)));
        QVERIFY(shownWords(map).contains(QStringLiteral("the search for a better one is off")));
    }

    void whileAnotherDecoderWaitsASetIsSentToTheOneInUse() {
        ManualSet manual(m_run->context());
        m_run->engine->say(promptStarted(1));
        m_run->bridge->tick();
        m_run->bridge->choose(engine::ChooseDecoder{"lookup"});
        manual.use(set(), QStringLiteral("a set"));
        for (const engine::SettingValue& wanted : {engine::SettingValue(engine::skipSetJson(set())),
                                                   engine::SettingValue(std::string())}) {
            const auto* sent = m_run->engine->lastSent<engine::ChangeSettings>();
            QVERIFY(sent != nullptr);
            QCOMPARE(sent->decoder, std::string("swift"));
            QVERIFY(sent->values.at("skip_set") == wanted);
            m_run->undo.undo();
        }
        QVERIFY(m_run->engine->lastSent<engine::ChooseDecoder>() == nullptr); // it still waits
    }

    void aFlipInAFrozenMapIsSeenWithWhatComesOfIt() {
        LayerMapView map(m_run->context());
        map.resize(700, 150);
        map.show();
        m_run->install(m_run->plan({3}, {2}), "better");
        m_run->bridge->tick();
        map.setFrozen(true);
        QTableView& table = map.grid().table();
        table.setCurrentIndex(table.model()->index(0, 2));
        QTest::keyClick(&table, Qt::Key_Space);
        QVERIFY(!map.isFrozen());
        const engine::SkipSet flipped{{2, 3}, {2}};
        QCOMPARE(map.model().state().skipped, flipped);
        answer(settingsWith(flipped));
        m_run->tryPlan({6, flipped, 5}, "manual", 16, false);
        m_run->install({6, flipped, 5}, "manual");
        m_run->bridge->tick();
        QVERIFY2(map.notice().startsWith(QStringLiteral("Manual set: matchness .50")),
                 qPrintable(map.notice()));
    }

    void undoOnAnotherModelSendsNothingAndSaysSo() {
        ManualSet manual(m_run->context());
        engine::ModelLoaded other = loadedModel(6);
        other.path = "/models/other.gguf";
        engine::ModelLoaded lesson = loadedModel(6);
        lesson.model.silentCopies = {4};
        for (engine::ModelLoaded* model : {&other, &lesson}) {
            m_run->begin();
            manual.use(set(), QStringLiteral("a set"));
            model->decoders = {searchingDecoderInfo()};
            m_run->engine->say(*model);
            choose(searchingSettings());
            const std::size_t before = m_run->engine->sent.size();
            const QSignalSpy refused(&manual, &ManualSet::refused);
            m_run->undo.undo();
            QCOMPARE(m_run->engine->sent.size(), before);
            QCOMPARE(refused.count(), 1);
            QCOMPARE(refused.at(0).at(0).toString(),
                     QStringLiteral("Nothing was changed: the skip sets were those of another "
                                    "model."));
            QVERIFY(!m_run->undo.canUndo());
        }
    }
};

QTEST_MAIN(ManualSetTest)
#include "manual_set_test.moc"
