// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/figure_view.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/main_window.h"

#include <QDockWidget>
#include <QMenu>
#include <QScreen>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <chrono>

using namespace support;
using namespace ui;

class MainWindowTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<MainWindow> m_window;

    void build() {
        m_window.reset();
        m_settings.reset();
        m_stage = std::make_unique<ViewStage>();
        m_settings = std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("window.ini")),
                                                 QSettings::IniFormat);
        m_window = std::make_unique<MainWindow>(
            m_stage->theme, m_stage->store, m_stage->bridge, *m_settings);
        for (const char* name : {"first", "second"}) {
            auto* workspace = new Workspace(QLatin1String(name), m_stage->theme);
            auto* centre = new FigureView(m_stage->context(),
                                          QString::fromLatin1(name) + QStringLiteral("_centre"));
            workspace->setCentralWidget(centre);
            auto* view = new FigureView(m_stage->context(),
                                        QString::fromLatin1(name) + QStringLiteral("_view"));
            workspace->addDock({QString::fromLatin1(name) + QStringLiteral("_dock"),
                                QLatin1String(name),
                                view,
                                view,
                                Qt::RightDockWidgetArea,
                                {300, 0},
                                true});
            workspace->setArrangement([](Workspace&) {});
            m_window->addWorkspace(workspace, QLatin1String(name), IconName::Chat);
        }
        m_window->finish();
    }

    void show() {
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get(), support::kPatienceMs));
    }

    void press(Qt::Key key, Qt::KeyboardModifiers modifiers) {
        QTest::keyClick(m_window.get(), key, modifiers);
    }

    QString current() const { return m_window->currentWorkspace()->objectName(); }

    Workspace* workspace(const char* name) const {
        return m_window->findChild<Workspace*>(QLatin1String(name));
    }

    QToolButton* modeButton(const char* name) const {
        for (auto* button : m_window->findChild<ModeBar*>()->findChildren<QToolButton*>())
            if (button->accessibleName() == QLatin1String(name))
                return button;
        return nullptr;
    }

private slots:

    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        build();
    }

    void cleanup() { m_window.reset(); }

    void keysAndButtonsShowTheWorkspaces() {
        show();
        QCOMPARE(current(), QStringLiteral("first"));
        press(Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(current(), QStringLiteral("second"));
        QVERIFY(modeButton("second")->isChecked());
        QVERIFY(!modeButton("first")->isChecked());
        QTest::keyClick(modeButton("first"), Qt::Key_Space);
        QCOMPARE(current(), QStringLiteral("first"));
        press(Qt::Key_3, Qt::ControlModifier);
        QCOMPARE(current(), QStringLiteral("first"));
        m_window->showWorkspace(99);
        QCOMPARE(current(), QStringLiteral("first"));
    }

    void theSettingsButtonAsksForSettings() {
        show();
        QSignalSpy asked(m_window.get(), &MainWindow::settingsAsked);
        QTest::mouseClick(modeButton("Settings"), Qt::LeftButton);
        QCOMPARE(asked.count(), 1);
    }

    void keysChangeTheTextSizeAndItIsKept() {
        show();
        press(Qt::Key_Plus, Qt::ControlModifier);
        press(Qt::Key_Equal, Qt::ControlModifier);
        QCOMPARE(m_stage->theme.textPercent(), 120);
        press(Qt::Key_Minus, Qt::ControlModifier);
        QCOMPARE(m_stage->theme.textPercent(), 110);
        build();
        QCOMPARE(m_stage->theme.textPercent(), 110);
        show();
        press(Qt::Key_0, Qt::ControlModifier);
        QCOMPARE(m_stage->theme.textPercent(), 100);
    }

    void theThemeIsKept() {
        QAction* dark = m_window->actionCatalog().find(QStringLiteral("theme.dark"));
        dark->trigger();
        QVERIFY(m_stage->theme.choice() == ThemeChoice::Dark);
        QVERIFY(dark->isChecked());
        build();
        QVERIFY(m_stage->theme.choice() == ThemeChoice::Dark);
        QVERIFY(m_window->actionCatalog().find(QStringLiteral("theme.dark"))->isChecked());
        m_window->setTheme(ThemeChoice::Light);
        QVERIFY(m_window->actionCatalog().find(QStringLiteral("theme.light"))->isChecked());
    }

    void theWorkspaceThatWasShownIsShownAgain() {
        show();
        m_window->showWorkspace(1);
        m_window->close();
        build();
        QCOMPARE(current(), QStringLiteral("second"));
    }

    void reducedMotionIsKept() {
        m_window->setReducedMotion(true);
        m_stage->theme.setReducedMotion(false);
        build();
        QVERIFY(m_stage->theme.reducesMotion());
    }

    void aGeometryOfAScreenThatIsGoneIsLeftAside() {
        show();
        m_window->setGeometry(25000, 25000, 900, 700);
        m_window->keepLayout();
        build();
        show();
        const QRect seen =
            m_window->geometry().intersected(QGuiApplication::primaryScreen()->availableGeometry());
        QVERIFY(seen.width() >= 400 && seen.height() >= 300);
    }

    /// Without a window manager nothing makes room for a title bar.
    void aWindowThatFillsTheScreenKeepsItsLastLine() {
        const QRect room = QGuiApplication::primaryScreen()->availableGeometry();
        show();
        m_window->resize(room.size() - (m_window->frameGeometry().size() - m_window->size()));
        m_window->move(room.topLeft());
        m_window->keepLayout();
        build();
        show();
        QCOMPARE(m_window->frameGeometry().bottom(), room.bottom());
    }

    void theWorkspaceIsKeptAlsoWhereTheProgramDoesNotEndByItself() {
        show();
        press(Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(current(), QStringLiteral("second"));
        QCOMPARE(m_settings->value(QStringLiteral("window/workspace")).toString(), current());
    }

    /// Another window may be open beside it, and these are its settings, too.
    void aReplayLeavesWhatTheWindowKeeps() {
        show();
        m_window->showWorkspace(1);
        m_window->keepLayout();
        const QVariant geometry = m_settings->value(QStringLiteral("window/geometry"));
        QVERIFY(!geometry.toByteArray().isEmpty());
        m_stage->engine->recording =
            std::make_unique<Playback>(0.0, 1.0, std::chrono::steady_clock::now);
        m_window->showWorkspace(0);
        m_window->resize(m_window->size() + QSize(30, 30));
        m_window->close();
        QCOMPARE(m_settings->value(QStringLiteral("window/workspace")).toString(),
                 QStringLiteral("second"));
        QCOMPARE(m_settings->value(QStringLiteral("window/geometry")), geometry);
    }

    void aDamagedGeometryIsLeftAside() {
        m_settings->setValue(QStringLiteral("window/geometry"), QByteArray("nonsense"));
        m_settings->setValue(QStringLiteral("window/workspace"), QStringLiteral("nowhere"));
        m_settings->setValue(QStringLiteral("window/text_percent"), QStringLiteral("many"));
        build();
        show();
        QCOMPARE(current(), QStringLiteral("first"));
        QVERIFY(m_window->width() >= 400);
        QVERIFY(m_stage->theme.textPercent() >= Theme::kSmallestPercent);
    }

    void floatingDocksOfTheOtherWorkspaceAreNotShownAtTheStart() {
        show();
        m_window->showWorkspace(1);
        QDockWidget* dock = workspace("second")->dock(QStringLiteral("second_dock"));
        dock->setFloating(true);
        m_window->showWorkspace(0);
        QVERIFY(!dock->isVisible());
        m_window->close();
        build();
        show();
        dock = workspace("second")->dock(QStringLiteral("second_dock"));
        QVERIFY(!dock->isVisible());
        m_window->showWorkspace(1);
        QVERIFY(dock->isFloating());
        QVERIFY(dock->isVisible());
    }

    void aDockThatGaveWayComesBackWhereThereIsMoreRoom() {
        const QSize screen = QGuiApplication::primaryScreen()->availableGeometry().size();
        QDockWidget* dock = workspace("first")->dock(QStringLiteral("first_dock"));
        dock->widget()->setMinimumHeight(screen.height() + 100);
        show();
        QTRY_VERIFY(!dock->isVisible());
        m_window->resize(screen + QSize(100, 400)); // or the same on a larger screen
        QTRY_VERIFY(dock->isVisible());
    }

    void theDockMenuOffersTheDocksOfTheWorkspaceShown() {
        show();
        QMenu* view = m_window->menu(MainWindow::tr("&View"));
        auto* docks = view->findChild<QMenu*>();
        emit docks->aboutToShow();
        QCOMPARE(docks->actions().size(), 1);
        docks->actions()[0]->trigger();
        QVERIFY(!workspace("first")->dock(QStringLiteral("first_dock"))->isVisible());
        m_window->actionCatalog().find(QStringLiteral("view.reset_layout"))->trigger();
        QVERIFY(workspace("first")->dock(QStringLiteral("first_dock"))->isVisible());
    }

    void theKeyboardWalksThroughTheDocks() {
        show();
        press(Qt::Key_F6, Qt::NoModifier);
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("first_centre"));
        press(Qt::Key_F6, Qt::NoModifier);
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("first_view"));
        press(Qt::Key_F6, Qt::ShiftModifier);
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("first_centre"));
    }

    void everythingHasAName() {
        show();
        QCOMPARE(namelessWidgets(*m_window).join(QLatin1Char('\n')), QString());
    }
};

QTEST_MAIN(MainWindowTest)
#include "main_window_test.moc"
