// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/made_up_stream.h"
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/plots/line_plot.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/views/experiments/stream/drift_view.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/stream_page.h"
#include "ui/views/experiments/stream/task_tiles_view.h"

#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace support;
using namespace ui;
using test_support::MadeUpStream;
using test_support::TemporaryFolder;

/// A stream on the screen, from a run folder that grows.
class StreamPageTest : public QObject {
    Q_OBJECT

    std::unique_ptr<TemporaryFolder> m_folder;
    std::unique_ptr<MadeUpStream> m_stream;
    std::unique_ptr<RunReader> m_reader;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<MessageBar> m_messages;
    std::unique_ptr<ViewMenu> m_menu;
    std::unique_ptr<StreamPage> m_page;

    void show(bool isAtWork = true) {
        m_page->setPicture(m_reader->read(), isAtWork);
        QCoreApplication::processEvents();
    }

    PromptsView& prompts() const { return m_page->prompts(); }

    QPushButton* button(const QString& start) const {
        for (QPushButton* button : m_page->findChildren<QPushButton*>())
            if (button->text().startsWith(start))
                return button;
        return nullptr;
    }

private slots:

    void init() {
        m_folder = std::make_unique<TemporaryFolder>();
        const auto path = m_folder->path() / "run";
        m_stream = std::make_unique<MadeUpStream>(
            path, std::vector<std::string>{"story", "math_reasoning", "code"}, 2);
        m_reader = std::make_unique<RunReader>(QString::fromStdString(path.string()));
        m_stage = std::make_unique<ViewStage>();
        m_messages = std::make_unique<MessageBar>(m_stage->theme);
        m_menu = std::make_unique<ViewMenu>(m_stage->theme, *m_messages, nullptr);
        m_page = std::make_unique<StreamPage>(m_stage->context(), *m_menu);
        m_page->resize(1000, 760);
        m_page->show();
        m_page->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_page.get(), kPatienceMs));
    }

    void cleanup() {
        m_page.reset();
        m_menu.reset();
        m_messages.reset();
        m_stage.reset();
        m_reader.reset();
        m_stream.reset();
        m_folder.reset();
    }

    void eachTaskHasItsMapAndItsState() {
        m_stream->findSet(0, {1, 2}, {3}, 0.75);
        m_stream->answer(0, 1.5);
        m_stream->answer(1, 1.5);
        m_stream->answer(2, 0.8);
        show();
        const std::vector<TaskTile>& tiles = m_page->tasks().tiles();
        QCOMPARE(tiles.size(), std::size_t{3});
        QCOMPARE(tiles[0].state, TaskTile::State::Done);
        QCOMPARE(tiles[0].speed, QStringLiteral("1.50×"));
        QCOMPARE(tiles[0].set->attention, (std::vector<int>{1, 2}));
        QVERIFY(tiles[0].caption.contains(QStringLiteral("matchness .75")));
        QVERIFY(tiles[0].caption.contains(QStringLiteral("3 of 12")));
        QCOMPARE(tiles[1].title, QStringLiteral("Math reasoning"));
        QCOMPARE(tiles[1].state, TaskTile::State::Running);
        QCOMPARE(tiles[1].stateText, QStringLiteral("prompt 1 of 2"));
        QCOMPARE(tiles[2].state, TaskTile::State::Waiting);
        QVERIFY(!tiles[2].set);
        const FigureTable table = m_page->tasks().table();
        QCOMPARE(table.rows[0][6], QStringLiteral("1 2"));
        m_stream->answer(3, 0.8);
        show(false);
        QCOMPARE(m_page->tasks().tiles()[1].state, TaskTile::State::NoGain);
        QVERIFY(m_page->tasks().tiles()[1].caption.contains(QStringLiteral("plain steps")));
    }

    void aTaskWithoutASteadyVanillaHasNoVerdict() {
        engine::TaskFigures task;
        task.task = "story";
        task.prompts = task.done = 2;
        task.isUnsteady = true;
        RunPicture picture;
        picture.facts = std::make_shared<RunFacts>();
        picture.progress.tasks = {task};
        const TaskTile tile = taskTiles(picture, false).front();
        QCOMPARE(tile.state, TaskTile::State::Unsteady);
        QCOMPARE(tile.stateText, QStringLiteral("not steady"));
        QVERIFY(tile.caption.contains(QStringLiteral("changed by more than 5 %")));
    }

    void aTaskWithoutVanillaBesideItIsDoneWithoutASpeed() {
        engine::TaskFigures task;
        task.task = "story";
        task.prompts = task.done = 2;
        RunPicture picture;
        picture.facts = std::make_shared<RunFacts>();
        picture.progress.tasks = {task};
        const TaskTile tile = taskTiles(picture, false).front();
        QCOMPARE(tile.state, TaskTile::State::Done);
        QCOMPARE(tile.stateText, QStringLiteral("done"));
        QVERIFY(tile.speed.isEmpty());
        QVERIFY(tile.caption.contains(QStringLiteral("vanilla was not measured beside it")));
    }

    void tilesWrapWhereItIsNarrow() {
        const Theme& theme = m_stage->theme;
        QCOMPARE(TileGrid::make(theme, 1200, 9).columns, 3);
        QCOMPARE(TileGrid::make(theme, 700, 9).columns, 2);
        QCOMPARE(TileGrid::make(theme, 400, 9).columns, 1);
        QCOMPARE(TileGrid::make(theme, 1200, 4).columns, 2); // and not three above one
        QCOMPARE(TileGrid::make(theme, 1200, 2).columns, 2);
        const TileGrid grid = TileGrid::make(theme, 1200, 9);
        QCOMPARE(grid.height(), 3 * grid.tileHeight);
        QVERIFY(!grid.tile(2).intersects(grid.tile(3)));
    }

    void theDriftHasAPointForEachPrompt() {
        m_stream->answer(0, 1.5, 18);
        m_stream->answer(1, 1.2, 10);
        show();
        QCOMPARE(m_page->drift().speedPlot().pointCount(0), std::size_t{2});
        const FigureTable table = m_page->drift().table();
        QCOMPARE(table.rows.size(), std::size_t{2});
        QCOMPARE(table.rows[1][1], QStringLiteral("story"));
        QVERIFY(std::abs(table.rows[1][2].toDouble() - 1.2) < 1e-9);
        QCOMPARE(table.rows[1].mid(3, 2), (QStringList{"10", "20"}));
        QVERIFY(std::abs(table.rows[1][5].toDouble() - 0.5) < 1e-9);
    }

    void aStreamThatWasResumedSaysThatItSearchesAnew() {
        m_stream->answer(0);
        show();
        QVERIFY(!m_page->drift().subtitle().contains(QStringLiteral("resumed")));
        m_stream->resumeAt(1);
        m_stream->answer(1);
        show();
        QVERIFY2(m_page->drift().subtitle().startsWith(
                     QStringLiteral("resumed at prompt 2: the search began anew")),
                 qPrintable(m_page->drift().subtitle()));
    }

    void theTableSaysWhatDraftedAnAnswer() {
        m_stream->answer(0);
        show();
        const QString words =
            QStringLiteral("skipped layers, guesses without layers, plain steps after token 28");
        QCOMPARE(prompts().sliceModel().index(0, PromptTableModel::DraftedBy).data().toString(),
                 words);
        QCOMPARE(prompts().table().rows[0].back(), words);
        prompts().setSlice(QStringLiteral("drafter contains skipped"));
        QCOMPARE(prompts().sliceModel().rowCount(), 1);
        prompts().setSlice(QStringLiteral("drafter contains exit"));
        QCOMPARE(prompts().sliceModel().rowCount(), 0);
    }

    void theTipOfAPromptIsItsTextAsItIs() {
        PromptRow row;
        row.text = QStringLiteral("Say \"yes\" & <b>why</b>");
        PromptTableModel model;
        model.setRows({row});
        QCOMPARE(shownTip(model.index(0, PromptTableModel::Text).data(Qt::ToolTipRole).toString()),
                 row.text);
    }

    void whatDraftedIsToldByItsShareAndByWhereItEnds() {
        QCOMPARE(draftedByText({}, 0, 40), QString()); // files of earlier versions
        QCOMPARE(draftedByText({{"none", 40}}, 0, 40), QStringLiteral("plain steps"));
        QCOMPARE(draftedByText({{"exit", 38}, {"none", 2}}, 38, 40), QStringLiteral("early exit"));
        QCOMPARE(draftedByText({{"free", 30}, {"exit", 10}}, 40, 40),
                 QStringLiteral("guesses without layers, early exit"));
        QCOMPARE(draftedByText({{"tuned", 40}}, 40, 40), QStringLiteral("trained layer"));
        QCOMPARE(draftedByText({{"copy", 40}}, 40, 40), QStringLiteral("4-bit copy"));
        QCOMPARE(draftedByText({{"later", 30}, {"none", 70}}, 30, 100),
                 QStringLiteral("later, plain steps after token 30"));
    }

    void whereItIsNarrowTheTextKeepsItsRoom() {
        m_stream->answer(0);
        show();
        m_page->resize(1400, 760);
        QCoreApplication::processEvents();
        QTableView& table = prompts().promptTable();
        QVERIFY(!table.isColumnHidden(PromptTableModel::DraftedBy));
        for (const int width : {900, 640, 480}) {
            m_page->resize(width, 760);
            QCoreApplication::processEvents();
            QVERIFY(table.isColumnHidden(PromptTableModel::DraftedBy));
            QVERIFY(table.columnWidth(PromptTableModel::Text) >= 120);
            QVERIFY(!table.isColumnHidden(PromptTableModel::Speed));
        }
        m_page->resize(1400, 760);
        QCoreApplication::processEvents();
        QVERIFY(!table.isColumnHidden(PromptTableModel::DraftedBy));
        QVERIFY(table.columnWidth(PromptTableModel::DraftedBy) > 100);
    }

    void aFigureThatIsNotThereSaysWhyWhileTheRunGoesOn() {
        m_stream->answer(0, 1.5);
        show();
        QCOMPARE(prompts().subtitle(), QStringLiteral("1 answered"));
        m_stream->endBlock(0, 0.5);
        show();
        const TaskTile& tile = m_page->tasks().tiles()[0];
        QVERIFY(tile.speed.isEmpty());
        QVERIFY(tile.caption.startsWith(QStringLiteral("no speed: vanilla's own changed")));
        QVERIFY(tile.caption.contains(QStringLiteral("M "))); // is exact whatever vanilla does
        QCOMPARE(prompts().subtitle(),
                 QStringLiteral(
                     "1 answered; 1 has no speed, because vanilla's own changed by more than 5 %"));
    }

    void theTableShowsTheSliceThatIsTyped() {
        for (int prompt = 0; prompt < 4; ++prompt)
            m_stream->answer(prompt, prompt < 2 ? 1.5 : 0.9);
        show();
        QCOMPARE(prompts().sliceModel().rowCount(), 4);
        QTest::keyClicks(&prompts().field(), QStringLiteral("speed < 1"));
        QCOMPARE(prompts().sliceModel().rowCount(), 2);
        QCOMPARE(prompts().subtitle(), QStringLiteral("2 of 4 in this slice"));
        QVERIFY(button(QStringLiteral("slower than vanilla"))->isChecked());
        QTest::keyClicks(&prompts().field(), QStringLiteral(" and nothing"));
        QCOMPARE(prompts().sliceModel().rowCount(), 2); // what cannot be understood yet
        QVERIFY(!button(QStringLiteral("Search a set"))->isEnabled());
        QSignalSpy asked(&prompts(), &PromptsView::searchAsked);
        QTest::mouseClick(button(QStringLiteral("all")), Qt::LeftButton);
        QCOMPARE(prompts().sliceModel().rowCount(), 4);
        prompts().setSlice(QStringLiteral("task = \"math_reasoning\""));
        QTest::mouseClick(button(QStringLiteral("Search a set")), Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked[0][1].value<std::vector<int>>(), (std::vector<int>{3, 4}));
    }

    void aTileChoosesItsTasksPrompts() {
        for (int prompt = 0; prompt < 6; ++prompt)
            m_stream->answer(prompt);
        show(false);
        QWidget* tiles = nullptr;
        for (QWidget* widget : m_page->tasks().findChildren<QWidget*>())
            if (widget->focusPolicy() == Qt::StrongFocus)
                tiles = widget;
        QVERIFY(tiles != nullptr);
        QTest::keyClick(tiles, Qt::Key_Right);
        QTest::keyClick(tiles, Qt::Key_Return);
        QCOMPARE(prompts().field().text(), QStringLiteral("task = math_reasoning"));
        QCOMPARE(prompts().sliceModel().rowCount(), 2);
        QTest::keyClick(tiles, Qt::Key_Slash);
        QCOMPARE(QApplication::focusWidget(), &prompts().field());
        QVERIFY(tiles->accessibleDescription().startsWith(QStringLiteral("Math reasoning")));
    }

    void aFrozenViewStaysAsItWas() {
        m_stream->answer(0);
        show();
        m_page->drift().setFrozen(true);
        m_page->tasks().setFrozen(true);
        m_stream->answer(1);
        show(false);
        QCOMPARE(m_page->drift().speedPlot().pointCount(0), std::size_t{1});
        QCOMPARE(m_page->tasks().tiles()[0].state, TaskTile::State::Running);
        QCOMPARE(m_page->tasks().tiles()[0].stateText, QStringLiteral("prompt 1 of 2"));
        m_page->drift().setFrozen(false);
        QCOMPARE(m_page->drift().speedPlot().pointCount(0), std::size_t{2});
    }

    void aThousandPromptsAreOneInsertionEach() {
        TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"story"}, 1000);
        for (int prompt = 0; prompt < 999; ++prompt)
            stream.answer(prompt);
        RunReader reader(QString::fromStdString((folder.path() / "run").string()));
        m_page->setPicture(reader.read(), true);
        stream.answer(999);
        QSignalSpy inserted(&prompts().sliceModel(), &QAbstractItemModel::rowsInserted);
        QSignalSpy reset(&prompts().sliceModel(), &QAbstractItemModel::modelReset);
        m_page->setPicture(reader.read(), true);
        QCOMPARE(inserted.size(), 1);
        QVERIFY(reset.isEmpty());
        QCOMPARE(prompts().sliceModel().rowCount(), 1000);
    }

    void everyControlHasAName() { QCOMPARE(namelessWidgets(*m_page), QStringList()); }
};

QTEST_MAIN(StreamPageTest)
#include "stream_page_test.moc"
