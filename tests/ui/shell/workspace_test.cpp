// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/figure_view.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/docks/workspace.h"

#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>

using namespace support;
using namespace ui;

class WorkspaceTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<QMainWindow> m_window;
    Workspace* m_workspace = nullptr;

    /// A list at the left, two views at the right and one below that is hidden at first.
    void build() {
        m_window = std::make_unique<QMainWindow>();
        m_workspace = new Workspace(QStringLiteral("test_workspace"), m_stage->theme);
        auto* centre = new QWidget;
        (new QVBoxLayout(centre))->addWidget(new QLineEdit(centre));
        m_workspace->setCentralWidget(centre);
        const auto add =
            [this](const char* id, Qt::DockWidgetArea area, QSize extent, bool isShown) {
                auto* view = new FigureView(m_stage->context(), QLatin1String(id));
                m_workspace->addDock(
                    {QLatin1String(id), QLatin1String(id), view, view, area, extent, isShown});
            };
        add("list", Qt::LeftDockWidgetArea, {220, 0}, true);
        add("upper", Qt::RightDockWidgetArea, {300, 0}, true);
        add("lower", Qt::RightDockWidgetArea, {300, 0}, true);
        add("extra", Qt::BottomDockWidgetArea, {0, 150}, false);
        m_workspace->setArrangement([this](Workspace& docks) {
            ++m_arranged;
            docks.resizeDocks({docks.dock(QStringLiteral("upper"))}, {400}, Qt::Vertical);
        });
        m_window->setCentralWidget(m_workspace);
        m_window->resize(1200, 800);
    }

    void show() {
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get(), support::kPatienceMs));
    }

    QDockWidget* dock(const char* id) const { return m_workspace->dock(QLatin1String(id)); }

    int m_arranged = 0;

private slots:

    void init() {
        m_window.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_settings = std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("layout.ini")),
                                                 QSettings::IniFormat);
        m_stage = std::make_unique<ViewStage>();
        m_arranged = 0;
        build();
    }

    void cleanup() { m_window.reset(); }

    void theDefaultLayoutPlacesEveryDockWhereItSays() {
        show();
        QCOMPARE(m_workspace->docks().size(), 4U);
        QVERIFY(dock("nothing") == nullptr);
        QCOMPARE(m_workspace->dockWidgetArea(dock("list")), Qt::LeftDockWidgetArea);
        QCOMPARE(m_workspace->dockWidgetArea(dock("lower")), Qt::RightDockWidgetArea);
        QVERIFY(dock("list")->isVisible());
        QVERIFY(!dock("extra")->isVisible());
        QVERIFY(dock("upper")->y() < dock("lower")->y());
        QVERIFY(dock("list")->x() < m_workspace->centralWidget()->x());
        QVERIFY(m_workspace->centralWidget()->x() < dock("upper")->x());
    }

    void aLayoutComesBackAtTheNextStart() {
        show();
        dock("list")->hide();
        dock("extra")->show();
        m_workspace->addDockWidget(Qt::BottomDockWidgetArea, dock("lower"));
        m_workspace->saveLayout(*m_settings);
        build();
        QVERIFY(m_workspace->restoreLayout(*m_settings));
        show();
        QVERIFY(!dock("list")->isVisible());
        QVERIFY(dock("extra")->isVisible());
        QCOMPARE(m_workspace->dockWidgetArea(dock("lower")), Qt::BottomDockWidgetArea);
        QCOMPARE(m_workspace->dockWidgetArea(dock("upper")), Qt::RightDockWidgetArea);
    }

    void aWorkspaceThatIsShownLaterHasItsSizesAsWell() {
        show();
        m_workspace->resizeDocks({dock("list")}, {333}, Qt::Horizontal);
        QTRY_COMPARE(dock("list")->width(), 333);
        m_workspace->saveLayout(*m_settings);
        build();
        QVERIFY(m_workspace->restoreLayout(*m_settings));
        m_workspace->hide();
        show();
        // What is not on the screen has a size of its own, in which Qt lays it out.
        m_workspace->resize(400, 300);
        m_workspace->layout()->activate();
        m_workspace->resizeDocks({dock("list")}, {1}, Qt::Horizontal);
        m_workspace->show();
        QTRY_COMPARE(dock("list")->width(), 333);
    }

    void whatWasNotShownIsNotSaved() {
        m_workspace->saveLayout(*m_settings);
        QVERIFY(m_settings->allKeys().isEmpty());
        show();
        dock("list")->hide();
        m_workspace->saveLayout(*m_settings);
        const QByteArray kept =
            m_settings->value(QStringLiteral("layout/test_workspace")).toByteArray();
        build();
        QVERIFY(m_workspace->restoreLayout(*m_settings));
        m_workspace->resize(200, 100);
        m_workspace->layout()->activate();
        m_workspace->saveLayout(*m_settings);
        QCOMPARE(m_settings->value(QStringLiteral("layout/test_workspace")).toByteArray(), kept);
    }

    void aLayoutOfAnotherVersionIsLeftAside() {
        show();
        dock("list")->hide();
        m_settings->setValue(QStringLiteral("layout/test_workspace"),
                             m_workspace->saveState(Workspace::kLayoutVersion + 1));
        build();
        const int before = m_arranged;
        QVERIFY(!m_workspace->restoreLayout(*m_settings));
        QCOMPARE(m_arranged, before + 1);
        show();
        QVERIFY(dock("list")->isVisible());
    }

    void aDamagedLayoutIsLeftAside() {
        m_settings->setValue(QStringLiteral("layout/test_workspace"), QByteArray("no layout"));
        QVERIFY(!m_workspace->restoreLayout(*m_settings));
        show();
        QVERIFY(dock("list")->isVisible());
        QCOMPARE(m_workspace->dockWidgetArea(dock("list")), Qt::LeftDockWidgetArea);
    }

    void resettingBringsTheDefaultLayoutBack() {
        show();
        dock("list")->hide();
        dock("extra")->show();
        dock("upper")->setFloating(true);
        m_workspace->addDockWidget(Qt::LeftDockWidgetArea, dock("lower"));
        m_workspace->resetLayout();
        QVERIFY(dock("list")->isVisible());
        QVERIFY(!dock("extra")->isVisible());
        QVERIFY(!dock("upper")->isFloating());
        QVERIFY(dock("upper")->isVisible());
        QCOMPARE(m_workspace->dockWidgetArea(dock("lower")), Qt::RightDockWidgetArea);
    }

    void aFloatingDockOfAScreenThatIsGoneComesBack_data() {
        QTest::addColumn<QRect>("place");
        QTest::newRow("far right") << QRect(30000, 100, 400, 300);
        QTest::newRow("far above") << QRect(100, -20000, 400, 300);
        QTest::newRow("no size") << QRect(100, 100, 0, 0);
        QTest::newRow("no size, far away") << QRect(30000, 30000, 1, 1);
    }

    void aFloatingDockOfAScreenThatIsGoneComesBack() {
        QFETCH(QRect, place);
        show();
        dock("upper")->setMinimumSize(0, 0);
        dock("upper")->setFloating(true);
        dock("upper")->setGeometry(place);
        m_workspace->saveLayout(*m_settings);
        build();
        QVERIFY(m_workspace->restoreLayout(*m_settings));
        show();
        QVERIFY(dock("upper")->isFloating());
        const QRect seen =
            dock("upper")->geometry().intersected(dock("upper")->screen()->availableGeometry());
        QVERIFY2(seen.width() >= 40 && seen.height() >= 40,
                 qPrintable(QStringLiteral("%1 x %2").arg(seen.width()).arg(seen.height())));
    }

    void floatingDocksHideWithTheirWorkspaceAndComeBack() {
        show();
        dock("upper")->setFloating(true);
        dock("lower")->setFloating(true);
        dock("lower")->hide();
        m_workspace->showFloating(false);
        QVERIFY(!dock("upper")->isVisible());
        m_workspace->showFloating(true);
        QVERIFY(dock("upper")->isVisible());
        QVERIFY(!dock("lower")->isVisible()); // the user had closed it
        QVERIFY(dock("list")->isVisible());
    }

    void aLayoutKeptWhileItsFloatingDocksAreHiddenShowsThemAgain() {
        show();
        dock("upper")->setFloating(true);
        m_workspace->showFloating(false);
        m_workspace->saveLayout(*m_settings);
        QVERIFY(!dock("upper")->isVisible());
        build();
        m_workspace->restoreLayout(*m_settings);
        show();
        QVERIFY(dock("upper")->isFloating());
        QVERIFY(dock("upper")->isVisible());
    }

    void resettingAHiddenWorkspaceForgetsItsHiddenFloatingDocks() {
        show();
        dock("extra")->show();
        dock("extra")->setFloating(true);
        m_workspace->showFloating(false);
        m_workspace->resetLayout();
        m_workspace->showFloating(true);
        QVERIFY(!dock("extra")->isVisible());
    }

    void theKeyboardComesToTheMiddleWhereItsHomeIsHidden() {
        auto* home = new QLineEdit(m_workspace->centralWidget());
        m_workspace->centralWidget()->layout()->addWidget(home);
        m_workspace->setHome(home);
        show();
        m_workspace->focusHome();
        QCOMPARE(QApplication::focusWidget(), home);
        home->hide();
        dock("list")->widget()->setFocus();
        m_workspace->focusHome();
        QVERIFY(m_workspace->centralWidget()->isAncestorOf(QApplication::focusWidget()));
    }

    void theKeyboardWalksThroughTheDocksAndBack() {
        show();
        m_workspace->centralWidget()->findChild<QLineEdit*>()->setFocus();
        QStringList visited;
        for (int i = 0; i < 4; ++i) {
            m_workspace->focusNextDock(1);
            visited << QApplication::focusWidget()->objectName();
        }
        QCOMPARE(visited.mid(0, 3),
                 (QStringList{
                     QStringLiteral("list"), QStringLiteral("upper"), QStringLiteral("lower")}));
        QVERIFY(qobject_cast<QLineEdit*>(QApplication::focusWidget()) != nullptr);
        m_workspace->focusNextDock(-1);
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("lower"));
    }

    void theWalkComesToWhatTheTabKeyMeetsFirst() {
        show();
        QWidget* content = dock("list")->widget();
        content->setFocusPolicy(Qt::NoFocus);
        auto* later = new QLineEdit(content);
        auto* first = new QLineEdit(content);
        QWidget::setTabOrder(first, later);
        for (QLineEdit* field : {first, later})
            field->show();
        m_workspace->centralWidget()->findChild<QLineEdit*>()->setFocus();
        m_workspace->focusNextDock(1);
        QCOMPARE(QApplication::focusWidget(), first);
    }

    void aDockBehindATabIsNotRefreshedUntilItIsRaised() {
        show();
        m_workspace->tabifyDockWidget(dock("upper"), dock("lower"));
        dock("lower")->raise();
        QTRY_VERIFY(dock("upper")->visibleRegion().isEmpty());
        // A view that its own picture covers wholly is seen all the same.
        auto* cover = new QWidget(dock("lower")->widget());
        cover->setAutoFillBackground(true);
        cover->resize(3000, 3000);
        cover->show();
        auto* hidden = static_cast<FigureView*>(dock("upper")->widget());
        auto* shown = static_cast<FigureView*>(dock("lower")->widget());
        m_stage->bridge.refreshPictures();
        const int before = hidden->refreshCount();
        const int shownBefore = shown->refreshCount();
        QVERIFY(!hidden->isShowing());
        m_stage->bridge.markChanged(Topic::Search);
        m_stage->bridge.refreshPictures();
        QCOMPARE(hidden->refreshCount(), before);
        QCOMPARE(shown->refreshCount(), shownBefore + 1);
        dock("upper")->raise();
        QTRY_VERIFY(hidden->isShowing());
        m_stage->bridge.refreshPictures();
        QCOMPARE(hidden->refreshCount(), before + 1); // what it missed
    }

    void theWalkBringsDocksBehindOthersToTheFront() {
        show();
        m_workspace->tabifyDockWidget(dock("upper"), dock("lower"));
        dock("lower")->raise();
        QTRY_VERIFY(dock("upper")->visibleRegion().isEmpty());
        m_workspace->centralWidget()->findChild<QLineEdit*>()->setFocus();
        m_workspace->focusNextDock(1);
        m_workspace->focusNextDock(1);
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("upper"));
        QTRY_VERIFY(!QApplication::focusWidget()->visibleRegion().isEmpty());
    }
};

QTEST_MAIN(WorkspaceTest)
#include "workspace_test.moc"
