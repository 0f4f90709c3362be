// SPDX-License-Identifier: GPL-3.0-only
// Presenting the whole window, pictures of views, and films from the menus.
#include "tests/ui/support/studio_stage.h"
#include "ui/export/film_dialog.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/present/pointer_ring.h"
#include "ui/present/presenter.h"
#include "ui/present/way_out.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/learn/slow_motion/controls/stop_caret.h"
#include "ui/views/learn/slow_motion/controls/walk_transport.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QClipboard>
#include <QMenuBar>
#include <QSettings>
#include <QTest>

#include <utility>

using namespace support;
using namespace ui;

/// Some functions share a window, and some of those a presentation: whatever changes the theme lays
/// the whole window out anew.
class StudioPresentTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function
    QRect m_place;         ///< of the window before the presentation

    MainWindow& window() { return m_stage->studio->window(); }

    Presenter& presenter() { return m_stage->studio->presenter(); }

    const Theme& theme() { return m_stage->studio->theme(); }

    void ticks(int count) {
        for (int i = 0; i < count; ++i)
            m_stage->studio->bridge().tick();
        QCoreApplication::processEvents();
    }

    void showSlowMotion() {
        m_stage->action("learn.slow_motion")->trigger();
        ticks(2);
    }

    /// Beginning with a round in slow motion, unless an earlier function has begun.
    void present() {
        if (presenter().isPresenting())
            return;
        m_stage->loadModel();
        m_stage->answer();
        showSlowMotion();
        QCOMPARE(theme().textPercent(), 100);
        m_place = window().geometry();
        QTest::keyClick(&window(), Qt::Key_F11);
        QVERIFY(presenter().isPresenting());
        for (int i = 0; i < 4; ++i)
            ticks(1); // docks give way meanwhile
    }

    QString keptSetting(const char* key) {
        return QSettings(m_stage->options.settingsPath, QSettings::IniFormat)
            .value(QLatin1String(key))
            .toString();
    }

private slots:

    void init() {
        if (m_stage != nullptr)
            return;
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
        m_stage->settle();
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void aLargerScreenGetsLargerType() {
        QCOMPARE(Presenter::textPercentFor(720, 100), 100);
        QCOMPARE(Presenter::textPercentFor(1080, 100), 150);
        QCOMPARE(Presenter::textPercentFor(1440, 100), 200);
        QCOMPARE(Presenter::textPercentFor(600, 130), 130);
        QCOMPARE(Presenter::textPercentFor(4320, 100), Theme::kLargestPercent);
        m_isKept = true;
    }

    void filmsAreOfferedWhereThereIsSomethingToShow() {
        QVERIFY(!m_stage->action("learn.export_round")->isEnabled());
        QVERIFY(!m_stage->action("inspect.export_search")->isEnabled());
        m_stage->loadModel();
        m_stage->answer();
        m_stage->saySearch();
        QVERIFY(m_stage->action("inspect.export_search")->isEnabled());
        m_stage->action("learn.export_round")->trigger();
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("learn_workspace"));
        QCOMPARE(window().findChildren<FilmDialog*>().size(), 1);
        auto* dialog = window().findChild<FilmDialog*>();
        window().setReducedMotion(true); // one picture for each stop
        const QString path = m_stage->folder.filePath(QStringLiteral("round.png"));
        dialog->begin(FilmForm::AnimatedPng, path, 480, false);
        for (int i = 0; i < 1000 && dialog->isRunning(); ++i)
            m_stage->studio->bridge().tick();
        QVERIFY2(QFileInfo(path).size() > 1000, qPrintable(dialog->sentence()));
    }

    void theViewWithTheFocusIsCopiedAsAPicture() {
        m_stage->loadModel();
        m_stage->saySearch();
        window().showWorkspace(QStringLiteral("inspect_workspace"));
        m_stage->settle();
        for (View* view : m_stage->studio->views()) {
            if (!view->isVisible())
                continue;
            QWidget* focus = view;
            view->setFocusPolicy(Qt::StrongFocus);
            view->setFocusProxy(nullptr);
            focus->setFocus();
            QApplication::clipboard()->clear();
            window().messages().withdraw(QStringLiteral("picture"));
            const QSize size = view->size(); // the notice will take room
            m_stage->action("view.copy_picture")->trigger();
            QVERIFY(m_stage->notice("picture") != nullptr);
            const QImage picture = QApplication::clipboard()->image();
            QVERIFY2(!picture.isNull(), qPrintable(view->info().id));
            if (QApplication::focusWidget() == view)
                QCOMPARE(picture.size(), size * 2);
        }
        m_isKept = true;
    }

    void aRoundThatIsNotShownYetIsExplained() {
        View* slowMotion = nullptr;
        for (View* view : m_stage->studio->views())
            if (view->info().id == u"slow_motion")
                slowMotion = view;
        QVERIFY(slowMotion != nullptr);
        slowMotion->setFrozen(true);
        m_stage->loadModel();
        m_stage->answer();
        QAction* round = m_stage->action("learn.export_round");
        QVERIFY(round->isEnabled());
        round->trigger();
        QVERIFY(window().findChildren<FilmDialog*>().isEmpty());
        QVERIFY(m_stage->notice("film") != nullptr);
        QVERIFY(!m_stage->notice("film")->sentence.isEmpty());
        slowMotion->setFrozen(false);
        round->trigger();
        QCOMPARE(window().findChildren<FilmDialog*>().size(), 1);
        QVERIFY(m_stage->notice("film") == nullptr);
    }

    void theKeyPresents() {
        present();
        QVERIFY(window().isFullScreen());
        QVERIFY(!window().menuBar()->isVisible());
        QVERIFY(!window().statusStrip().isVisible());
        QVERIFY(theme().choice() == ThemeChoice::HighContrastLight ||
                theme().choice() == ThemeChoice::HighContrastDark);
        QVERIFY(theme().textPercent() >= 100);
        QVERIFY(m_stage->action("view.present")->isChecked());
        m_isKept = true;
    }

    void slowMotionHasLargeButtonsWithinReach() {
        present();
        auto* view = window().findChild<SlowMotionView*>();
        QVERIFY(view != nullptr && view->scene() != nullptr);
        StopCaret& caret = view->transport().caret();
        const auto buttons = view->findChildren<TransportButton*>();
        QCOMPARE(buttons.size(), 7); // two for the rounds, five for the stops
        QList<QWidget*> controls(buttons.begin(), buttons.end());
        controls << &caret;
        for (const QWidget* control : controls) {
            QVERIFY2(control->isVisible(), qPrintable(control->accessibleName()));
            const QRect place(control->mapTo(&window(), QPoint()), control->size());
            QVERIFY2(window().rect().contains(place), qPrintable(control->accessibleName()));
            QVERIFY2(control->visibleRegion().boundingRect() == control->rect(),
                     qPrintable(control->accessibleName()));
            QVERIFY2(control->height() >= theme().scaled(38) &&
                         control->width() >= theme().scaled(38),
                     qPrintable(control->accessibleName()));
        }
        const auto stops = static_cast<int>(view->scene()->walk.stops.size());
        QTest::mouseClick(
            &caret, Qt::LeftButton, {}, caret.rect().center() + QPoint(stops % 2 == 0 ? 5 : 0, 0));
        QCOMPARE(view->scene()->stop, stops / 2);
        for (TransportButton* button : buttons)
            if (button->accessibleName().startsWith(QStringLiteral("Next stop")))
                button->click();
        QCOMPARE(view->scene()->stop, stops / 2 + 1);
        m_isKept = true;
    }

    void aRingFollowsThePointer() {
        present();
        PointerRing& ring = presenter().ring();
        ring.moveTo({-50, 200}, false);
        QVERIFY(!ring.isVisible());
        ring.moveTo({300, 200}, false);
        QVERIFY(ring.isVisible());
        QCOMPARE(ring.geometry().center(), QPoint(300, 200));
        QVERIFY(ring.testAttribute(Qt::WA_TransparentForMouseEvents));
        ring.moveTo({300, 200}, true);
        QVERIFY(ring.isPressed());
        m_isKept = true;
    }

    void everyWorkspaceAndTheLessonsWork() {
        present();
        m_stage->action("learn.lessons")->trigger();
        LessonPanel& lessons = m_stage->studio->lessonPanel();
        for (Workspace* workspace : window().workspaces()) {
            window().showWorkspace(workspace->objectName());
            ticks(2);
            QVERIFY(workspace->isVisible());
            QVERIFY(lessons.isVisible());
        }
        m_stage->action("workspace.chat_workspace")->trigger();
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("chat_workspace"));
        QVERIFY(presenter().isPresenting());
        lessons.hide();
        m_isKept = true;
    }

    void escStopsAnAnswerBeforeItLeavesAndNothingIsKept() {
        present();
        window().showWorkspace(0);
        m_stage->beginAnswer();
        QTest::keyClick(&window(), Qt::Key_Escape);
        QVERIFY(presenter().isPresenting());
        QVERIFY(m_stage->engine->lastSent<engine::StopGeneration>() != nullptr);
        m_stage->finishAnswer(engine::FinishReason::Cancelled);
        presenter().ring().moveTo({300, 200}, false);
        QVERIFY(presenter().ring().isVisible());
        QTest::keyClick(&window(), Qt::Key_Escape);
        QVERIFY(!presenter().isPresenting());
        QVERIFY(!window().isFullScreen());
        QVERIFY(window().menuBar()->isVisible());
        QVERIFY(!presenter().ring().isVisible());
        QCOMPARE(theme().choice(), ThemeChoice::System);
        QCOMPARE(theme().textPercent(), 100);
        QCOMPARE(window().size(), m_place.size());
        QVERIFY(!m_stage->action("view.present")->isChecked());
        QVERIFY(!keptSetting("window/theme").startsWith(QStringLiteral("high")));
        QVERIFY(keptSetting("window/text_percent").isEmpty() ||
                keptSetting("window/text_percent") == QStringLiteral("100"));
        showSlowMotion();
        m_stage->settle();
        auto* view = window().findChild<SlowMotionView*>();
        for (const TransportButton* button : view->findChildren<TransportButton*>())
            QVERIFY(button->height() < theme().scaled(38));
        QVERIFY(view->transport().height() == theme().scaled(60));
        m_isKept = true;
    }

    void theWayOutCanBeClickedAndATextSizeOfTheUserStays() {
        presenter().setPresenting(true);
        QVERIFY(theme().textPercent() != Theme::kSmallestPercent);
        window().setTextPercent(Theme::kSmallestPercent);
        WayOut& out = presenter().wayOut();
        QVERIFY(out.isVisible());
        for (int i = 0; i <= WayOut::kTicks; ++i)
            out.follow({400, 400});
        QVERIFY(!out.isVisible());
        out.follow({400, 0});
        QVERIFY(out.isVisible());
        QTest::mouseClick(&out, Qt::LeftButton);
        QVERIFY(!presenter().isPresenting());
        QCOMPARE(theme().textPercent(), Theme::kSmallestPercent);
        QCOMPARE(theme().choice(), ThemeChoice::System);
        m_isKept = true;
    }

    /// A window that is closed while it presents keeps its usual form.
    void aThemeOfTheUserStaysAndNothingElseIsKept() {
        const int percent = theme().textPercent();
        presenter().setPresenting(true);
        QVERIFY(theme().textPercent() != percent);
        window().setTheme(ThemeChoice::Light);
        window().close();
        QVERIFY(!presenter().isPresenting());
        QCOMPARE(theme().choice(), ThemeChoice::Light);
        QCOMPARE(theme().textPercent(), percent);
        m_stage->studio.reset();
        QCOMPARE(keptSetting("window/text_percent").toInt(), percent);
        QCOMPARE(keptSetting("window/theme"), QStringLiteral("light"));
        m_stage->open();
        QVERIFY(!window().isFullScreen());
    }
};

QTEST_MAIN(StudioPresentTest)
#include "studio_present_test.moc"
