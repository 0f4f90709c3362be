// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/layer_map/history/column_slider.h"
#include "ui/views/layer_map/history/history_columns.h"
#include "ui/views/layer_map/history/history_painting.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/matchness/matchness_view.h"
#include "ui/views/matchness/strip_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPushButton>
#include <QTest>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <map>

using namespace support;
using namespace ui;

class LayerMapHistoryTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;
    std::unique_ptr<HistoryView> m_view;

    /// A start set and `changes` better ones, two other trials before each.
    void search(int changes) {
        m_run->begin();
        m_run->install(m_run->plan({1, 3}, {2}), "start");
        m_run->tryPlan(m_run->plan({1, 3}, {2}), "start", 10, false);
        for (int i = 0; i < changes; ++i) {
            m_run->tryPlan(m_run->plan({2}, {4}), "random", 5, false);
            m_run->tryPlan(m_run->plan({3}, {3}), "random", 6, false);
            m_run->tryPlan(m_run->plan({1 + i % 4}, {1 + (i + 1) % 4}),
                           i % 2 == 0 ? "random" : "bayesian",
                           std::min(32, 11 + i),
                           true);
        }
        m_run->bridge->tick();
    }

    QSlider& slider() { return m_view->slider(); }

    void key(int code, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(&slider(), static_cast<Qt::Key>(code), modifiers);
        m_run->bridge->tick();
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(6);
        m_view = std::make_unique<HistoryView>(m_run->context());
        m_view->resize(900, 320);
        m_view->show();
    }

    void cleanup() {
        m_view.reset();
        m_run.reset();
    }

    void aColumnStandsForEachBestSetWithItsStepAndScore() {
        search(3);
        const auto& columns = m_view->columns().columns();
        QCOMPARE(columns.size(), std::size_t(4));
        QCOMPARE(columns[0].step, 0);
        QCOMPARE(columns[0].score, std::optional(10.0 / 32.0));
        QCOMPARE(columns[0].kind, std::string("start"));
        QCOMPARE(columns[1].step, 4);
        QCOMPARE(columns[2].step, 7);
        QCOMPARE(columns[2].kind, std::string("bayesian"));
        QCOMPARE(columns[3].score, std::optional(13.0 / 32.0));
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), std::size_t(4));
        QCOMPARE(table.rows[2][0], QStringLiteral("7"));
        QCOMPARE(table.rows[2][4], QStringLiteral("0.3750"));
        QCOMPARE(table.rows[0][6], QStringLiteral("1 3"));
    }

    /// As wide as on a screen of 1024 pixels.
    void inANarrowViewTheSentenceIsReadWhole() {
        m_view->resize(586, 320);
        search(3);
        QCoreApplication::processEvents();
        int shown = 0;
        for (const LiveLabel* label : m_view->findChildren<LiveLabel*>()) {
            if (!label->isVisible())
                continue;
            QVERIFY(label->text().endsWith(QStringLiteral("change 4 of 4")));
            QVERIFY2(!label->isCut(), qPrintable(label->shownText()));
            ++shown;
        }
        QCOMPARE(shown, 1);
    }

    void theWayBackMovesNothing() {
        search(3);
        QCoreApplication::processEvents();
        const QRect before = m_view->columns().geometry();
        key(Qt::Key_Left);
        QCoreApplication::processEvents();
        QVERIFY(m_view->findChild<QPushButton*>()->isVisible());
        QCOMPARE(m_view->columns().geometry(), before);
    }

    void aSetThatIsScoredAgainHasOneScoreInAllViews() {
        MatchnessView plot(m_run->context());
        MatchnessStripView strip(m_run->context());
        plot.show();
        strip.show();
        search(2);
        m_run->tryPlan(m_run->store.search().current()->change.plan, "rescore", 16, false);
        m_run->bridge->tick();
        const HistoryColumn& column = m_view->columns().columns().back();
        QCOMPARE(column.step, 7);
        QCOMPARE(column.score, std::optional(0.5));
        QCOMPARE(column.kind, std::string("bayesian"));
        QVERIFY(columnWords(column).startsWith(QStringLiteral("matchness 0.500, Bayesian")));
        QCOMPARE(strip.countsText(), QStringLiteral("16 match, 16 miss"));
        m_run->selection.setHistoryIndex(2);
        m_run->bridge->markChanged(Topic::Selection);
        m_run->bridge->tick();
        QCOMPARE(plot.plot().cursor()->label, QStringLiteral("step 7: 16 / 32 = 0.500"));
    }

    /// The start set is measured before the first step; a set that is scored again makes none.
    void allViewsCountTheSameTrials() {
        MatchnessView plot(m_run->context());
        LayerMapView map(m_run->context());
        plot.show();
        map.show();
        m_run->begin();
        const engine::PlanOutline start = m_run->plan({1, 3}, {2});
        m_run->engine->say(engine::PhaseChanged{engine::DecoderPhase::Optimise});
        engine::TrialFinished measured = trial("start", 0, 0.5, 0.5, start);
        measured.counts = false;
        measured.isBeside = true;
        m_run->engine->say(measured);
        engine::PlanChanged change{0, start, 0.1, "start"};
        change.isBeside = true;
        m_run->engine->say(change);
        for (const char* kind : {"start", "random", "rescore", "random", "bayesian"})
            m_run->engine->say(trial(kind, 1, 0.25, 0.5, m_run->plan({2}, {3})));
        m_run->bridge->tick();
        const SearchLog& search = m_run->store.search();
        QCOMPARE(search.countedTrials(), 4);
        QVERIFY(plot.subtitle().endsWith(QStringLiteral("4 sets tried")));
        QVERIFY(
            plot.plot().accessibleDescription().endsWith(QStringLiteral("after 4 search steps.")));
        QCOMPARE(searchBands(search, searchSpan(search)).back().name,
                 QStringLiteral("optimise: 2 random + 1 Bayesian + 1 start"));
        QStringList words;
        for (const LiveLabel* label : m_view->findChildren<LiveLabel*>())
            words << label->text();
        QVERIFY2(words.join(' ').contains(QStringLiteral("Step 0 of 4")),
                 qPrintable(words.join(' ')));
        QCOMPARE(map.table().rows.front()[6], QStringLiteral("4"));
        QCOMPARE(plot.table().rows.front().front(), QStringLiteral("0"));
    }

    void kindsOfTrialsHaveTheNamesOfThePlot() {
        HistoryColumn column;
        column.score = 0.5;
        for (const auto& [kind, name] : std::map<std::string, QString>{{"random", "random"},
                                                                       {"bayesian", "Bayesian"},
                                                                       {"start", "start"},
                                                                       {"manual", "by hand"},
                                                                       {"stream", "stream"}}) {
            column.kind = kind;
            QVERIFY(
                columnWords(column).startsWith(QStringLiteral("matchness 0.500, %1 ").arg(name)));
        }
    }

    /// A triangle is widest at its foot, where a dash is not.
    void aStartSetIsATriangle() {
        search(0);
        QPixmap picture(200, 120);
        picture.fill(Qt::white);
        QPainter painter(&picture);
        const auto geometry = HistoryGeometry::make(m_run->theme, picture.rect(), 1, 6);
        paintMarkers(painter, geometry, m_view->columns().columns(), m_run->theme);
        painter.end();
        const QImage image = picture.toImage();
        std::vector<int> widths;
        for (int y = 0; y < image.height(); ++y) {
            int inked = 0;
            for (int x = 0; x < image.width(); ++x)
                inked += image.pixelColor(x, y).lightness() < 200 ? 1 : 0;
            if (inked > 0)
                widths.push_back(inked);
        }
        QVERIFY(widths.size() >= 4);
        QVERIFY(widths.back() > widths.front());
    }

    /// With the settings of the paper no trial is spent on the start set, until one proposes it.
    void aStartSetIsNoProposalOfTheTrialThatMeasuresIt() {
        m_run->begin();
        m_run->install(m_run->plan({1, 3}, {2}), "start");
        m_run->tryPlan(m_run->plan({2}, {3}), "random", 5, false);
        m_run->tryPlan(m_run->plan({1, 3}, {2}), "bayesian", 10, false);
        m_run->tryPlan(m_run->plan({1, 3}, {2}), "rescore", 12, false);
        m_run->bridge->tick();
        const auto& columns = m_view->columns().columns();
        QCOMPARE(columns.size(), std::size_t(1));
        QCOMPARE(columns[0].step, 0);
        QCOMPARE(columns[0].kind, std::string("start"));
        QCOMPARE(columns[0].score, std::optional(12.0 / 32.0));
        QVERIFY(!columnWords(columns[0]).contains(QStringLiteral("Bayesian")));
    }

    void theKeyboardScrubs() {
        search(20);
        QCOMPARE(slider().value(), 20);
        QCOMPARE(m_view->badge(), QStringLiteral("live"));
        key(Qt::Key_Left);
        QCOMPARE(m_run->selection.historyIndex(), std::optional(19));
        QCOMPARE(m_view->badge(), QStringLiteral("step 58"));
        key(Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(m_run->selection.historyIndex(), std::optional(9));
        key(Qt::Key_Right);
        QCOMPARE(m_run->selection.historyIndex(), std::optional(10));
        key(Qt::Key_Home);
        QCOMPARE(m_run->selection.historyIndex(), std::optional(0));
        key(Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(m_run->selection.historyIndex(), std::optional(10));
        key(Qt::Key_End);
        QCOMPARE(m_run->selection.historyIndex(), std::optional<int>());
        QCOMPARE(m_view->badge(), QStringLiteral("live"));
    }

    void theOtherViewsFollowAndOutlineWhatDiffersFromLive() {
        search(3);
        LayerMapView map(m_run->context());
        map.resize(700, 140);
        map.show();
        key(Qt::Key_Home);
        QCOMPARE(map.model().state().skipped, m_run->plan({1, 3}, {2}).skipped);
        QVERIFY(map.model().look({Sublayer::Attention, 1}).differs);
        QVERIFY(!map.model().look({Sublayer::Attention, 3}).differs); // live skips it too
        QCOMPARE(map.badge(), QStringLiteral("step 0"));
        QCOMPARE(map.subtitle(),
                 QStringLiteral("best set at that time · 3 cells differ from the live set, "
                                "Jaccard .25"));
    }

    void handleAndColumnStandInOneLine() {
        search(30);
        for (const int index : {0, 7, 30}) {
            slider().setValue(index);
            const auto geometry = m_view->columns().geometryOf(m_view->columns().rect());
            const QPoint handle =
                m_view->slider().mapTo(m_view.get(), QPoint(qRound(m_view->slider().handleX()), 0));
            const QPoint column = m_view->columns().mapTo(
                m_view.get(), QPoint(qRound(geometry.scale.centre(index)), 0));
            QVERIFY(std::abs(handle.x() - column.x()) <= 1);
        }
    }

    void aClickOnAColumnGoesThere() {
        search(10);
        const auto geometry = m_view->columns().geometryOf(m_view->columns().rect());
        const QPoint place(qRound(geometry.scale.centre(4)), geometry.attentionTop + 5);
        QTest::mouseClick(&m_view->columns(), Qt::LeftButton, {}, place);
        QCOMPARE(m_run->selection.historyIndex(), std::optional(4));
    }

    void playingStepsWithTheTicksAndEndsLive() {
        search(3);
        key(Qt::Key_Space);
        QVERIFY(m_view->isPlaying());
        QCOMPARE(m_run->selection.historyIndex(), std::optional(0));
        for (int i = 1; i < HistoryView::kTicksPerColumn; ++i)
            m_run->bridge->tick();
        QCOMPARE(m_run->selection.historyIndex(), std::optional(1));
        for (int i = 0; i < 2 * HistoryView::kTicksPerColumn; ++i)
            m_run->bridge->tick();
        QCOMPARE(m_run->selection.historyIndex(), std::optional<int>());
        QVERIFY(!m_view->isPlaying());
    }

    void backToLiveIsOfferedOnlyInThePast() {
        search(3);
        QPushButton* back = nullptr;
        for (QPushButton* button : m_view->findChildren<QPushButton*>())
            if (button->accessibleName() == QStringLiteral("Back to live"))
                back = button;
        QVERIFY(back != nullptr);
        QVERIFY(!back->isVisible());
        key(Qt::Key_Home);
        QVERIFY(back->isVisible());
        QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(m_run->selection.historyIndex(), std::optional<int>());
        QVERIFY(!back->isVisible());
    }

    void aPlaceInThePastStaysWhileTheSearchGoesOn() {
        search(3);
        key(Qt::Key_Home);
        m_run->tryPlan(m_run->plan({4}, {4}), "random", 30, true);
        m_run->bridge->tick();
        QCOMPARE(m_run->selection.historyIndex(), std::optional(0));
        QCOMPARE(slider().value(), 0);
        QCOMPARE(slider().maximum(), 4);
    }

    void aNewSearchLetsGoOfThePlace() {
        search(3);
        key(Qt::Key_Left);
        m_run->engine->say(engine::DecoderChosen{searchingDecoderInfo(), searchingSettings()});
        m_run->bridge->tick();
        QCOMPARE(m_run->selection.historyIndex(), std::optional<int>());
        QVERIFY(m_view->columns().columns().empty());
    }

    /// The layer map of the chat would show a step of the next model's search.
    void aHiddenHistoryLetsGoOfThePlaceToo() {
        search(3);
        key(Qt::Key_Left);
        QVERIFY(m_run->selection.historyIndex());
        m_view->hide();
        search(3); // begins with a model
        QCOMPARE(m_run->selection.historyIndex(), std::optional<int>());
    }

    /// Its offer stays on the screen while another view has chosen the decoder.
    void aFrozenHistoryTakesItsOfferThoughThereAreColumns() {
        m_run->begin();
        m_view->setFrozen(true);
        m_run->install(m_run->plan({1, 3}, {2}), "start");
        m_run->bridge->tick();
        QVERIFY(m_view->columns().columns().empty());
        for (QPushButton* button : m_view->findChildren<QPushButton*>())
            if (button->accessibleName() == QStringLiteral("Use the decoder that searches"))
                button->click();
        QCOMPARE(m_view->columns().columns().size(), std::size_t(1));
    }

    void aFrozenHistoryHasTheTableOfItsPicture() {
        search(3);
        const int step = m_view->columns().columns().back().step;
        m_view->setFrozen(true);
        m_run->tryPlan(m_run->plan({4}, {4}), "random", 29, true);
        m_run->tryPlan(m_run->plan({3}, {4}), "random", 30, true);
        m_run->bridge->tick();
        QCOMPARE(m_view->columns().columns().size(), std::size_t(4));
        QCOMPARE(m_view->table().rows.size(), std::size_t(4));
        QCOMPARE(m_view->table().rows.back().front(), QString::number(step));
        key(Qt::Key_Left); // moves among what is shown
        QCOMPARE(m_run->selection.historyIndex(), std::optional(2));
        key(Qt::Key_End); // the newest of those is in the past by now
        QCOMPARE(m_run->selection.historyIndex(), std::optional(3));
        QCOMPARE(m_view->columns().columns().size(), std::size_t(4));
        m_view->setFrozen(false);
        QCOMPARE(m_view->columns().columns().size(), std::size_t(6));
        QCOMPARE(m_view->table().rows.size(), std::size_t(6));
    }

    void aFrozenLayerMapHasTheTrialsOfItsPicture() {
        LayerMapView map(m_run->context());
        map.show();
        search(3);
        const QString trials = map.table().rows.front()[6];
        map.setFrozen(true);
        m_run->tryPlan(m_run->plan({4}, {4}), "random", 30, true);
        m_run->bridge->tick();
        QCOMPARE(map.table().rows.front()[6], trials);
        map.setFrozen(false);
        m_run->bridge->tick();
        QVERIFY(map.table().rows.front()[6] != trials);
    }

    void aFrozenColumnOfASearchThatIsGoneLeadsNowhere() {
        search(3);
        m_view->setFrozen(true);
        m_run->engine->say(engine::DecoderChosen{searchingDecoderInfo(), searchingSettings()});
        m_run->install(m_run->plan({2}, {3}), "start");
        m_run->bridge->tick();
        key(Qt::Key_Home);
        QCOMPARE(m_run->selection.historyIndex(), std::optional<int>());
        QCOMPARE(m_view->table().rows.size(), std::size_t(4));
    }

    /// A recording of others may say anything.
    void tipsShowTheNameOfAKindAsItIs() {
        m_run->begin();
        m_run->tryPlan(m_run->plan({2}, {4}), "<b>odd</b>", 20, true);
        m_run->bridge->tick();
        const QString name = QStringLiteral("<b>odd</b>");
        for (const LiveLabel* label : m_view->findChildren<LiveLabel*>())
            if (label->text().contains(name))
                QVERIFY2(shownTip(label->toolTip()).contains(name), qPrintable(label->toolTip()));
        const QPoint place = m_view->columns().rect().center();
        QHelpEvent help(QEvent::ToolTip, place, m_view->columns().mapToGlobal(place));
        QCoreApplication::sendEvent(&m_view->columns(), &help);
        QVERIFY2(shownTip(QToolTip::text()).contains(name), qPrintable(QToolTip::text()));
        QToolTip::hideText();
    }

    void onlyNewColumnsAreDrawnAndScrubbingDrawsNone() {
        search(999);
        m_view->grab();
        QCOMPARE(m_view->columns().drawnColumns(), 1000);
        const int renders = m_view->columns().renderCount();
        for (int i = 0; i < 50; ++i) {
            key(Qt::Key_Left);
            m_view->grab();
        }
        QCOMPARE(m_view->columns().renderCount(), renders);
        m_run->tryPlan(m_run->plan({4}, {4}), "random", 30, true);
        m_run->bridge->tick();
        m_view->grab();
        QCOMPARE(m_view->columns().drawnColumns(), 1001);
        QCOMPARE(m_view->columns().renderCount(), renders + 1);
    }

    void cellsHaveTheColoursOfWhatIsSkipped() {
        search(3);
        const HistoryColumns& columns = m_view->columns();
        const auto geometry = columns.geometryOf(columns.rect());
        const QImage image = m_view->columns().grab().toImage();
        const auto colourAt = [&](int column, bool isAttention, int layer) {
            const int top = isAttention ? geometry.attentionTop : geometry.mlpTop;
            return QColor(image.pixel(qRound(geometry.scale.centre(column)),
                                      top + geometry.rowEdge(layer) + 1));
        };
        const Colours& colours = m_run->theme.colours();
        for (int column = 0; column < 4; ++column)
            for (int layer = 0; layer < 6; ++layer) {
                const engine::SkipSet& set =
                    columns.columns()[static_cast<std::size_t>(column)].skipped;
                QCOMPARE(colourAt(column, true, layer) == colours.attention,
                         std::ranges::count(set.attention, layer) > 0);
                QCOMPARE(colourAt(column, false, layer) == colours.mlp,
                         std::ranges::count(set.mlp, layer) > 0);
            }
    }

    /// On the screen and in files, also where layers outnumber the lines.
    void everyLayerOfADeepModelIsDrawn() {
        constexpr int kLayers = 200;
        std::vector<HistoryColumn> sets; // of one layer each
        for (int layer = 0; layer < kLayers; ++layer)
            sets.push_back({layer, std::nullopt, {}, {{layer}, {layer}}});
        HistoryColumns columns(m_run->theme);
        columns.resize(1200, 200);
        columns.setColumns(sets, kLayers);
        const auto geometry = columns.geometryOf(columns.rect());
        QVERIFY(geometry.rowHeight < 0.5);
        QImage figure(columns.size(), QImage::Format_RGB32);
        figure.fill(Qt::white);
        QPainter painter(&figure);
        columns.paintFigure(painter, columns.rect());
        painter.end();
        const auto isDrawn = [&](const QImage& image, int column, int top, const QColor& colour) {
            const int x = static_cast<int>(geometry.scale.centre(column));
            for (int y = top; y < top + geometry.blockHeight; ++y)
                if (image.pixelColor(x, y) == colour)
                    return true;
            return false;
        };
        const Colours& colours = m_run->theme.colours();
        for (const QImage& image : {columns.grab().toImage(), figure})
            for (int layer = 0; layer < kLayers; ++layer) {
                QVERIFY(isDrawn(image, layer, geometry.attentionTop, colours.attention));
                QVERIFY(isDrawn(image, layer, geometry.mlpTop, colours.mlp));
            }
    }

    void aHiddenHistoryIsNotRefreshed() {
        search(3);
        m_view->hide();
        const int before = m_view->refreshCount();
        m_run->tryPlan(m_run->plan({4}, {4}), "random", 30, true);
        m_run->bridge->tick();
        QCOMPARE(m_view->refreshCount(), before);
        m_view->show();
        m_run->bridge->tick();
        QCOMPARE(m_view->refreshCount(), before + 1);
    }
};

QTEST_MAIN(LayerMapHistoryTest)
#include "layer_map_history_test.moc"
