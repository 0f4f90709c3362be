// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/live_run.h"
#include "tests/ui/support/shown_words.h"
#include "ui/shell/bars/status_strip.h"
#include "ui/shell/docks/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/studio/inspect_page.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QDockWidget>
#include <QLabel>
#include <QScrollBar>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <map>
#include <utility>

using namespace support;
using namespace ui;

namespace {

/// What a window on a screen of 1440 x 900 pixels has between its frame and a panel of the desktop.
constexpr QSize kRoom(1440, 860);

/// Pixels at 100 %, of what stands below the workspaces of a replay.
constexpr int kTransportHeight = 48;

} // namespace

/// Large text and small screens cut no words off, and ask for no larger screen. Some functions go
/// on with the window, and the text size, of the one before.
class SmallWindowTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() { return m_stage->studio->window(); }

    void settle() {
        for (int turn = 0; turn < 8; ++turn)
            QCoreApplication::processEvents();
    }

    /// Of this size, in percent: whatever changes it lays the whole window out anew.
    void setText(int percent) {
        if (m_stage->studio->theme().textPercent() != percent)
            window().setTextPercent(percent);
    }

private slots:

    void init() {
        if (m_stage != nullptr)
            return;
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void aColumnLeavesLeftAndRightToWhatStandsAround() {
        ColumnScroll column;
        QKeyEvent right(QEvent::KeyPress, Qt::Key_Right, {});
        QCoreApplication::sendEvent(&column, &right);
        QVERIFY(!right.isAccepted());
        QKeyEvent down(QEvent::KeyPress, Qt::Key_Down, {});
        QCoreApplication::sendEvent(&column, &down);
        QVERIFY(down.isAccepted());
        m_isKept = true;
    }

    /// As the program does for a picture: the screen of this platform is lower than the picture.
    void aPictureHasTheDocksOfItsOwnSize() {
        QDockWidget* matchness = window().findChild<QDockWidget*>(QStringLiteral("chat.matchness"));
        QVERIFY(!matchness->isVisible());
        window().resize(1440, 900);
        window().resetLayouts();
        QVERIFY(matchness->isVisible());
        const Workspace& chat = *window().currentWorkspace();
        QVERIFY(chat.tabifiedDockWidgets(chat.dock(QStringLiteral("chat.layer_map")))
                    .contains(chat.dock(QStringLiteral("chat.draft_tree"))));
    }

    void theWindowFitsAUsualScreenWithLargeText_data() {
        QTest::addColumn<int>("workspace");
        QTest::newRow("chat") << 0;
        QTest::newRow("inspect") << 1;
    }

    void theWindowFitsAUsualScreenWithLargeText() {
        QFETCH(int, workspace);
        if (m_stage->studio->run().model() == nullptr) {
            LiveRun live(*m_stage);
            for (int picture = 0; picture < 3; ++picture) {
                live.sayPicture(3);
                m_stage->settle();
            }
        }
        setText(150);
        window().showWorkspace(workspace);
        window().resize(kRoom);
        settle();
        const QSize least = window().minimumSizeHint();
        QVERIFY2(least.width() <= kRoom.width(), qPrintable(QString::number(least.width())));
        QVERIFY2(least.height() + kTransportHeight * 3 / 2 <= kRoom.height(),
                 qPrintable(QString::number(least.height())));
        m_isKept = workspace == 0;
    }

    void theMiddleOfInspectShowsItsSentencesWhole() {
        m_stage->loadModel();
        m_stage->say(engine::DecoderChosen{vanillaDecoder(), {}});
        m_stage->settle();
        setText(150);
        window().showWorkspace(1);
        settle();
        window().resize(kRoom.width(), 1); // as low as it goes
        settle();
        for (const QLabel* label : window().findChild<InspectPage*>()->findChildren<QLabel*>())
            if (label->isVisible() && label->wordWrap())
                QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                         qPrintable(label->text()));
        m_isKept = true;
    }

    void sentencesAtTheRightOfInspectAreReadWhole() {
        m_stage->loadModel();
        setText(150);
        window().showWorkspace(1);
        window().resize(kRoom.width(), 1); // as low as it goes
        settle();
        int sentences = 0;
        for (const View* view : m_stage->studio->views())
            if (view->isVisible() && (view->info().id == QLatin1String("draft_tree") ||
                                      view->info().id == QLatin1String("verification_mask")))
                for (const LiveLabel* label : view->findChildren<LiveLabel*>()) {
                    QVERIFY2(label->height() >= label->sizeHint().height(),
                             qPrintable(label->text()));
                    ++sentences;
                }
        QCOMPARE(sentences, 2);
        m_isKept = true;
    }

    void aLongTitleOfAChatEndsWithAnEllipsis() {
        m_stage->loadModel();
        window().showWorkspace(0);
        const QString words =
            QStringLiteral("Why is the sky <b>blue</b> in the morning ").repeated(6);
        m_stage->studio->session().send(words);
        setText(150);
        window().resize(1024, 700);
        settle();
        const auto labels = window().findChild<ChatView*>()->findChildren<LiveLabel*>();
        const auto title = std::ranges::find_if(labels, [](const LiveLabel* label) {
            return label->text().startsWith(QStringLiteral("Why is the sky"));
        });
        QVERIFY(title != labels.end());
        QVERIFY((*title)->isCut() && (*title)->shownText().endsWith(QChar(0x2026)));
        QCOMPARE(shownTip((*title)->toolTip()), (*title)->text());
    }

    /// The plots below give way: their curves are read at this height, too.
    void aLowWindowShowsTheSearchWithoutScrolling() {
        m_stage->loadModel();
        m_stage->saySearch();
        window().resize(1024, 672);
        window().showWorkspace(1);
        settle();
        m_stage->action("view.reset_layout")->trigger();
        settle();
        const auto* column = window().findChild<InspectPage*>()->findChild<ColumnScroll*>();
        QVERIFY(column->isVisible());
        QVERIFY2(column->verticalScrollBar()->maximum() == 0,
                 qPrintable(QString::number(column->verticalScrollBar()->maximum())));
        m_isKept = true;
    }

    void aPinnedCellMovesNoOther() {
        m_stage->loadModel();
        m_stage->saySearch();
        window().resize(1024, 672);
        window().showWorkspace(1);
        m_stage->action("view.reset_layout")->trigger();
        m_stage->settle();
        settle();
        LayerMapView& map = window().findChild<InspectPage*>()->layerMap();
        QTableView& cells = map.grid().table();
        const QRect before = map.grid().cellRect({Sublayer::Mlp, 3});
        QTest::mouseClick(cells.viewport(),
                          Qt::LeftButton,
                          {},
                          cells.visualRect(cells.model()->index(0, 5)).center());
        settle();
        QVERIFY(map.notice().contains(QStringLiteral("Layer 5")));
        QCOMPARE(map.grid().cellRect({Sublayer::Mlp, 3}), before);
        for (const QLabel* label : map.findChildren<QLabel*>())
            if (label->isVisible() && label->text() == map.notice())
                QVERIFY(label->height() >= label->heightForWidth(label->width()));
        m_isKept = true;
    }

    /// A window that grew would leave the screen, and stay as high when they have gone.
    void noticesAndAnOpenHeadLetTheWindowKeepItsHeight() {
        m_stage->loadModel();
        window().showWorkspace(0);
        window().resize(1440, 800);
        settle();
        m_stage->action("chat.settings")->trigger();
        for (const char* id : {"first", "second"})
            window().messages().show({Notice::Kind::Info,
                                      QLatin1String(id),
                                      QStringLiteral("Something happened."),
                                      QStringLiteral("It is told here until it is closed.")});
        settle();
        QCOMPARE(window().height(), 800);
    }

    void longNamesInTheStatusStripGiveWayToFigures() {
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.model.name = std::string(200, 'M');
        m_stage->say(loaded);
        m_stage->settle();
        auto* strip = window().findChild<StatusStrip*>();
        strip->refresh(Topic::Model | Topic::Loading);
        settle();
        QVERIFY2(strip->minimumSizeHint().width() < 700,
                 qPrintable(QString::number(strip->minimumSizeHint().width())));
        for (const LiveLabel* part : strip->findChildren<LiveLabel*>())
            if (part->accessibleName() == QLatin1String("Model"))
                QVERIFY(part->isCut() && part->shownText().endsWith(QChar(0x2026)));
        m_isKept = true;
    }

    void aNarrowModelsDockScrollsDownwardsOnly() {
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.model.name = "A_model_whose_name_has_no_place_where_words_would_break";
        loaded.path = "/models/a_model_whose_name_has_no_place_where_words_would_break.gguf";
        m_stage->say(loaded);
        m_stage->settle();
        m_stage->action("model.choose")->trigger();
        auto* workspace = window().currentWorkspace();
        QDockWidget* dock = workspace->dock(QStringLiteral("chat.models"));
        QVERIFY(dock->isVisible());
        workspace->resizeDocks({dock}, {100}, Qt::Horizontal);
        settle();
        QVERIFY2(dock->width() <= 340, qPrintable(QString::number(dock->width())));
        auto* scroll = dock->findChild<QScrollArea*>();
        QCOMPARE(scroll->horizontalScrollBar()->maximum(), 0);
        QVERIFY(scroll->widget()->width() <= scroll->viewport()->width());
        m_isKept = true;
    }

    /// Also what is hidden meanwhile.
    void textThatWasLargeIsAsBeforeAtTheUsualSize() {
        m_stage->loadModel();
        m_stage->action("model.choose")->trigger(); // it is made when it is shown
        settle();
        std::map<const QWidget*, int> before;
        for (QWidget* widget : window().findChildren<QWidget*>()) {
            widget->ensurePolished(); // those not shown yet have no font of their own
            before[widget] = widget->font().pixelSize();
        }
        setText(150);
        settle();
        setText(100);
        settle();
        QStringList strangers;
        for (const QWidget* widget : window().findChildren<QWidget*>())
            if (before.contains(widget) && before.at(widget) != widget->font().pixelSize())
                strangers << QStringLiteral("%1 %2 \"%3\": %4, was %5")
                                 .arg(QLatin1String(widget->metaObject()->className()),
                                      widget->accessibleName(),
                                      widget->property("text").toString())
                                 .arg(widget->font().pixelSize())
                                 .arg(before.at(widget));
        QCOMPARE(strangers.join(u'\n'), QString());
    }
};

QTEST_MAIN(SmallWindowTest)
#include "small_window_test.moc"
