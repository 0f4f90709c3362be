// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/view_stage.h"
#include "ui/origin/origin_legend.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/text/message_body.h"
#include "ui/views/experiments/page/shard_grid.h"
#include "ui/views/experiments/report/figure_view.h"
#include "ui/views/experiments/report/origins_view.h"
#include "ui/views/experiments/report/report_page.h"
#include "ui/views/experiments/report/result_section.h"
#include "ui/views/experiments/report/result_table_model.h"
#include "ui/views/experiments/report/verdict_band.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLayout>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <memory>
#include <set>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

ResultTable decoderTable() {
    ResultTable table;
    table.id = "main";
    table.title = "Speed of each decoder";
    table.columns = {"Decoder", "Speedup"};
    table.rows = {{{"Vanilla"}, {"1.00×", Estimate{1.0}}},
                  {{"SWIFT"}, {"0.83×", Estimate{0.83, 0.81, 0.85, 60}}}};
    table.note = "Three tasks.";
    return table;
}

ResultFigure speedFigure() {
    ResultFigure figure;
    figure.id = "speed";
    figure.title = "Speed";
    figure.kind = FigureKind::Dots;
    figure.x.title = "speedup";
    figure.x.reference = 1.0;
    figure.y.names = {"SWIFT"};
    figure.overlayLabel = "paper, LLaMA-2-13B";
    FigureSeries ours;
    ours.name = "here";
    ours.points = {{0.0, Estimate{0.83, 0.81, 0.85, 60}}};
    FigureSeries paper;
    paper.name = "paper";
    paper.isPaper = true;
    paper.points = {{0.0, Estimate{1.4}}};
    figure.panels = {{"Story", {ours, paper}}};
    return figure;
}

/// The same with a paper's value of no single place.
ResultFigure levelFigure(FigureKind kind) {
    ResultFigure figure = speedFigure();
    figure.kind = kind;
    if (kind == FigureKind::Stack)
        figure.x.names = {"Story"};
    FigureSeries& ours = figure.panels[0].series[0];
    if (kind == FigureKind::Lines)
        ours.points.push_back({1.0, Estimate{0.9}});
    FigureSeries& paper = figure.panels[0].series[1];
    paper.name = ours.name;
    paper.points[0].until = ours.points.back().x;
    return figure;
}

RunPicturePtr pictureOf(const ExperimentResult& result) {
    auto picture = std::make_shared<RunPicture>();
    picture->folder = QStringLiteral("/nowhere");
    picture->facts = std::make_shared<RunFacts>();
    picture->result = std::make_shared<ExperimentResult>(result);
    return picture;
}

ExperimentResult someResult() {
    ExperimentResult result;
    result.title = "Main comparison";
    result.verdict = {VerdictKind::NoGain,
                      "SWIFT does not gain here: 0.83×.",
                      "A draft pass costs .93 of a plain step & <more>."};
    result.tables = {decoderTable()};
    result.figures = {speedFigure()};
    result.measured = {{"Order", "vanilla, A, A, vanilla"}};
    result.notes = {"One prompt was left out."};
    return result;
}

/// Which pixels within the first cell are not of its ground: what is seen of it without colours.
QByteArray signIn(const ShardGrid& grid, const Theme& theme) {
    const int side = theme.scaled(22) - 4;
    const QImage cell = grid.layout()->itemAt(0)->widget()->grab(QRect(2, 2, side, side)).toImage();
    QByteArray sign;
    for (int y = 0; y < cell.height(); ++y)
        for (int x = 0; x < cell.width(); ++x)
            sign.append(cell.pixel(x, y) == cell.pixel(0, 0) ? ' ' : '#');
    return sign;
}

} // namespace

/// A result on the screen.
class ReportPageTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<MessageBar> m_messages;
    std::unique_ptr<ViewMenu> m_menu;
    std::unique_ptr<ReportPage> m_page;

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_messages = std::make_unique<MessageBar>(m_stage->theme);
        m_menu = std::make_unique<ViewMenu>(m_stage->theme, *m_messages, nullptr);
        m_page = std::make_unique<ReportPage>(m_stage->context(), *m_menu);
        m_page->resize(900, 700);
        m_page->show();
    }

    void cleanup() {
        m_page.reset();
        m_menu.reset();
        m_messages.reset();
        m_stage.reset();
    }

    void partsThatAreNotToldInWordsAreCounted() {
        ShardGrid grid(m_stage->context());
        std::vector<ShardState> shards(4);
        for (ShardState& shard : shards)
            shard.problem = "It was killed";
        grid.setShards(shards);
        QVERIFY(grid.words().endsWith(QStringLiteral(", and 1 more part like these")));
        shards.push_back(shards.back());
        grid.setShards(shards);
        QVERIFY(grid.words().endsWith(QStringLiteral(", and 2 more parts like these")));
    }

    void aFailedPartIsCountedInWordsAndInTheTable() {
        ShardGrid grid(m_stage->context());
        grid.setShards({{0, ShardPhase::Finished, {}},
                        {1, ShardPhase::Failed, "There is no layer 99."},
                        {2, ShardPhase::Waiting, {}}});
        QCOMPARE(grid.words(),
                 QStringLiteral("3 parts: 1 done, 0 running, 1 waiting, 1 failed. Part 2: There is "
                                "no layer 99"));
        QCOMPARE(grid.accessibleDescription(), grid.words());
        const FigureTable table = grid.table();
        QCOMPARE(table.rows.size(), std::size_t{3});
        QCOMPARE(table.rows[1],
                 QStringList({QStringLiteral("2"),
                              QStringLiteral("failed"),
                              QStringLiteral("There is no layer 99.")}));
    }

    void everyPhaseOfAPartHasASignOfItsOwn() {
        ShardGrid grid(m_stage->context());
        grid.resize(300, 120);
        grid.show();
        std::set<QByteArray> signs;
        for (const ShardPhase phase : {ShardPhase::Waiting,
                                       ShardPhase::Running,
                                       ShardPhase::Finished,
                                       ShardPhase::Damaged,
                                       ShardPhase::Failed}) {
            grid.setShards({ShardState{.phase = phase}});
            m_stage->settle();
            signs.insert(signIn(grid, m_stage->theme));
        }
        QCOMPARE(signs.size(), std::size_t{5});
    }

    void aResultHasItsVerdictItsFiguresAndItsTables() {
        m_page->setPicture(pictureOf(someResult()));
        QVERIFY(m_page->verdict().isVisible());
        QCOMPARE(m_page->verdict().text(),
                 QStringLiteral("SWIFT does not gain here: 0.83×. A draft pass costs .93 of a "
                                "plain step & <more>."));
        QCOMPARE(m_page->figures().size(), std::size_t{1});
        QCOMPARE(m_page->tables().size(), std::size_t{1});
        QVERIFY(!m_page->figures()[0]->drawing().marks.empty());
        const FigureTable twin = m_page->figures()[0]->table();
        QVERIFY(std::ranges::any_of(twin.rows, [](const QStringList& row) {
            return row.join(u' ').contains(QStringLiteral("0.83"));
        }));
    }

    void theVerdictStandsAtTheTopOfAFinishedResult() {
        ExperimentResult result = someResult();
        result.isComplete = true;
        m_page->setPicture(pictureOf(result));
        m_stage->settle();
        QCOMPARE(m_page->verdict().mapTo(m_page->widget(), QPoint()).y(), 0);
    }

    void nothingIsCutAtTheRightOfANarrowPageWithLargeText() {
        m_stage->theme.setTextPercent(150);
        m_page->setPicture(pictureOf(someResult()));
        m_page->resize(420, 700);
        m_stage->settle();
        QVERIFY2(m_page->widget()->width() <= m_page->viewport()->width(),
                 qPrintable(QStringLiteral("%1 in %2")
                                .arg(m_page->widget()->width())
                                .arg(m_page->viewport()->width())));
    }

    void thePapersFiguresCanBeHidden() {
        ExperimentResult result = someResult();
        for (const FigureKind kind : {FigureKind::Lines, FigureKind::Stack})
            result.figures.push_back(levelFigure(kind));
        m_page->setPicture(pictureOf(result));
        const auto isPapers = [](const Mark& mark) {
            return mark.stroke == Ink::Paper || mark.fill == Ink::Paper;
        };
        std::vector<std::size_t> rows;
        for (const FigureView* figure : m_page->figures()) {
            QVERIFY(std::ranges::any_of(figure->drawing().marks, isPapers));
            rows.push_back(figure->table().rows.size());
        }
        QCOMPARE(rows.size(), std::size_t{3});
        m_page->setOverlay(false);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const FigureView& figure = *m_page->figures()[i];
            QVERIFY(std::ranges::none_of(figure.drawing().marks, isPapers));
            QCOMPARE(figure.table().rows.size(), rows[i] - 1);
        }
    }

    void theTokensOfAnAnswerShowWhereTheyComeFrom() {
        m_page->setPicture(pictureOf(someResult()));
        QVERIFY(m_page->origins() == nullptr);
        ExperimentResult result = someResult();
        result.origins = {
            {"SWIFT, prompt 1", {{"Once", 1}, {" upon", 2}, {" a", 0}, {" time", 1}}}};
        m_page->setPicture(pictureOf(result));
        const OriginsView* view = m_page->origins();
        QVERIFY(view != nullptr);
        QVERIFY(view->findChild<OriginLegend*>() != nullptr);
        const auto* body = view->findChild<MessageBody*>();
        QVERIFY(body != nullptr && body->showsOrigin());
        QCOMPARE(body->source(), QStringLiteral("Once upon a time"));
        std::vector<TokenOrigin> origins;
        for (const TokenMark& token : body->tokens())
            origins.push_back(token.origin);
        QVERIFY((origins == std::vector<TokenOrigin>{TokenOrigin::Draft,
                                                     TokenOrigin::Sibling,
                                                     TokenOrigin::Bonus,
                                                     TokenOrigin::Draft}));
        QCOMPARE(view->subtitle(),
                 QStringLiteral("4 tokens \u00B7 accepted: 2 (50 %) \u00B7 alternative: 1 (25 %) "
                                "\u00B7 own: 1 (25 %)"));
        QCOMPARE(view->table().rows.size(), std::size_t{3});
        QCOMPARE(view->table().rows[0],
                 QStringList({QStringLiteral("SWIFT, prompt 1"),
                              QStringLiteral("accepted"),
                              QStringLiteral("2"),
                              QStringLiteral("0.5")}));
        QCOMPARE(namelessWidgets(*m_page), QStringList());
        result.origins[0].tokens[1].rank = 0; // the same text, made otherwise
        m_page->setPicture(pictureOf(result));
        QCOMPARE(view->findChild<MessageBody*>(), body);
        QVERIFY(body->tokens()[1].origin == TokenOrigin::Bonus);
        m_page->setPicture(pictureOf(someResult()));
        QVERIFY(m_page->origins() == nullptr);
    }

    void ofManyAnswersTheTableHasAll() {
        ExperimentResult result = someResult();
        result.origins.resize(30, {"SWIFT", {{"a", 1}, {"b", 0}}});
        m_page->setPicture(pictureOf(result));
        const OriginsView& view = *m_page->origins();
        const auto shown = view.findChildren<MessageBody*>().size();
        QVERIFY(shown < 30);
        const QString rest =
            QStringLiteral("%1 more answers are in the saved report.").arg(30 - shown);
        QVERIFY(std::ranges::any_of(view.findChildren<QLabel*>(), [&](const QLabel* label) {
            return !label->isHidden() && label->text() == rest;
        }));
        QCOMPARE(view.table().rows.size(), std::size_t{31 * 3});
        QCOMPARE(view.table().rows.back().at(2), QStringLiteral("30"));
    }

    void aGrowingResultKeepsItsViews() {
        m_page->setPicture(pictureOf(someResult()));
        const FigureView* figure = m_page->figures()[0];
        const ResultSection* table = m_page->tables()[0];
        ExperimentResult more = someResult();
        more.verdict = {VerdictKind::Gain, "SWIFT gains 1.20×.", ""};
        more.tables[0].rows[1][1] = {"1.20×", Estimate{1.2}};
        m_page->setPicture(pictureOf(more));
        QCOMPARE(m_page->figures()[0], figure);
        QCOMPARE(m_page->tables()[0], table);
        QCOMPARE(m_page->tables()[0]->tableView().model()->index(1, 1).data().toString(),
                 QStringLiteral("1.20×"));
        QCOMPARE(m_page->verdict().text(), QStringLiteral("SWIFT gains 1.20×."));
    }

    void beforeTheFirstResultThePageSaysSo() {
        auto picture = std::make_shared<RunPicture>();
        picture->facts = std::make_shared<RunFacts>();
        picture->progress.shards = {{0, ShardPhase::Running}, {1, ShardPhase::Waiting}};
        m_page->setPicture(picture);
        QVERIFY(!m_page->verdict().isVisible());
        QVERIFY(m_page->figures().empty());
        const auto labels = m_page->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
            return label->isVisible() &&
                   label->text() == QStringLiteral("2 parts: 0 done, 1 running, 1 waiting");
        }));
    }

    void aTableIsCopiedForASpreadsheet() {
        m_page->setPicture(pictureOf(someResult()));
        QTableView& view = m_page->tables()[0]->tableView();
        QTest::keySequence(&view, QKeySequence::Copy);
        QCOMPARE(QApplication::clipboard()->text(),
                 QStringLiteral("Decoder\tSpeedup\nVanilla\t1.00×\nSWIFT\t0.83×"));
        view.selectionModel()->select(view.model()->index(1, 1), QItemSelectionModel::Select);
        QTest::keySequence(&view, QKeySequence::Copy);
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("0.83×"));
    }

    void theTableModelIsOne() {
        ResultTableModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(decoderTable());
        QCOMPARE(model.rowCount(), 2);
        QVERIFY(
            model.index(1, 1).data(Qt::ToolTipRole).toString().contains(QStringLiteral("0.81")));
        ResultTable ragged = decoderTable();
        ragged.rows.push_back({{"short"}});
        model.setTable(ragged);
        QVERIFY(!model.index(2, 1).data().isValid());
    }

    void everyControlHasAName() {
        m_page->setPicture(pictureOf(someResult()));
        QCOMPARE(namelessWidgets(*m_page), QStringList());
    }
};

QTEST_MAIN(ReportPageTest)
#include "report_page_test.moc"
