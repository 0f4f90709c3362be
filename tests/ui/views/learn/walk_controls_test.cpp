// SPDX-License-Identifier: GPL-3.0-only
// Slow motion without a mouse, and the times that it tells.
#include "tests/support/patience.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/learn/slow_motion/controls/walk_transport.h"
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QTest>

#include <memory>

using namespace engine;
using namespace support;
using namespace ui;

class WalkControlsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<SlowMotionView> m_view;

    /// The first of two rounds, each a draft of two tokens.
    void showRound() {
        m_stage->say(loadedModel());
        m_stage->say(promptStarted(1));
        m_stage->say(draftStep(1, 0, {" a", " b"}, 1, " c"));
        m_stage->say(draftStep(1, 1, {" d", " e"}, 1, " f"));
        m_view = std::make_unique<SlowMotionView>(m_stage->context());
        m_view->resize(1100, 600);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get(), kPatienceMs));
        m_stage->settle();
        m_view->showRound(1, 0);
    }

    static QStringList linesOf(const StepFinished& step, const RoundGround& ground, RoundStop of) {
        QStringList told;
        for (const WalkLine& line : stopLines(walkThrough(step, ground), of))
            told << line.label + QLatin1Char('|') + line.value;
        return told;
    }

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void returnAndPPlayAndPause() {
        showRound();
        TransportButton* play = nullptr;
        for (auto* button : m_view->transport().findChildren<TransportButton*>())
            if (button->accessibleName() == QStringLiteral("Play (P)"))
                play = button;
        QVERIFY(play != nullptr);
        QTest::keyClick(play, Qt::Key_Return);
        QVERIFY(m_view->isPlaying());
        QTest::keyClick(play, Qt::Key_Enter, Qt::KeypadModifier);
        QVERIFY(!m_view->isPlaying());
        QTest::keyClick(m_view.get(), Qt::Key_P);
        QVERIFY(m_view->isPlaying());
    }

    void pageKeysChangeTheRoundWhileTheMaskHasTheFocus() {
        showRound();
        auto* mask = m_view->findChild<WalkMask*>();
        QVERIFY(mask != nullptr);
        mask->setFocus();
        QTRY_VERIFY(mask->hasFocus());
        QTest::keyClick(mask, Qt::Key_Down); // these stay the mask's own
        QCOMPARE(mask->chosenRow(), 1);
        QTest::keyClick(mask, Qt::Key_PageDown);
        QCOMPARE(m_view->round(), 1);
        QCOMPARE(mask->chosenRow(), 0); // the focus is seen there as well
        QTest::keyClick(mask, Qt::Key_PageUp);
        QCOMPARE(m_view->round(), 0);
    }

    /// Freezing keeps the round, whatever is answered meanwhile.
    void aFrozenRoundIsWalkedThroughToo() {
        showRound();
        m_view->setFrozen(true);
        m_view->goOn();
        QCOMPARE(m_view->scene()->stop, 1);
        const int ticks =
            static_cast<int>(SlowMotionView::kMoveMs / EngineBridge::kTickMs) + 2; // at speed 1
        for (int i = 0; i < ticks; ++i)
            m_stage->bridge.tick();
        QCOMPARE(m_view->scene()->part, 1.0);
        m_stage->tell(promptStarted(2));
        m_stage->tell(draftStep(2, 0, {" g", " h"}, 1, " i"));
        m_stage->settle();
        QCOMPARE(m_view->promptId(), std::uint64_t{1});
        QCOMPARE(m_view->scene()->stop, 1);
    }

    void theTimeOfTheSearchIsToldApartFromTheRound() {
        StepFinished step = draftStep(1, 0, {" a", " b"}, 1, " c");
        step.draftMs = 10.0;
        step.verifyMs = 14.0;
        step.otherMs = 0.0;
        RoundGround ground;
        QVERIFY(linesOf(step, ground, RoundStop::Accept)
                    .contains(QStringLiteral("the whole round|24.0 ms")));
        step.searchMs = 6.0;
        const QString search = QStringLiteral("its search|6.0 ms");
        const QStringList accepted = linesOf(step, ground, RoundStop::Accept);
        QVERIFY(accepted.contains(QStringLiteral("the round, without its search|24.0 ms")));
        QVERIFY(accepted.contains(search)); // no candidate was scored: there is no stop for it
        ground.trials = {trial("random", 1, 0.75, 0.75, {.layerCount = 4, .skipped = {{1}, {2}}})};
        QVERIFY(!linesOf(step, ground, RoundStop::Accept).contains(search));
        QVERIFY(linesOf(step, ground, RoundStop::Search).contains(search));
    }
};

QTEST_MAIN(WalkControlsTest)
#include "walk_controls_test.moc"
