// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/views/experiments/report/matrices/task_matrices.h"
#include "ui/views/experiments/report/report_page.h"
#include "ui/views/skip_sets/compare/comparison_pane.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <initializer_list>
#include <memory>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

const MatrixCell kMathOnCode{"Math", "Code"};

ResultFigure matrixOf(const std::string& id, std::vector<std::vector<Estimate>> cells) {
    ResultFigure figure;
    figure.id = id;
    figure.title = "Matrix of " + id;
    figure.kind = FigureKind::Matrix;
    figure.x.names = {"Math", "Code"};
    figure.y.names = {"Math", "Code"};
    figure.panels = {{"", {}, std::move(cells)}};
    return figure;
}

/// What a run of the recipe task_sets shows; a speedup is missing.
ExperimentResult taskSetsResult() {
    ExperimentResult result;
    result.figures = {
        matrixOf("speedup",
                 {{{1.2, 1.1, 1.3, 9}, {1.08, 1.02, 1.13, 9}}, {Estimate{}, {1.3, 1.2, 1.4, 9}}}),
        matrixOf("acceptance",
                 {{{0.9, {}, {}, 9}, {0.81, {}, {}, 9}}, {{0.7, {}, {}, 9}, {0.8, {}, {}, 9}}}),
        matrixOf("overlap",
                 {{{1.0, {}, {}, 1}, {0.64, {}, {}, 1}}, {{0.64, {}, {}, 1}, {1.0, {}, {}, 1}}})};
    result.figures[0].y.reference = 1.0;
    ResultFigure grids;
    grids.id = "grids";
    grids.title = "Skipped sublayers";
    grids.kind = FigureKind::LayerGrids;
    const Estimate kept{0.0, {}, {}, 1};
    const Estimate skipped{1.0, {}, {}, 1};
    grids.panels = {{"Math", {}, {{kept, skipped, skipped}, {kept, kept, kept}}},
                    {"Code", {}, {{kept, skipped, kept}, {kept, kept, skipped}}}};
    result.figures.push_back(std::move(grids));
    return result;
}

RunPicturePtr taskSetsPicture(const ExperimentResult& result) {
    auto facts = std::make_shared<RunFacts>();
    for (const auto& [id, measure] : std::initializer_list<std::pair<const char*, const char*>>{
             {"speedup", "speedup"}, {"acceptance", "acceptance"}, {"overlap", "jaccard"}})
        facts->recipe.figures.push_back({id, {}, "matrix", "set", {measure}});
    auto picture = std::make_shared<RunPicture>();
    picture->folder = QStringLiteral("/nowhere");
    picture->facts = std::move(facts);
    picture->result = std::make_shared<ExperimentResult>(result);
    return picture;
}

} // namespace

/// Every task's set on every task, on the screen.
class TaskMatricesTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<MessageBar> m_messages;
    std::unique_ptr<ViewMenu> m_menu;
    std::unique_ptr<ReportPage> m_page;

    FigureView& figure(std::size_t place) { return *m_page->figures()[place]; }

    QPoint placeOf(std::size_t place) { return figure(place).mapTo(m_page->widget(), QPoint()); }

    QString sentence() { return m_page->matrices()->sentence(); }

    void click(std::size_t place, const MatrixCell& cell) {
        const QPoint middle = figure(place).cellRect(cell).center().toPoint();
        QTest::mouseClick(&figure(place), Qt::LeftButton, {}, middle);
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_messages = std::make_unique<MessageBar>(m_stage->theme);
        m_menu = std::make_unique<ViewMenu>(m_stage->theme, *m_messages, nullptr);
        m_page = std::make_unique<ReportPage>(m_stage->context(), *m_menu);
        m_page->resize(1000, 700);
        m_page->setPicture(taskSetsPicture(taskSetsResult()));
        m_page->show();
        m_stage->settle();
    }

    void cleanup() {
        m_page.reset();
        m_menu.reset();
        m_messages.reset();
        m_stage.reset();
    }

    void matricesStandSideBySideWhereThereIsRoom() {
        QTRY_VERIFY(placeOf(1).x() > placeOf(0).x() && placeOf(2).x() > placeOf(1).x());
        QCOMPARE(placeOf(1).y(), placeOf(0).y());
        QCOMPARE(placeOf(2).y(), placeOf(0).y());
        QVERIFY(placeOf(3).y() > placeOf(0).y());
        m_page->resize(400, 700);
        QTRY_VERIFY(placeOf(1).y() > placeOf(0).y() && placeOf(2).y() > placeOf(1).y());
        QTRY_COMPARE(m_page->widget()->width(), m_page->viewport()->width());
        QCOMPARE(placeOf(1).x(), placeOf(0).x());
    }

    void aClickChoosesTheCellInAllMatricesAndSaysWhatItMeans() {
        const QImage before = figure(2).grab().toImage();
        click(0, kMathOnCode);
        for (std::size_t i = 0; i < 3; ++i)
            QVERIFY(figure(i).cell() == kMathOnCode);
        QCOMPARE(sentence(),
                 QStringLiteral("The set of Math on Code: 1.08 times vanilla (1.02 to 1.13), "
                                "acceptance .81; of the sublayers that it or the own set of Code "
                                "skips, both skip 64 %."));
        QCOMPARE(figure(0).accessibleDescription(), sentence());
        QVERIFY(figure(2).grab().toImage() != before);
        QCOMPARE(namelessWidgets(*m_page), QStringList());
    }

    void arrowsMoveTheChosenCellAndStayInTheMatrix() {
        QTest::keyClick(&figure(1), Qt::Key_Down);
        QVERIFY(figure(1).cell() == (MatrixCell{"Math", "Math"}));
        QCOMPARE(sentence(),
                 QStringLiteral(
                     "The own set of Math: 1.20 times vanilla (1.10 to 1.30), acceptance .90."));
        for (int i = 0; i < 2; ++i)
            QTest::keyClick(&figure(1), Qt::Key_Down);
        QVERIFY(figure(0).cell() == (MatrixCell{"Code", "Math"}));
        QVERIFY(sentence().startsWith(
            QStringLiteral("The set of Code on Math: no speedup, acceptance .70; ")));
        QTest::keyClick(&figure(1), Qt::Key_Right);
        QTest::keyClick(&figure(1), Qt::Key_Up);
        QVERIFY(figure(0).cell() == kMathOnCode);
    }

    void enterComparesTheTwoSetsOfTheCell() {
        ComparisonPane& pane = m_page->matrices()->comparisonPane();
        click(0, {"Math", "Math"});
        QTest::keyClick(&figure(0), Qt::Key_Return);
        QVERIFY(!m_page->matrices()->compareButton().isEnabled());
        QVERIFY(pane.isHidden());
        click(0, kMathOnCode);
        QTest::keyClick(&figure(0), Qt::Key_Return);
        QVERIFY(!pane.isHidden());
        QVERIFY(pane.comparison().has_value());
        QCOMPARE(pane.comparison()->layerCount, 3);
        QCOMPARE(pane.comparison()->a.title, QStringLiteral("Math"));
        QVERIFY((pane.comparison()->a.set == SkipSet{{1, 2}, {}}));
        QVERIFY((pane.comparison()->b.set == SkipSet{{1}, {2}}));
        QSignalSpy asked(m_page.get(), &ReportPage::runAsked);
        emit pane.runAsked();
        QCOMPARE(asked.size(), 1);
        QCOMPARE(namelessWidgets(*m_page), QStringList());
        emit pane.closed();
        QVERIFY(pane.isHidden());
    }

    void theChosenCellStaysWhileTheResultGrows() {
        click(0, kMathOnCode);
        ExperimentResult more = taskSetsResult();
        more.figures[0].panels[0].cells[0][1] = {1.5, {}, {}, 12};
        m_page->setPicture(taskSetsPicture(more));
        QVERIFY(figure(0).cell() == kMathOnCode);
        QVERIFY(sentence().startsWith(
            QStringLiteral("The set of Math on Code: 1.50 times vanilla, acceptance .81; ")));
    }

    void inAMatrixOfOtherThingsNothingIsChosen() {
        ExperimentResult result = taskSetsResult();
        result.figures.resize(1);
        result.figures[0].y.names = {"exit 3", "exit 6"};
        m_page->setPicture(taskSetsPicture(result));
        QVERIFY(m_page->matrices() == nullptr);
        QCOMPARE(figure(0).focusPolicy(), Qt::TabFocus);
        QTest::keyClick(&figure(0), Qt::Key_Down);
        QVERIFY(!figure(0).cell());
    }
};

QTEST_MAIN(TaskMatricesTest)
#include "task_matrices_test.moc"
