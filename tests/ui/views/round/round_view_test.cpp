// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/origin/token_mark.h"
#include "ui/shell/segmented_control.h"
#include "ui/views/round/round_view.h"

#include <QAbstractItemModelTester>
#include <QTableView>
#include <QtTest>

#include <limits>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

ShownTable poolTable(int count) {
    return {"pool",
            "Pool",
            {"key", "next", "seen"},
            {{ShownToken{5, " the"}, ShownToken{6, "\n"}, static_cast<double>(count)},
             {ShownToken{7, ""}, ShownToken()}},
            0};
}

ShownTable exitTable() {
    return {"exits",
            "Exits",
            {"layer", "tokens per layer", "threshold"},
            {{std::string("E 3"), 0.12345, std::numeric_limits<double>::quiet_NaN()}},
            -1};
}

StepFinished stepWith(std::uint64_t prompt, int step, std::vector<ShownTable> tables) {
    StepFinished made = draftStep(prompt, step, {"a"}, 1, "b");
    made.tables = std::move(tables);
    return made;
}

DecoderInfo decoderCalled(const char* title) {
    DecoderInfo info;
    info.name = info.title = title;
    return info;
}

} // namespace

class RoundViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<RoundView> m_view;

    QTableView& tableView() const { return *m_view->findChild<QTableView*>(); }

    QString cell(int row, int column) const {
        const RoundTableModel& model = m_view->model();
        return model.data(model.index(row, column)).toString();
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_view = std::make_unique<RoundView>(m_stage->context());
        m_view->resize(346, 250);
        m_view->show();
        m_stage->tell(DecoderChosen{decoderCalled("Window"), {}});
        m_stage->tell(promptStarted(1));
    }

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void cellsAreShownByWhatTheyAre() {
        m_stage->tell(stepWith(1, 4, {poolTable(3)}));
        QCOMPARE(m_view->subtitle(), QStringLiteral("Pool, decode step 5"));
        QVERIFY(!m_view->tabs().isVisible()); // one table needs no choice
        QCOMPARE(cell(0, 0), visibleTokenText(" the"));
        QCOMPARE(cell(0, 1), visibleTokenText("\n"));
        QCOMPARE(cell(0, 2), QStringLiteral("3"));
        QCOMPARE(cell(1, 0), QStringLiteral("#7")); // a model without a tokenizer
        QCOMPARE(cell(1, 1), QString());
        QCOMPARE(cell(1, 2), QString()); // the row is shorter than the heading
        m_stage->tell(stepWith(1, 5, {exitTable()}));
        QCOMPARE(cell(0, 0), QStringLiteral("E 3"));
        QCOMPARE(cell(0, 1), QStringLiteral("0.123"));
        QCOMPARE(cell(0, 2), QStringLiteral("–")); // not known
        const FigureTable figure = m_view->table();
        QCOMPARE(figure.header, (QStringList{"layer", "tokens per layer", "threshold"}));
        QCOMPARE(figure.rows, (std::vector<QStringList>{{"E 3", "0.12345", ""}}));
    }

    void theRowThatWasActedUponIsMarkedInWordsToo() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        const RoundTableModel& model = m_view->model();
        QVERIFY(model.data(model.index(0, 0), Qt::BackgroundRole).isValid());
        QVERIFY(!model.data(model.index(1, 0), Qt::BackgroundRole).isValid());
        QVERIFY(model.data(model.index(0, 2), Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("seen: 3, acted upon")));
        QCOMPARE(m_view->table().header.last(), QStringLiteral("acted upon"));
        QCOMPARE(m_view->table().rows[0].last(), QStringLiteral("yes"));
        QCOMPARE(m_view->table().rows[1].last(), QString());
    }

    void severalTablesAreTabsAndTheChoiceStays() {
        m_stage->tell(stepWith(1, 0, {poolTable(3), exitTable()}));
        SegmentedControl& tabs = m_view->tabs();
        QVERIFY(tabs.isVisible());
        QCOMPARE(tabs.count(), 2);
        QCOMPARE(tabs.segment(1)->text(), QStringLiteral("Exits"));
        tabs.segment(0)->setFocus();
        QTest::keyClick(tabs.segment(0), Qt::Key_Right); // by the keyboard
        QCOMPARE(cell(0, 0), QStringLiteral("E 3"));
        m_stage->tell(stepWith(1, 1, {poolTable(4), exitTable()}));
        QCOMPARE(tabs.currentIndex(), 1);
        QCOMPARE(cell(0, 0), QStringLiteral("E 3"));
        m_stage->tell(stepWith(1, 2, {poolTable(5)})); // without it, what there is
        QCOMPARE(cell(0, 2), QStringLiteral("5"));
        m_stage->tell(stepWith(1, 3, {poolTable(6), exitTable()}));
        QCOMPARE(cell(0, 0), QStringLiteral("E 3"));
    }

    void theRoundOfAChosenTokenIsShown() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        m_stage->tell(stepWith(1, 1, {poolTable(4)}));
        QCOMPARE(cell(0, 2), QStringLiteral("4"));
        m_stage->selection.setToken(Selection::Token{1, 0});
        m_stage->bridge.markChanged(Topic::Selection);
        m_stage->bridge.tick();
        QCOMPARE(cell(0, 2), QStringLiteral("3"));
    }

    void ofADecoderWithoutTablesTheFiguresAreShown() {
        QVERIFY(m_view->note().contains(QStringLiteral("first answer")));
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        QCOMPARE(m_view->note(), QString());
        m_stage->tell(promptFinished(1));
        m_stage->tell(DecoderChosen{decoderCalled("Plain & <b>"), {}});
        m_stage->tell(promptStarted(2));
        m_stage->tell(plainStep(2, 0, "p", 1.0));
        QCOMPARE(m_view->subtitle(), QStringLiteral("Figures, decode step 1"));
        QVERIFY(tableView().isVisible());
        QCOMPARE(cell(0, 0), QStringLiteral("tokens made"));
        QCOMPARE(cell(0, 1), QStringLiteral("1"));
        QCOMPARE(cell(1, 1), QStringLiteral("0")); // drafted
    }

    void anEmptyPanelIsReachedByTheKeyboard() {
        m_view->activateWindow();
        QCOMPARE(m_view->focusPolicy(), Qt::TabFocus);
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        QCOMPARE(m_view->focusPolicy(), Qt::NoFocus); // the table is a stop of its own
        QVERIFY(tableView().focusPolicy() & Qt::TabFocus);
        QCOMPARE(namelessWidgets(*m_view).join(QLatin1Char('\n')), QString());
    }

    void theModelKeepsItsPromises() {
        auto* model = m_view->findChild<RoundTableModel*>();
        const QAbstractItemModelTester tester(model);
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        tableView().selectRow(1);
        m_stage->tell(stepWith(1, 1, {poolTable(4)})); // the same shape
        QCOMPARE(tableView().selectionModel()->selectedRows().size(), 1);
        m_stage->tell(stepWith(1, 2, {exitTable()}));
        m_stage->tell(plainStep(1, 3, "p", 1.0));
        QCOMPARE(model->rowCount(), 1); // the newest round that showed something
    }

    void damagedRecordingsDoNoHarm() {
        ShownTable odd = poolTable(1);
        odd.chosenRow = 77;
        odd.columns = {"one"};
        m_stage->tell(stepWith(1, 0, {odd, ShownTable()}));
        QCOMPARE(m_view->model().columnCount(), 1);
        m_view->table();
        m_view->tabs().segment(1)->click();
        QCOMPARE(m_view->model().rowCount(), 0);
    }
};

QTEST_MAIN(RoundViewTest)
#include "round_view_test.moc"
