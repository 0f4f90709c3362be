// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/grid/layer_legend.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QAction>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace support;
using namespace ui;

class LayerMapViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;
    std::unique_ptr<LayerMapView> m_view;

    engine::PlanOutline start() const { return m_run->plan({1, 3}, {2}); }

    void beginWithAPlan() {
        m_run->begin();
        m_run->install(start(), "start");
        m_run->bridge->tick();
    }

    QTableView& table() { return m_view->grid().table(); }

    void moveTo(int row, int layer) { table().setCurrentIndex(table().model()->index(row, layer)); }

    void focusOn(int row, int layer) {
        table().setFocus();
        QTRY_VERIFY(table().hasFocus());
        moveTo(row, layer);
    }

    void key(Qt::Key code) { QTest::keyClick(&table(), code); }

    /// What the engine answers to a manual set: all settings, then the plan and its trial.
    void answerManual(const engine::PlanOutline& outline, int matches) {
        engine::SettingValues settings = searchingSettings();
        settings["start"] = std::string("manual");
        settings["skip_set"] = engine::skipSetJson(outline.skipped);
        settings["optimise"] = 0.0;
        m_run->engine->say(engine::SettingsChanged{settings});
        m_run->tryPlan(outline, "manual", matches, false);
        m_run->install(outline, "manual");
        m_run->bridge->tick();
    }

    engine::SettingValues sent() const {
        const auto* command = m_run->engine->lastSent<engine::ChangeSettings>();
        return command == nullptr ? engine::SettingValues() : command->values;
    }

    std::size_t sentCount() const { return m_run->engine->sent.size(); }

    QPushButton* button(const QString& name) {
        for (QPushButton* found : m_view->findChildren<QPushButton*>())
            if (found->accessibleName() == name)
                return found;
        return nullptr;
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(6);
        m_view = std::make_unique<LayerMapView>(m_run->context());
        m_view->resize(700, 150);
        m_view->show();
    }

    void cleanup() {
        m_view.reset();
        m_run.reset();
    }

    void theMapShowsTheLiveSet() {
        beginWithAPlan();
        QCOMPARE(m_view->model().state().skipped, start().skipped);
        QCOMPARE(m_view->badge(), QStringLiteral("live"));
        QCOMPARE(m_view->subtitle(), QStringLiteral("live set"));
        m_run->tryPlan(m_run->plan({4}, {4}), "random", 20, true);
        m_run->bridge->tick();
        QCOMPARE(m_view->model().state().skipped, m_run->plan({4}, {4}).skipped);
    }

    void aRatioThatWasNotAskedForIsSaidWithItsReason() {
        beginWithAPlan();
        QCOMPARE(m_view->notice(), QString());
        engine::PlanChanged change{9, m_run->plan({1}, {}), 0.125, "lower r"};
        change.askedRatio = 0.45;
        change.ratioReason = "r was lowered.";
        m_run->engine->say(change);
        m_run->bridge->tick();
        QCOMPARE(m_view->notice(),
                 QStringLiteral("r asked for .45, in use .13: 1 of 8 sublayers. r was lowered."));
    }

    void anExitLeavesOutAllLayersBehindIt() {
        m_run->begin();
        engine::PlanOutline exit = m_run->plan({1}, {});
        exit.exitAfterLayer = 3;
        m_run->install(exit, "exit");
        m_run->bridge->tick();
        QCOMPARE(m_view->model().state().skipped, (engine::SkipSet{{1, 4, 5}, {4, 5}}));
        QCOMPARE(m_view->subtitle(), QStringLiteral("live set, exit after layer 3"));
        const auto words = [&](int layer) { return m_view->model().words({Sublayer::Mlp, layer}); };
        QCOMPARE(words(4), QStringLiteral("Layer 4, MLP, not run, after the exit"));
        QCOMPARE(words(3), QStringLiteral("Layer 3, MLP, kept"));
        const auto state = [&](std::size_t row) { return m_view->table().rows[row][2]; };
        QCOMPARE(state(10), QStringLiteral("not run, after the exit")); // of the MLP of layer 4
        QCOMPARE(state(1), QStringLiteral("skipped"));
        m_run->install(m_run->plan({1}, {}), "exit"); // an exit behind the last layer is none
        m_run->bridge->tick();
        QCOMPARE(m_view->model().state().skipped, (engine::SkipSet{{1}, {}}));
        QCOMPARE(m_view->subtitle(), QStringLiteral("live set"));
    }

    void spaceFlipsTheCellAndSaysSoToTheEngine() {
        beginWithAPlan();
        moveTo(1, 4);
        key(Qt::Key_Space);
        QCOMPARE(engine::textOf(sent(), "start"), std::string("manual"));
        QCOMPARE(engine::textOf(sent(), "skip_set"),
                 std::string(R"({"attention":[1,3],"mlp":[2,4]})"));
        QCOMPARE(engine::numberOf(sent(), "optimise"), 0.0);
        QVERIFY(m_view->model().look({Sublayer::Mlp, 4}).isSkipped); // at once
        QCOMPARE(m_view->notice(), QStringLiteral("Manual set: matchness not measured yet."));
        answerManual(m_run->plan({1, 3}, {2, 4}), 29);
        QCOMPARE(m_view->notice(), QStringLiteral("Manual set: matchness .91, 29 of 32 tokens."));
        QCOMPARE(m_view->subtitle(), QStringLiteral("manual set"));
        engine::TrialFinished last = trial("manual", 9, 1.0, 1.0, m_run->plan({1, 3}, {2, 4}));
        last.ticks = {1};
        m_run->engine->say(last);
        m_run->install(m_run->plan({1, 3}, {2, 4}), "manual");
        m_run->bridge->tick();
        QCOMPARE(m_view->notice(), QStringLiteral("Manual set: matchness 1.00, 1 of 1 token."));
    }

    void aDoubleClickFlipsToo() {
        beginWithAPlan();
        const QPoint place = table().visualRect(table().model()->index(0, 1)).center();
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, place);
        QTest::mouseDClick(table().viewport(), Qt::LeftButton, {}, place);
        QCOMPARE(engine::textOf(sent(), "skip_set"), std::string(R"({"attention":[3],"mlp":[2]})"));
    }

    void quickFlipsAddUpBeforeTheEngineAnswers() {
        beginWithAPlan();
        moveTo(0, 2);
        key(Qt::Key_Space);
        key(Qt::Key_Right);
        key(Qt::Key_Space);
        QCOMPARE(engine::textOf(sent(), "skip_set"),
                 std::string(R"({"attention":[1,2],"mlp":[2]})"));
        answerManual(m_run->plan({1, 2, 3}, {2}), 20); // to the first one
        QVERIFY(!m_view->model().look({Sublayer::Attention, 3}).isSkipped);
        answerManual(m_run->plan({1, 2}, {2}), 22);
        QCOMPARE(m_view->model().state().skipped, m_run->plan({1, 2}, {2}).skipped);
    }

    void undoGivesTheFormerSettingsAndRedoTheManualSet() {
        beginWithAPlan();
        moveTo(0, 2);
        key(Qt::Key_Space);
        answerManual(m_run->plan({1, 2, 3}, {2}), 20);
        QCOMPARE(m_run->undo.undoText(), QStringLiteral("skip layer 2, attention"));
        moveTo(1, 2);
        key(Qt::Key_Space);
        m_run->undo.undo();
        QCOMPARE(engine::textOf(sent(), "start"), std::string("manual"));
        QCOMPARE(engine::textOf(sent(), "skip_set"),
                 std::string(R"({"attention":[1,2,3],"mlp":[2]})"));
        m_run->undo.undo();
        QCOMPARE(engine::textOf(sent(), "start"), std::string("uniform"));
        QCOMPARE(engine::textOf(sent(), "skip_set"), std::string());
        QCOMPARE(engine::numberOf(sent(), "optimise"), 1.0);
        m_run->undo.redo();
        QCOMPARE(engine::textOf(sent(), "skip_set"),
                 std::string(R"({"attention":[1,2,3],"mlp":[2]})"));
        m_run->bridge->tick();
        QCOMPARE(m_view->model().state().skipped, m_run->plan({1, 2, 3}, {2}).skipped);
    }

    void undoWithAnotherDecoderSendsNothing() {
        beginWithAPlan();
        moveTo(0, 2);
        key(Qt::Key_Space);
        engine::DecoderInfo vanilla;
        vanilla.name = "vanilla";
        vanilla.title = "Vanilla";
        m_run->engine->say(engine::DecoderChosen{vanilla, {}});
        m_run->bridge->tick();
        const std::size_t before = sentCount();
        m_run->undo.undo();
        QCOMPARE(sentCount(), before);
    }

    void lockedLayersStayAndTheReasonIsSaid() {
        beginWithAPlan();
        const std::size_t before = sentCount();
        for (const int layer : {0, 5}) {
            moveTo(0, layer);
            key(Qt::Key_Space);
            QVERIFY(m_view->notice().contains(QStringLiteral("never skips layer %1").arg(layer)));
        }
        QCOMPARE(sentCount(), before);
        QVERIFY(!m_view->model().look({Sublayer::Attention, 0}).isSkipped);
    }

    void aDecoderWithoutSkipSetsRefusesWithAReason() {
        engine::DecoderInfo other;
        other.name = "self_sd";
        other.title = "Self-SD";
        m_run->engine->say(loadedModel(6));
        m_run->engine->say(engine::DecoderChosen{other, {}});
        m_run->install(start(), "start");
        m_run->bridge->tick();
        moveTo(0, 2);
        key(Qt::Key_Space);
        QCOMPARE(sentCount(), std::size_t(0));
        QVERIFY(m_view->notice().contains(QStringLiteral("Self-SD")));
        QCOMPARE(m_view->model().state().skipped, start().skipped);
    }

    void aReplayRefusesWithAReason() {
        auto link = std::make_unique<DeafLink>();
        RunStore store;
        DeafLink* replay = link.get();
        EngineBridge bridge(std::move(link), store);
        QUndoStack undo;
        LayerMapView view({m_run->theme, store, bridge, m_run->selection, undo});
        view.resize(700, 150);
        view.show();
        replay->waiting.push_back({0.1, loadedModel(6)});
        replay->waiting.push_back(
            {0.2, engine::DecoderChosen{searchingDecoderInfo(), searchingSettings()}});
        replay->waiting.push_back({0.3, engine::PlanChanged{1, start(), 0.45, "start"}});
        bridge.tick();
        view.grid().table().setCurrentIndex(view.grid().table().model()->index(0, 2));
        QTest::keyClick(&view.grid().table(), Qt::Key_Space);
        QVERIFY(view.notice().contains(QStringLiteral("recording")));
        QCOMPARE(undo.count(), 0);
        QCOMPARE(view.model().state().skipped, start().skipped);
    }

    void whatTheEngineRefusesIsToldAndTakenBack() {
        beginWithAPlan();
        moveTo(0, 2);
        key(Qt::Key_Space);
        engine::EngineFailed failed;
        failed.error = {engine::ErrorCode::InvalidInput, "The set does not fit.", "Try another."};
        failed.task = "change_settings";
        m_run->engine->say(failed);
        m_run->bridge->tick();
        QCOMPARE(m_view->notice(), QStringLiteral("The set does not fit. Try another."));
        QCOMPARE(m_view->model().state().skipped, start().skipped);
    }

    void aPinnedCellStaysMarkedWhenThePointerIsElsewhere() {
        beginWithAPlan();
        moveTo(1, 2);
        key(Qt::Key_Return);
        m_view->grid().setFocus(Qt::MouseFocusReason);
        QCOMPARE(m_view->grid().current(), std::optional(Cell{Sublayer::Mlp, 2}));
        key(Qt::Key_Return);
        QCOMPARE(m_view->grid().current(), std::nullopt);
    }

    void theSearchCanGoOn() {
        beginWithAPlan();
        QVERIFY(!button(QStringLiteral("Resume the search"))->isVisible());
        moveTo(0, 2);
        key(Qt::Key_Space);
        answerManual(m_run->plan({1, 2, 3}, {2}), 20);
        QVERIFY(button(QStringLiteral("Resume the search"))->isVisible());
        QTest::mouseClick(button(QStringLiteral("Resume the search")), Qt::LeftButton);
        QCOMPARE(sent(), engine::SettingValues({{"optimise", 1.0}}));
        m_run->bridge->tick();
        QVERIFY(!button(QStringLiteral("Resume the search"))->isVisible());
    }

    void pinningOutlinesWhatDiffersAndTheNumbersAgree() {
        beginWithAPlan();
        table().setFocus();
        QTRY_VERIFY(table().hasFocus());
        QTest::keyClick(&table(), Qt::Key_P);
        QCOMPARE(m_run->selection.pinnedSet(), std::optional(start()));
        m_run->tryPlan(m_run->plan({1, 4}, {2, 3}), "random", 20, true);
        m_run->bridge->tick();
        int outlined = 0;
        for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
            for (int layer = 0; layer < 6; ++layer)
                outlined += m_view->model().look({kind, layer}).differs ? 1 : 0;
        QCOMPARE(outlined, 3);
        QCOMPARE(m_view->subtitle(),
                 QStringLiteral("live set · 3 cells differ from the pinned set, Jaccard .40"));
        m_run->tryPlan(m_run->plan({1, 3}, {2, 3}), "random", 21, true);
        m_run->bridge->tick();
        QCOMPARE(m_view->subtitle(),
                 QStringLiteral("live set · 1 cell differs from the pinned set, Jaccard .75"));
        m_run->tryPlan(m_run->plan({1, 4}, {2, 3}), "random", 22, true);
        m_run->bridge->tick();
        std::unique_ptr<QWidget> legend(m_view->makeLegend(nullptr));
        QVERIFY(legend->accessibleName().contains(QStringLiteral("differs from pinned set (3)")));
    }

    void theCardsNumbersAreThoseOfTheTrials() {
        beginWithAPlan();
        m_run->tryPlan(start(), "start", 16, false);
        m_run->tryPlan(m_run->plan({1}, {2}), "random", 8, false);
        m_run->tryPlan(m_run->plan({2}, {2}), "random", 24, false);
        m_run->tryPlan(m_run->plan({2}, {2}), "rescore", 1, false);
        m_run->bridge->tick();
        focusOn(0, 0);
        key(Qt::Key_Right); // to layer 1, which two of three trials skipped
        QVERIFY(m_view->card() != nullptr && m_view->card()->isVisible());
        QCOMPARE(m_view->card()->words(),
                 QStringLiteral("Layer 1 · Attention, skipped\n"
                                "Skipped by trials of this search: 2 of 3\n"
                                "Mean matchness, skipped / kept: .38 / .75"));
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), std::size_t(12));
        QCOMPARE(table.rows[1].join(QLatin1Char(' ')),
                 QStringLiteral("1 attention skipped no no 2 3 0.3750 0.7500"));
    }

    void timeSavedIsShownOnceItIsMeasured() {
        beginWithAPlan();
        m_run->engine->say(promptStarted(1));
        for (int step = 0; step < 2; ++step)
            m_run->engine->say(plainStep(1, step, "a", 20.0));
        engine::StepFinished round = draftStep(1, 2, {"b", "c"}, 2, "d");
        round.draftMs = 28.0; // two passes of 14 instead of 20
        round.verifyMs = 20.0;
        m_run->engine->say(round);
        engine::DecodeMetrics total;
        total.rounds = 1;
        total.tokens = 3;
        total.accepted = total.draftSteps = 2;
        total.draftMs = 28.0;
        total.verifyMs = 20.0;
        m_run->engine->say(statistics(total));
        m_run->bridge->tick();
        focusOn(0, 0);
        key(Qt::Key_Right);
        QVERIFY2(m_view->card()->words().contains(
                     QStringLiteral("Time saved per draft token: about 2.00 ms")),
                 qPrintable(m_view->card()->words())); // 6 ms by 3 sublayers
        key(Qt::Key_Right);
        QVERIFY(!m_view->card()->words().contains(QStringLiteral("Time saved")));
    }

    void aClickPinsTheCardAndHoverPreviewsOthers() {
        beginWithAPlan();
        const auto place = [&](int layer) {
            return table().visualRect(table().model()->index(1, layer)).center();
        };
        QTest::mouseMove(table().viewport(), place(2));
        QTRY_VERIFY(m_view->card() != nullptr && m_view->card()->isVisible());
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, place(2));
        QVERIFY(!m_view->card()->isVisible()); // also while the pointer is still there
        QTest::mouseMove(table().viewport(), place(3));
        QTRY_VERIFY(m_view->card()->words().startsWith(QStringLiteral("Layer 3")));
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(table().viewport(), &leave);
        QVERIFY(!m_view->card()->isVisible());
        QCOMPARE(m_view->notice(), QStringLiteral("Layer 2, MLP: skipped \u00B7 Return unpins it"));
        m_run->tryPlan(start(), "start", 16, false);
        m_run->bridge->tick();
        QVERIFY2(m_view->notice().contains(QStringLiteral("\u00B7 skipped by 1 of 1 trial \u00B7")),
                 qPrintable(m_view->notice()));
        QTest::mouseMove(table().viewport(), place(4));
        QTRY_VERIFY(m_view->card()->isVisible());
        m_view->hide();
        QVERIFY(!m_view->card()->isVisible());
    }

    void cellsStayWhereTheyAreWhenASentenceComes() {
        beginWithAPlan();
        for (const int width : {400, 900}) { // the narrow form first
            m_view->resize(width, 122);
            QCoreApplication::processEvents();
        }
        const QRect before = m_view->grid().cellRect({Sublayer::Mlp, 3});
        QVERIFY(m_view->notice().isEmpty());
        for (const int layer : {0, 2}) { // locked: a sentence says so; flipped: a badge, too
            focusOn(0, layer);
            key(Qt::Key_Space);
            QCoreApplication::processEvents();
            QVERIFY(!m_view->notice().isEmpty());
            QCOMPARE(m_view->grid().cellRect({Sublayer::Mlp, 3}), before);
        }
    }

    void beforeAnySetTheSkeletonOffersToFindOne() {
        engine::ModelLoaded loaded = loadedModel(6);
        engine::DecoderInfo searching = searchingDecoderInfo();
        searching.profiles = {{"paper", "", {}}, {"guided", "", {}}};
        loaded.decoders = {searching};
        m_view->resize(700, 300);
        m_run->engine->say(loaded);
        m_run->bridge->tick();
        QPushButton* find = button(QStringLiteral("Find a skip set with this chat"));
        QVERIFY(find->isVisible());
        QVERIFY(!button(QStringLiteral("Load a skip set..."))->isVisible());
        QSignalSpy asked(m_view.get(), &LayerMapView::findAsked);
        QTest::mouseClick(find, Qt::LeftButton);
        QCOMPARE(asked.count(), 1);
        m_run->engine->say(engine::DecoderChosen{searching, searchingSettings()});
        m_run->bridge->tick();
        QVERIFY(find->isVisible());
        QVERIFY(button(QStringLiteral("Load a skip set..."))->isVisible());
        m_view->showFinding(true, QStringLiteral("Searching: 3 sets tried."));
        QVERIFY(!find->isVisible());
        QVERIFY(!button(QStringLiteral("Load a skip set..."))->isVisible());
        QVERIFY(shownWords(*m_view).contains(QStringLiteral("Searching: 3 sets tried.")));
        beginWithAPlan();
        QCOMPARE(m_view->notice(), QStringLiteral("Searching: 3 sets tried."));
    }

    void theMiniFormCountsWhatIsSkippedBelow() {
        beginWithAPlan();
        m_view->resize(296, 150);
        QVERIFY(m_view->grid().isMini());
        const auto legends = m_view->findChildren<LayerLegend*>();
        QCOMPARE(legends.size(), qsizetype(1));
        QVERIFY(legends[0]->isVisible());
        QCOMPARE(legends[0]->accessibleName(),
                 QStringLiteral("Legend: 2 attention, 1 MLP skipped, kept"));
        m_view->resize(700, 150);
        QVERIFY(!m_view->grid().isMini());
        QVERIFY(!legends[0]->isVisible());
    }

    void aTickRefreshesOnceAndStepsChangeNoCell() {
        beginWithAPlan();
        const int before = m_view->refreshCount();
        for (int i = 0; i < 50; ++i)
            m_run->tryPlan(m_run->plan({2}, {3}), "random", 5, false);
        m_run->bridge->tick();
        QCOMPARE(m_view->refreshCount(), before + 1);
        const QSignalSpy changes(&m_view->model(), &QAbstractItemModel::dataChanged);
        m_run->engine->say(plainStep(1, 0, "a", 20.0)); // seen only for what drafted it
        m_run->bridge->tick();
        QCOMPARE(changes.count(), 0);
    }

    void theFigureHasTheCellsOfTheMap() {
        beginWithAPlan();
        QImage image(600, 160, QImage::Format_RGB32);
        image.fill(Qt::black);
        QPainter painter(&image);
        m_view->drawFigure(painter, image.size());
        painter.end();
        const Colours& colours = m_run->theme.colours();
        QHash<QRgb, int> pixels;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                ++pixels[image.pixel(x, y)];
        QVERIFY(pixels[colours.attention.rgb()] > 1000);
        QVERIFY(pixels[colours.mlp.rgb()] > 500);
        QVERIFY(pixels[colours.mlp.rgb()] < pixels[colours.attention.rgb()]);
        QVERIFY(!pixels.contains(QColor(Qt::black).rgb()));
    }

    void everythingThatTakesFocusHasAName() {
        beginWithAPlan();
        for (const QWidget* widget : m_view->findChildren<QWidget*>())
            if (widget->focusPolicy() != Qt::NoFocus && widget->isVisible())
                QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
        QStringList names;
        for (const QAction* action : m_view->actions())
            names << action->text();
        QCOMPARE(names,
                 QStringList({"Pin the skip set",
                              "Copy the skip set as text",
                              "Save the skip set...",
                              "Load a skip set..."}));
    }
};

QTEST_MAIN(LayerMapViewTest)
#include "layer_map_view_test.moc"
