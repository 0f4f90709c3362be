// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/bars/status_strip.h"
#include "ui/shell/widgets/badge.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/replay/answer_bars.h"
#include "ui/views/replay/replay_transport.h"
#include "ui/views/speed/speed_view.h"

#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class ReplayTransportTest : public QObject {
    Q_OBJECT

    std::chrono::steady_clock::time_point m_now;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<ReplayTransport> m_transport;

    Playback& playback() { return *m_stage->bridge.playback(); }

    TransportButton* button(const char* name) const {
        for (auto* found : m_transport->findChildren<TransportButton*>())
            if (found->accessibleName() == QLatin1String(name))
                return found;
        return nullptr;
    }

    void wait(int milliseconds) {
        m_now += std::chrono::milliseconds(milliseconds);
        m_stage->bridge.tick();
    }

    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(m_transport.get(), key, modifiers);
    }

private slots:

    /// Two answers: rounds at 2, 4 and 8 s, an end at 10 s; the second one from 6 s on.
    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_stage->engine->recording =
            std::make_unique<Playback>(100.0, 1.0, [this] { return m_now; });
        PromptStarted first = promptStarted(1);
        first.question = "Name three colours.";
        PromptStarted second = promptStarted(2);
        for (const EngineEvent& event : {EngineEvent{101.0, first},
                                         EngineEvent{102.0, plainStep(1, 0, "a", 1.0)},
                                         EngineEvent{104.0, plainStep(1, 1, "b", 1.0)},
                                         EngineEvent{105.0, promptFinished(1)},
                                         EngineEvent{106.0, second},
                                         EngineEvent{108.0, plainStep(2, 0, "c", 1.0)},
                                         EngineEvent{110.0, promptFinished(2)}})
            playback().learn(event);
        playback().endLearning();
        m_transport = std::make_unique<ReplayTransport>(m_stage->theme, m_stage->bridge);
        m_transport->resize(1000, 48);
        m_transport->show();
    }

    void cleanup() { m_transport.reset(); }

    void thePositionIsToldInTenths() {
        QCOMPARE(m_transport->timeText(), QStringLiteral("00:00.0 / 00:10.0"));
        wait(4640);
        QCOMPARE(m_transport->timeText(), QStringLiteral("00:04.6 / 00:10.0"));
        wait(60'000);
        QCOMPARE(m_transport->timeText(), QStringLiteral("00:10.0 / 00:10.0"));
    }

    void theButtonPausesAndPlays() {
        QTest::mouseClick(button("Pause"), Qt::LeftButton);
        QVERIFY(!playback().isPlaying());
        wait(3000);
        QCOMPARE(m_transport->timeText(), QStringLiteral("00:00.0 / 00:10.0"));
        QVERIFY(button("Pause") == nullptr); // it says what it would do
        QTest::mouseClick(button("Play"), Qt::LeftButton);
        wait(1000);
        QCOMPARE(m_transport->timeText(), QStringLiteral("00:01.0 / 00:10.0"));
    }

    void everythingGoesByKeys() {
        press(Qt::Key_Space);
        QVERIFY(!playback().isPlaying());
        press(Qt::Key_Right);
        QCOMPARE(playback().position(), 2.0);
        press(Qt::Key_Right);
        press(Qt::Key_Right);
        QCOMPARE(playback().position(), 8.0);
        press(Qt::Key_Left);
        QCOMPARE(playback().position(), 4.0);
        press(Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(playback().position(), 3.0);
        press(Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(playback().position(), 4.0);
        press(Qt::Key_End);
        QCOMPARE(playback().position(), 10.0);
        press(Qt::Key_Home);
        QCOMPARE(playback().position(), 0.0);
        QTest::keyClick(button("Next round"), Qt::Key_Space); // the same on a button
        QVERIFY(playback().isPlaying());
    }

    void returnPressesTheButtonThatHasTheFocus() {
        QTest::keyClick(button("Next round"), Qt::Key_Return);
        QCOMPARE(playback().position(), 2.0);
        QTest::keyClick(button("Go to the end"), Qt::Key_Enter);
        QCOMPARE(playback().position(), 10.0);
    }

    void oneOfFourSpeedsIsChosen() {
        auto* speeds = m_transport->findChild<SegmentedControl*>();
        QCOMPARE(speeds->count(), 4);
        QCOMPARE(speeds->currentIndex(), 1);
        QTest::mouseClick(speeds->segment(3), Qt::LeftButton);
        wait(500);
        QCOMPARE(playback().position(), 8.0);
        playback().setSpeed(3.0); // as a start with --replay-speed may ask
        wait(0);
        QCOMPARE(speeds->currentIndex(), -1);
    }

    void barsHaveTheirTrueLengthAndAClickGoesThere() {
        AnswerBars& bars = m_transport->bars();
        const double first = bars.xOf(5.0) - bars.xOf(1.0);
        const double second = bars.xOf(10.0) - bars.xOf(6.0);
        QVERIFY(std::abs(first - second) < 1e-9);
        const QPoint middle(static_cast<int>(bars.xOf(5.0)), bars.height() / 2);
        QTest::mouseClick(&bars, Qt::LeftButton, {}, middle);
        QVERIFY(std::abs(playback().position() - 5.0) < 0.05);
        QCOMPARE(AnswerBars::titleOf(playback().answers()[0], 1),
                 QStringLiteral("1 Name three colours."));
        QCOMPARE(AnswerBars::titleOf(playback().answers()[1], 2), QStringLiteral("Answer 2"));
    }

    void whatWasLiveIsAReplayAndTheStripSaysWhereItStands() {
        SpeedView view(m_stage->context());
        StatusStrip strip(m_stage->theme, m_stage->store, m_stage->bridge);
        strip.resize(1200, 24);
        view.show();
        strip.show();
        m_stage->say(loadedModel());
        m_stage->say(RecordingStarted{"run.swiftrun"}); // then, not now
        m_stage->say(promptStarted(1));
        m_stage->say(plainStep(1, 0, "a", 20.0));
        m_stage->settle();
        wait(2500);
        QCOMPARE(view.badge(), QStringLiteral("replay"));
        QStringList texts;
        for (const LiveLabel* label : strip.findChildren<LiveLabel*>())
            if (label->isVisible())
                texts << label->text();
        QVERIFY2(texts.contains(QStringLiteral("00:02.5 of 00:10.0")), qPrintable(texts.join('|')));
        QVERIFY(texts.contains(QStringLiteral("recorded with plain, float64")));
        QVERIFY(texts.contains(QStringLiteral("The figures are those of the recording")));
        QVERIFY(!texts.join(u'|').contains(QStringLiteral("\u25CF")));
        QCOMPARE(strip.findChild<Badge*>()->text(), QStringLiteral("replay"));
        QVERIFY(strip.findChild<Badge*>()->isVisible());
    }

    void everythingThatTakesFocusHasAName() {
        QVERIFY(!m_transport->accessibleName().isEmpty());
        for (const QWidget* widget : m_transport->findChildren<QWidget*>())
            if (widget->focusPolicy() != Qt::NoFocus &&
                qobject_cast<const QAbstractButton*>(widget) == nullptr)
                QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
    }
};

QTEST_MAIN(ReplayTransportTest)
#include "replay_transport_test.moc"
