// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/origin/token_mark.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/round/round_view.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <cmath>
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

    void theTipOfACellIsItsTextAsItIs() {
        ShownTable table = poolTable(3);
        table.rows[0][1] = ShownToken{6, "<b>\"&"};
        m_stage->tell(stepWith(1, 0, {table}));
        const RoundTableModel& model = m_view->model();
        QCOMPARE(cell(0, 1), QStringLiteral("<b>\"&"));
        QCOMPARE(shownTip(model.data(model.index(0, 1), Qt::ToolTipRole).toString()), cell(0, 1));
    }

    void theRowThatWasActedUponIsMarkedInWordsToo() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        const RoundTableModel& model = m_view->model();
        QVERIFY(model.isChosen(0) && !model.isChosen(1));
        QVERIFY(model.data(model.index(0, 2), Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("seen: 3, used")));
        QCOMPARE(m_view->table().header.last(), QStringLiteral("used"));
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

    void aFrozenViewShowsTheOtherTableOfItsRound() {
        m_stage->tell(stepWith(1, 0, {poolTable(3), exitTable()}));
        m_view->tabs().segment(1)->click();
        m_view->setFrozen(true);
        m_stage->tell(stepWith(1, 1, {poolTable(4), exitTable()}));
        m_view->tabs().segment(0)->click();
        QCOMPARE(cell(0, 2), QStringLiteral("3"));
        m_view->setFrozen(false);
        m_stage->settle();
        QCOMPARE(cell(0, 2), QStringLiteral("4"));
    }

    void theRoundOfAChosenTokenIsShown() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        m_stage->tell(stepWith(1, 1, {poolTable(4)}));
        QCOMPARE(cell(0, 2), QStringLiteral("4"));
        const auto choose = [this](const Selection::Token& token) {
            m_stage->selection.setToken(token);
            m_stage->bridge.markChanged(Topic::Selection);
            m_stage->bridge.tick();
        };
        choose({1, 0});
        QCOMPARE(cell(0, 2), QStringLiteral("3"));
        QCOMPARE(m_view->subtitle(), QStringLiteral("Pool, decode step 1"));
        choose({1, 0, 50}); // the answer was continued behind its 50th step
        QCOMPARE(m_view->subtitle(), QStringLiteral("Pool, decode step 51"));
        choose({7, 0}); // no other answer's round
        QCOMPARE(m_view->note(), QStringLiteral("The round of this token cannot be shown."));
        QCOMPARE(m_view->subtitle(), QString());
        QVERIFY(!tableView().isVisible());
    }

    /// Nor does it jump to the rounds of a search, which asks out of sight.
    void aContinuedAnswerCountsItsRoundsOn() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        m_stage->tell(promptFinished(1));
        PromptStarted goesOn = promptStarted(2);
        goesOn.continuesLast = true;
        goesOn.firstStep = 1;
        m_stage->tell(goesOn);
        m_stage->tell(stepWith(2, 0, {poolTable(4)}));
        QCOMPARE(m_view->subtitle(), QStringLiteral("Pool, decode step 2"));
        m_stage->tell(promptFinished(2));
        m_stage->tell(promptStarted(kFirstHiddenPrompt + 1));
        m_stage->tell(stepWith(kFirstHiddenPrompt + 1, 0, {poolTable(5)}));
        QCOMPARE(m_view->subtitle(), QStringLiteral("Pool, decode step 2"));
        QCOMPARE(cell(0, 2), QStringLiteral("4"));
    }

    void ofADecoderWithoutTablesTheFiguresAreShown() {
        QVERIFY(m_view->note().contains(QStringLiteral("first answer")));
        QCoreApplication::processEvents();
        const auto labels = m_view->findChildren<QLabel*>();
        const auto note = std::ranges::find(labels, m_view->note(), &QLabel::text);
        QVERIFY(note != labels.end() && (*note)->y() < m_view->height() / 4); // at the top
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        QCOMPARE(m_view->note(), QString());
        m_stage->tell(promptFinished(1));
        m_stage->tell(DecoderChosen{decoderCalled("Plain & <b>"), {}});
        m_stage->tell(promptStarted(2));
        m_stage->tell(plainStep(2, 0, "p", 1.0));
        QCOMPARE(m_view->subtitle(), QStringLiteral("Figures, decode step 1"));
        QVERIFY(tableView().isVisible());
        QCOMPARE(cell(0, 0), QStringLiteral("tokens written"));
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

    void onlyWhatChangedIsTold() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        const auto* model = m_view->findChild<RoundTableModel*>();
        const QSignalSpy resets(model, &QAbstractItemModel::modelReset);
        const QSignalSpy changes(model, &QAbstractItemModel::dataChanged);
        const QSignalSpy inserts(model, &QAbstractItemModel::rowsInserted);
        const QSignalSpy removals(model, &QAbstractItemModel::rowsRemoved);
        m_stage->tell(stepWith(1, 1, {poolTable(3)}));
        QCOMPARE(changes.size(), 0);
        ShownTable table = poolTable(3);
        table.rows[1][0] = ShownToken{8, " of"};
        m_stage->tell(stepWith(1, 2, {table}));
        QCOMPARE(changes.size(), 1);
        QCOMPARE(changes[0][0].toModelIndex().row(), 1);
        table.rows.push_back({ShownToken{9, " it"}});
        m_stage->tell(stepWith(1, 3, {table}));
        QCOMPARE(inserts.size(), 1);
        QCOMPARE(cell(2, 0), visibleTokenText(" it"));
        table.chosenRow = 2; // both rows look another way
        m_stage->tell(stepWith(1, 4, {table}));
        QCOMPARE(changes.size(), 2);
        QCOMPARE(changes[1][0].toModelIndex().row(), 0);
        QCOMPARE(changes[1][1].toModelIndex().row(), 2);
        table.rows.clear();
        m_stage->tell(stepWith(1, 5, {table}));
        QCOMPARE(removals.size(), 1);
        QCOMPARE(model->rowCount(), 0);
        QCOMPARE(resets.size(), 0);
    }

    /// A heading and the words below it begin at the same pixel, numbers end there.
    void headingsStandAboveTheirColumns_data() {
        QTest::addColumn<int>("percent");
        QTest::newRow("usual text") << 100;
        QTest::newRow("large text") << 170;
    }

    void headingsStandAboveTheirColumns() {
        QFETCH(int, percent);
        m_stage->theme.applyTo(*qApp);
        m_stage->theme.setTextPercent(percent);
        m_view->resize(700, 250);
        ShownTable table{"t", "T", {"HHH", "HHH", "HHH"}, {}, -1};
        table.rows.push_back({std::string("HHH"), std::string("HHH"), 777.0});
        m_stage->tell(stepWith(1, 0, {table}));
        m_stage->settle();
        QTableView& view = tableView();
        QVERIFY(!view.verticalHeader()->isVisible());
        const QImage header = view.horizontalHeader()->viewport()->grab().toImage();
        const QImage cells = view.viewport()->grab().toImage();
        for (int column = 0; column < 3; ++column) {
            const int left = view.columnViewportPosition(column);
            const int width = view.columnWidth(column);
            const auto inked = [&](const QImage& image, const QRect& place) {
                const QRgb ground = image.pixel(place.topLeft() + QPoint(1, 3));
                QRect ink;
                for (int y = place.top() + 3; y < place.bottom() - 2; ++y)
                    for (int x = place.left(); x < place.right(); ++x)
                        if (std::abs(qGray(image.pixel(x, y)) - qGray(ground)) > 60)
                            ink |= QRect(x, y, 1, 1);
                return ink;
            };
            const QRect above = inked(header, QRect(left, 0, width, header.height()));
            const QRect below = inked(cells, QRect(left, 0, width, view.rowHeight(0)));
            QVERIFY(!above.isEmpty() && !below.isEmpty());
            const int apart =
                column == 2 ? above.right() - below.right() : above.left() - below.left();
            QVERIFY2(std::abs(apart) <= 2, qPrintable(QString::number(apart)));
        }
    }

    void whereThereIsRoomAllTablesStandSideBySide() {
        m_stage->tell(stepWith(1, 4, {poolTable(3), exitTable()}));
        const auto shown = [this] {
            return std::ranges::count_if(m_view->panes(), &RoundPane::isVisible);
        };
        QCOMPARE(shown(), 1);
        m_view->resize(1000, 300);
        QCoreApplication::processEvents();
        QCOMPARE(shown(), 3);
        QVERIFY(!m_view->tabs().isVisible());
        const RoundTableModel& figures = m_view->panes().back()->model();
        QCOMPARE(figures.shown().title, std::string("Figures"));
        QCOMPARE(figures.text(1, 1), QStringLiteral("1")); // drafted
        QCOMPARE(m_view->subtitle(), QStringLiteral("decode step 5"));
        QCOMPARE(m_view->table().rows[0][2], QStringLiteral("3")); // of the first
        m_view->resize(346, 300);
        QCoreApplication::processEvents();
        QCOMPARE(shown(), 1);
        QCOMPARE(m_view->tabs().count(), 2);
    }

    void columnsAreAsWideAsTheirWidestCellSoFar() {
        m_stage->tell(stepWith(1, 0, {poolTable(3)}));
        ShownTable table = poolTable(3);
        table.rows[0][1] = ShownToken{8, " averylongtoken"};
        const int before = tableView().columnWidth(1);
        m_stage->tell(stepWith(1, 1, {table}));
        const int wide = tableView().columnWidth(1);
        QVERIFY(wide > before);
        m_stage->tell(stepWith(1, 2, {poolTable(3)}));
        QCOMPARE(tableView().columnWidth(1), wide);
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
