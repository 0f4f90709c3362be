// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/live_run.h"
#include "tests/ui/support/stored_messages.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/shell/docks/workspace.h"
#include "ui/shell/main_window.h"

#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QScreen>
#include <QTemporaryFile>
#include <QTest>
#include <QWindow>

#include <algorithm>
#include <map>
#include <utility>

using namespace support;
using namespace ui;

namespace {

/// The screens of this program. The file describes them to Qt's offscreen platform.
constexpr const char* kScreens = R"({"windowFrameMargins": false, "screens": [
    {"name": "small", "x": 0, "y": 0, "width": 1024, "height": 700,
     "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1},
    {"name": "usual", "x": 2000, "y": 0, "width": 1440, "height": 900,
     "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}]})";

constexpr int kFrame = 24; ///< pixels that a window manager takes for a window's title

} // namespace

/// On a small screen, and with large text, the window stays on its screen and needs no more room
/// than that has. Some functions go on with the window, and the text size, of the one before.
class SmallScreenTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() { return m_stage->studio->window(); }

    Workspace& workspace() { return *window().currentWorkspace(); }

    void settle() {
        for (int turn = 0; turn < 12; ++turn)
            QCoreApplication::processEvents();
    }

    /// The window fills the screen.
    void moveTo(int screen) {
        QScreen* place = QGuiApplication::screens().at(screen);
        window().windowHandle()->setScreen(place);
        window().setGeometry(place->availableGeometry().adjusted(0, kFrame, 0, 0));
        settle();
        QCOMPARE(window().screen(), place);
    }

    void verifyThatTheWindowFits() {
        const QRect place = window().geometry();
        const QRect screen = window().screen()->availableGeometry();
        const auto words = [](const QRect& rect) {
            return QStringLiteral("%1 x %2 at %3, %4")
                .arg(rect.width())
                .arg(rect.height())
                .arg(rect.x())
                .arg(rect.y());
        };
        QVERIFY2(screen.contains(place), qPrintable(words(place)));
        const QSize least = window().minimumSizeHint();
        QVERIFY2(least.width() <= place.width() && least.height() <= place.height(),
                 qPrintable(words({QPoint(), least})));
    }

    QDockWidget& dock(const char* id) { return *workspace().dock(QLatin1String(id)); }

    void loadModel() {
        if (m_stage->studio->run().model() == nullptr)
            m_stage->loadModel();
    }

    /// Of this size, in percent: whatever changes it lays the whole window out anew.
    void setText(int percent) {
        if (m_stage->studio->theme().textPercent() == percent)
            return;
        window().setTextPercent(percent);
        settle();
    }

    void verifyThatEveryMenuIsInTheBar() {
        QMenuBar& bar = *window().menuBar();
        auto* search = buttonNamed(window(), QStringLiteral("Search or run a command"));
        QVERIFY(search != nullptr);
        QCOMPARE(window().width(), 1024);
        const int corner = search->parentWidget()->x();
        for (QAction* menu : bar.actions()) {
            const QRect place = bar.actionGeometry(menu);
            QVERIFY2(place.width() > 0 && place.right() < corner, qPrintable(menu->text()));
        }
        const QRect button(search->mapTo(&window(), QPoint()), search->size());
        QVERIFY(window().rect().contains(button));
    }

    /// What is being read would jump to the side.
    void verifyThatTheFirstAnswerLeavesDocksAsWide() {
        std::map<const QDockWidget*, int> before;
        for (const QDockWidget* dock : workspace().docks())
            if (dock->isVisible())
                before[dock] = dock->width();
        QVERIFY(before.size() >= 2);
        m_stage->studio->session().newChat();
        m_stage->answer();
        settle();
        for (const auto& [dock, width] : before)
            QVERIFY2(!dock->isVisible() || dock->width() == width,
                     qPrintable(QStringLiteral("%1: %2, was %3")
                                    .arg(dock->objectName())
                                    .arg(dock->width())
                                    .arg(width)));
    }

private slots:

    void init() {
        if (m_stage != nullptr)
            return;
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
        moveTo(0);
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void theWindowStaysOnItsScreen_data() {
        QTest::addColumn<int>("screen");
        QTest::addColumn<int>("percent");
        QTest::newRow("a small screen") << 0 << 100;
        QTest::newRow("a small screen with large text") << 0 << 150;
        QTest::newRow("a usual screen with large text") << 1 << 150;
    }

    /// The first answer changes what the docks show, and so what they need.
    void theWindowStaysOnItsScreen() {
        QFETCH(int, screen);
        QFETCH(int, percent);
        moveTo(screen);
        setText(percent);
        verifyThatTheWindowFits();
        LiveRun live(*m_stage);
        for (int picture = 0; picture < 3; ++picture) {
            live.sayPicture(3);
            m_stage->settle();
        }
        m_stage->finishAnswer();
        settle();
        for (const int shown : {0, 1}) {
            window().showWorkspace(shown);
            settle();
            verifyThatTheWindowFits();
        }
        m_isKept = screen == 1;
    }

    void theViewMenuFitsBelowItsBarWithLargeText() {
        moveTo(1);
        setText(150);
        QMenu* view = window().menu(QStringLiteral("&View"));
        view->popup(window().geometry().topLeft());
        settle();
        int height = 0; // in one column
        for (QAction* action : view->actions())
            height += view->actionGeometry(action).height();
        view->close();
        const int room =
            window().screen()->availableGeometry().height() - kFrame - window().menuBar()->height();
        QVERIFY2(height > 0 && height <= room, qPrintable(QString::number(height)));
    }

    void plotsOfInspectForWhichThereIsNoRoomBecomeTabs() {
        loadModel();
        window().showWorkspace(1);
        settle();
        const auto placeOf = [this](QDockWidget* dock) { // its area, and those behind or before it
            return std::pair(workspace().dockWidgetArea(dock),
                             workspace().tabifiedDockWidgets(dock).size());
        };
        std::map<QDockWidget*, decltype(placeOf(nullptr))> before;
        for (QDockWidget* dock : workspace().docks())
            if (!dock->isHidden()) // some are closed at first
                before[dock] = placeOf(dock);
        setText(160);
        verifyThatTheWindowFits();
        int tabs = 0;
        for (const auto& [dock, place] : before) {
            QVERIFY2(!dock->isHidden(), qPrintable(dock->objectName()));
            tabs += placeOf(dock).second > place.second ? 1 : 0;
            workspace().focusDock(*dock);
            settle();
            QVERIFY2(!dock->titleBarWidget()->visibleRegion().isEmpty(),
                     qPrintable(dock->objectName()));
            QVERIFY2(dock->isAncestorOf(QApplication::focusWidget()),
                     qPrintable(dock->objectName()));
        }
        QVERIFY2(tabs >= 2, qPrintable(QString::number(tabs)));
        setText(100);
        for (const auto& [dock, place] : before) {
            QVERIFY2(dock->isVisible(), qPrintable(dock->objectName()));
            QVERIFY2(placeOf(dock) == place, qPrintable(dock->objectName()));
        }
        m_isKept = true;
    }

    void whatTheUserClosedMeanwhileStaysClosed() {
        loadModel();
        window().showWorkspace(1);
        setText(150);
        dock("inspect.verification_mask").toggleViewAction()->trigger();
        settle();
        QVERIFY(dock("inspect.verification_mask").isHidden());
        setText(100);
        QVERIFY(dock("inspect.verification_mask").isHidden());
        QVERIFY(dock("inspect.speed").isVisible());
        m_isKept = true;
    }

    void docksThatGiveWayToTheLessonsComeBackWithThem() {
        loadModel();
        window().showWorkspace(0);
        moveTo(0);
        std::vector<QDockWidget*> shown;
        for (QDockWidget* dock : workspace().docks())
            if (dock->isVisible())
                shown.push_back(dock);
        m_stage->action("learn.lessons")->trigger();
        settle();
        verifyThatTheWindowFits();
        LessonPanel& lessons = m_stage->studio->lessonPanel();
        QVERIFY(lessons.isVisible());
        QVERIFY(!std::ranges::all_of(shown, &QWidget::isVisible));
        QTest::keyClick(&lessons, Qt::Key_Escape);
        settle();
        QVERIFY(!lessons.isVisible());
        for (const QDockWidget* dock : shown)
            QVERIFY2(dock->isVisible(), qPrintable(dock->objectName()));
        m_isKept = true;
    }

    void everyMenuStaysInTheBar() {
        loadModel();
        verifyThatEveryMenuIsInTheBar();
        m_isKept = true;
    }

    void theFirstAnswerLeavesDocksAsWideAsTheyWere() {
        loadModel();
        verifyThatTheFirstAnswerLeavesDocksAsWide();
    }

    void theNoticeOfDocksWithoutRoomIsThatOfTheWorkspaceOnTheScreen() {
        loadModel();
        setText(150);
        bool isReported = false;
        for (int i = 0; i < 3; ++i) {
            window().showWorkspace(i);
            settle();
            const Notice* told = m_stage->notice("no_room");
            const QStringList hidden = workspace().withoutRoom();
            QCOMPARE(told == nullptr, hidden.isEmpty());
            for (QDockWidget* dock : workspace().docks())
                if (!dock->isHidden() && told != nullptr)
                    QVERIFY2(!told->headline.contains(dock->windowTitle()),
                             qPrintable(told->headline));
            isReported = isReported || told != nullptr;
        }
        QVERIFY(isReported);
        window().showWorkspace(0); // what was told there is not told again
        settle();
        QVERIFY(m_stage->notice("no_room") == nullptr);
        m_isKept = true;
    }

    void docksForWhichLargeTextLeavesNoRoomAreHiddenAndComeBack() {
        loadModel();
        setText(150);
        QDockWidget& chats = dock("chats");
        QVERIFY(!chats.isVisible());
        setText(100);
        QVERIFY(chats.isVisible());
        QVERIFY(m_stage->notice("no_room") == nullptr);
        setText(150);
        QVERIFY(!chats.isVisible());
        const Notice* told = m_stage->notice("no_room");
        QVERIFY(told != nullptr && told->headline.contains(chats.windowTitle()));
        window().keepLayout(); // it was not the user who hid it
        QVERIFY(!chats.isHidden());
    }

    /// As a key held down does it: the next size comes before the last one is laid out.
    void textThatGrowsStepByStepKeepsTheWindowOnItsScreen() {
        loadModel();
        setText(130);
        for (int percent = 140; percent <= 150; percent += 10) {
            m_stage->action("view.larger_text")->trigger();
            QCoreApplication::processEvents();
        }
        settle();
        verifyThatTheWindowFits();
        m_isKept = true;
    }

    void everyMenuStaysInTheBarWithLargeText() {
        loadModel();
        setText(150);
        verifyThatEveryMenuIsInTheBar();
        m_isKept = true;
    }

    /// In a second column the entries at its end would be out of sight.
    void theViewMenuOfASmallScreenScrolls() {
        setText(150);
        QMenu* view = window().menu(QStringLiteral("&View"));
        view->popup(window().geometry().topLeft());
        settle();
        QVERIFY(window().screen()->availableGeometry().contains(view->geometry()));
        for (QAction* action : view->actions())
            QCOMPARE(view->actionGeometry(action).left(),
                     view->actionGeometry(view->actions().front()).left());
        view->close();
        m_isKept = true;
    }

    void theFirstAnswerLeavesDocksAsWideAsTheyWereWithLargeText() {
        loadModel();
        setText(150);
        verifyThatTheFirstAnswerLeavesDocksAsWide();
        m_isKept = true;
    }

    void aDockThatACommandWantsTakesThePlaceOfAnother() {
        loadModel();
        setText(150);
        QVERIFY(!dock("chat.models").isVisible());
        m_stage->action("model.choose")->trigger();
        settle();
        QVERIFY(!dock("chat.models").titleBarWidget()->visibleRegion().isEmpty());
        QVERIFY(dock("chat.models").isAncestorOf(QApplication::focusWidget()));
        verifyThatTheWindowFits();
        for (const QLabel* label : dock("chat.models").findChildren<QLabel*>())
            if (label->isVisible() && label->wordWrap())
                QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                         qPrintable(label->text()));
        for (const QPushButton* button : dock("chat.models").findChildren<QPushButton*>())
            if (button->isVisible())
                QVERIFY2(button->width() >= button->sizeHint().width(), qPrintable(button->text()));
        m_isKept = true;
    }

    void aDockThatTheUserShowsTakesThePlaceOfAnother() {
        loadModel();
        setText(150);
        QDockWidget& chats = dock("chats");
        QVERIFY(!chats.isVisible());
        chats.toggleViewAction()->trigger();
        settle();
        QVERIFY(chats.isVisible());
        verifyThatTheWindowFits();
        m_isKept = true;
    }

    void aDialogStaysOnItsScreen() {
        setText(200);
        for (const char* id : {"app.shortcuts", "app.settings", "chat.prompts"}) {
            m_stage->action(id)->trigger();
            settle();
            QDialog* dialog = nullptr;
            for (QDialog* one : window().findChildren<QDialog*>())
                if (one->isVisible())
                    dialog = one;
            QVERIFY2(dialog != nullptr, id);
            const QSize room = window().screen()->availableSize();
            QVERIFY2(dialog->height() <= room.height() && dialog->width() <= room.width(), id);
            dialog->close();
            settle();
        }
    }
};

/// QTEST_MAIN with screens of its own.
int main(int argc, char** argv) {
    QTemporaryFile screens;
    if (!screens.open() || screens.write(kScreens) < 0 || !screens.flush())
        return 1;
    qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" + screens.fileName().toUtf8());
    QApplication app(argc, argv);
    SmallScreenTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "small_screen_test.moc"
