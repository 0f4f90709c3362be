// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/views/layer_map/grid/grid_geometry.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/grid/layer_legend.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QAbstractItemModelTester>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace support;
using namespace ui;

/// The column of a layer beside the model, which the layer map has while a draft adapter drafts.
class DraftLayerTest : public QObject {
    Q_OBJECT

    static constexpr int kLayers = 6;

    std::unique_ptr<LayerMapRun> m_run;
    std::unique_ptr<LayerMapView> m_view;
    std::uint64_t m_prompts = 0;

    /// A round of each of these drafters; the answer goes on.
    void answerBy(const std::vector<std::string>& drafters) {
        engine::PromptStarted started;
        started.promptId = ++m_prompts;
        m_run->engine->say(started);
        int number = 0;
        for (const std::string& drafter : drafters) {
            engine::StepFinished step;
            step.promptId = m_prompts;
            step.step = number++;
            step.drafter = drafter;
            m_run->engine->say(step);
        }
        m_run->bridge->tick();
    }

    void finishAnswer() {
        engine::PromptFinished finished;
        finished.promptId = m_prompts;
        m_run->engine->say(finished);
        m_run->bridge->tick();
    }

    void beginWithAPlan() {
        m_run->begin();
        m_run->install(m_run->plan({1, 3}, {2}), "start");
        m_run->bridge->tick();
    }

    Cell draftCell() const { return {Sublayer::Attention, kLayers}; }

    static QImage pictureOf(LayerMapView& view) {
        QImage image(700, 150, QImage::Format_RGB32);
        QPainter painter(&image);
        view.drawFigure(painter, image.size());
        painter.end();
        return image;
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(kLayers);
        m_view = std::make_unique<LayerMapView>(m_run->context());
        m_view->resize(700, 150);
        m_view->show();
        m_prompts = 0;
    }

    void cleanup() {
        m_view.reset();
        m_run.reset();
    }

    void itIsThereWhileADraftAdapterDrafts() {
        beginWithAPlan();
        const QAbstractItemModelTester tester(&m_view->model());
        QCOMPARE(m_view->model().columnCount(), kLayers);
        const QImage without = pictureOf(*m_view);
        answerBy({"none", "free"});
        QCOMPARE(m_view->model().columnCount(), kLayers);
        finishAnswer();
        answerBy({"none", "tuned"});
        QCOMPARE(m_view->model().columnCount(), kLayers + 1);
        QCOMPARE(m_view->model().headerData(kLayers, Qt::Horizontal, Qt::DisplayRole).toString(),
                 QStringLiteral("draft layer"));
        QCOMPARE(m_view->model().headerData(kLayers - 1, Qt::Horizontal, Qt::DisplayRole).toInt(),
                 kLayers - 1);
        QVERIFY(pictureOf(*m_view) != without);
        QCOMPARE(m_view->model().state().skipped, m_run->plan({1, 3}, {2}).skipped);
    }

    void itDoesNotComeAndGoWithEachAnswer() {
        beginWithAPlan();
        answerBy({"tuned"});
        finishAnswer();
        answerBy({"none"}); // nothing was drafted yet
        QCOMPARE(m_view->model().columnCount(), kLayers + 1);
        finishAnswer(); // nothing was, by another decoder
        QCOMPARE(m_view->model().columnCount(), kLayers);
    }

    void itIsSaidInWordsAndInTheTable() {
        beginWithAPlan();
        answerBy({"tuned", "none", "tuned"});
        LayerMapModel& model = m_view->model();
        QCOMPARE(model.data(model.indexOf(draftCell()), Qt::AccessibleTextRole).toString(),
                 QStringLiteral("Draft layer beside the model, attention, drafts"));
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), std::size_t(2 * kLayers + 2));
        const QStringList& row = table.rows.back();
        QCOMPARE(row.size(), table.header.size());
        QCOMPARE(row.first(3), QStringList({"draft layer", "MLP", "drafts"}));
    }

    void aClickTellsWhatItDid() {
        beginWithAPlan();
        answerBy({"tuned", "none", "tuned"});
        QTableView& table = m_view->grid().table();
        const QPoint middle = table.visualRect(m_view->model().indexOf(draftCell())).center();
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, middle);
        QCOMPARE(m_view->notice(),
                 QStringLiteral("Draft layer, attention \u00B7 Rounds of the newest answer that it "
                                "drafted: 2 of 3 \u00B7 Return unpins it"));
        answerBy({"tuned"});
        QVERIFY2(m_view->notice().contains(QStringLiteral("1 of 1")), qPrintable(m_view->notice()));
    }

    void itCannotBeSkipped() {
        beginWithAPlan();
        answerBy({"tuned"});
        const std::size_t sent = m_run->engine->sent.size();
        QTableView& table = m_view->grid().table();
        table.setCurrentIndex(m_view->model().indexOf(draftCell()));
        QTest::keyClick(&table, Qt::Key_Space);
        QVERIFY2(m_view->notice().startsWith(QStringLiteral("The draft layer is none of the")),
                 qPrintable(m_view->notice()));
        QCOMPARE(m_run->engine->sent.size(), sent);
    }

    /// Auto drafts in other ways, too, and one that costs no pass would make each sublayer dear.
    void timeSavedIsNotToldWhereNotAllDraftsSkip() {
        for (const bool allSkip : {true, false}) {
            LayerMapRun run(kLayers);
            run.begin();
            engine::DecoderInfo info = searchingDecoderInfo();
            info.hasDraftRatio = allSkip;
            run.engine->say(engine::DecoderChosen{info, searchingSettings()});
            run.install(run.plan({1, 3}, {2}), "start");
            run.engine->say(promptStarted(1));
            for (int step = 0; step < 2; ++step)
                run.engine->say(plainStep(1, step, "a", 20.0));
            engine::DecodeMetrics total;
            total.rounds = 1;
            total.tokens = 3;
            total.accepted = total.draftSteps = 2;
            total.draftMs = 28.0;
            total.verifyMs = 20.0;
            run.engine->say(statistics(total));
            run.bridge->tick();
            QCOMPARE(savedMsPerSublayer(run.store).has_value(), allSkip);
        }
    }

    void theKeyboardStaysWhereItWas() {
        beginWithAPlan();
        QTableView& table = m_view->grid().table();
        table.setCurrentIndex(m_view->model().index(1, 2));
        answerBy({"tuned"});
        QCOMPARE(m_view->model().columnCount(), kLayers + 1);
        QCOMPARE(table.currentIndex(), m_view->model().index(1, 2));
    }

    void withoutASkipSetItIsSaid() {
        m_run->begin();
        answerBy({"tuned"});
        const auto labels = m_view->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
            return label->text().startsWith(QStringLiteral("A draft adapter drafts: its layer"));
        }));
        QCOMPARE(m_view->table().rows.size(), std::size_t(2));
    }

    void itStandsBehindTheLayersAtAnyWidth_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("layers");
        QTest::newRow("wide") << 900 << 6;
        QTest::newRow("usual") << 700 << 30;
        QTest::newRow("narrow") << 260 << 30;
        QTest::newRow("many layers") << 260 << 126;
    }

    void itStandsBehindTheLayersAtAnyWidth() {
        QFETCH(const int, width);
        QFETCH(const int, layers);
        const Theme& theme = m_run->theme;
        const GridGeometry grid = GridGeometry::make(theme, QRect(0, 0, width, 120), layers, true);
        QCOMPARE(grid.layerCount(), layers);
        QCOMPARE(grid.columnCount(), layers + 1);
        QVERIFY(std::ranges::is_sorted(grid.edges));
        const QRect beside = grid.cell({Sublayer::Attention, layers});
        QVERIFY(beside.width() > draftLayerGap(theme) + 5);
        QVERIFY2(beside.right() < width, qPrintable(QString::number(beside.right())));
        const auto numbers = shownLayerNumbers(grid, 10, layers);
        QVERIFY(std::ranges::all_of(numbers, [&](int number) { return number < layers; }));
    }
};

QTEST_MAIN(DraftLayerTest)
#include "draft_layer_test.moc"
