// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/stored_messages.h"
#include "ui/views/chat/input_bar.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>
#include <QPaintEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>

using namespace support;
using namespace ui;

namespace {

/// Counts paintings that are wider than a caret.
class WidePaints : public QObject {
public:
    int count = 0;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint &&
            static_cast<QPaintEvent*>(event)->region().boundingRect().width() > 50)
            ++count;
        return QObject::eventFilter(watched, event);
    }
};

} // namespace

class InputBarTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    std::unique_ptr<InputBar> m_bar;

    QPlainTextEdit* field() const { return m_bar->findChild<QPlainTextEdit*>(); }

    QAbstractButton* send() const { return buttonNamed(*m_bar, QStringLiteral("Send")); }

    QAbstractButton* stop() const { return buttonNamed(*m_bar, QStringLiteral("Stop")); }

    QColor barColour(int used, int length) {
        ContextGauge& gauge = m_bar->gauge();
        gauge.show(used, length);
        gauge.resize(gauge.sizeHint());
        return gauge.grab().toImage().pixelColor(m_theme.scaled(4), gauge.height() / 2);
    }

private slots:

    void init() {
        m_theme.setTextPercent(100);
        m_bar = std::make_unique<InputBar>(m_theme);
        m_bar->resize(600, 90);
        m_bar->show();
        m_bar->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_bar.get(), support::kPatienceMs));
        m_bar->focusText();
    }

    /// As where the program that had something in it is gone.
    void anEmptyClipboardIsPastedWithoutHarm() {
        QGuiApplication::clipboard()->setMimeData(new QMimeData);
        QTest::keyClicks(field(), QStringLiteral("words"));
        QTest::keySequence(field(), QKeySequence::Paste);
        QCOMPARE(field()->toPlainText(), QStringLiteral("words"));
    }

    void aClickBesideTheButtonsComesToTheText() {
        field()->clearFocus();
        QTest::mouseClick(m_bar.get(), Qt::LeftButton, {}, QPoint(2, m_bar->height() - 3));
        QVERIFY(field()->hasFocus());
        field()->clearFocus();
        QTest::mouseClick(&m_bar->gauge(), Qt::LeftButton);
        QVERIFY(field()->hasFocus());
    }

    void enterSendsAndShiftEnterBeginsALine() {
        QSignalSpy sent(m_bar.get(), &InputBar::sendAsked);
        QTest::keyClicks(field(), QStringLiteral("one"));
        QTest::keyClick(field(), Qt::Key_Return, Qt::ShiftModifier);
        QTest::keyClicks(field(), QStringLiteral("two"));
        QCOMPARE(sent.count(), 0);
        QTest::keyClick(field(), Qt::Key_Return);
        QCOMPARE(sent.count(), 1);
        QCOMPARE(sent[0][0].toString(), QStringLiteral("one\ntwo"));
        QTest::keyClick(field(), Qt::Key_Enter, Qt::KeypadModifier);
        QTest::mouseClick(send(), Qt::LeftButton);
        QCOMPARE(sent.count(), 3);
    }

    void otherWordsInTheEmptyFieldAreDrawnAtOnce() {
        m_bar->setPlaceholder(QStringLiteral("Load a model to write"));
        QCoreApplication::processEvents();
        WidePaints paints;
        field()->viewport()->installEventFilter(&paints);
        m_bar->setPlaceholder(QStringLiteral("Message the model"));
        QTRY_VERIFY(paints.count > 0);
    }

    void theUpArrowInAnEmptyFieldBringsTheLastMessageBack() {
        m_bar->setLastMessage(QStringLiteral("said before"));
        QTest::keyClicks(field(), QStringLiteral("x"));
        QTest::keyClick(field(), Qt::Key_Up);
        QCOMPARE(m_bar->text(), QStringLiteral("x"));
        m_bar->setText({});
        QTest::keyClick(field(), Qt::Key_Up);
        QCOMPARE(m_bar->text(), QStringLiteral("said before"));
        QVERIFY(field()->textCursor().atEnd());
    }

    void itGrowsWithItsLinesUpToEight() {
        const int one = field()->height();
        m_bar->setText(QStringLiteral("a\nb\nc"));
        const int three = field()->height();
        QVERIFY(three > one);
        m_bar->setText(QStringLiteral("a\n").repeated(7));
        const int eight = field()->height();
        QCOMPARE(eight - one, (three - one) / 2 * 7);
        m_bar->setText(QStringLiteral("a\n").repeated(40));
        QCOMPARE(field()->height(), eight);
        m_bar->setText({});
        QCOMPARE(field()->height(), one);
    }

    void itGrowsWhenItsWordsWrapInANarrowerWindow() {
        m_bar->setText(QStringLiteral("many words ").repeated(6));
        QCoreApplication::processEvents();
        const int wide = field()->height();
        m_bar->resize(200, 90);
        QCoreApplication::processEvents();
        QTRY_VERIFY(field()->height() > wide);
        m_bar->resize(600, 90);
        QTRY_COMPARE(field()->height(), wide);
    }

    void largerTextMakesItHigher() {
        const int before = field()->height();
        m_theme.setTextPercent(200);
        QVERIFY(field()->height() > before * 3 / 2);
    }

    void stopStandsInThePlaceOfSendAndTheKeyboardGoesBackToTheText() {
        QSignalSpy stopped(m_bar.get(), &InputBar::stopAsked);
        QSignalSpy sent(m_bar.get(), &InputBar::sendAsked);
        send()->setFocus();
        m_bar->setAnswering(true);
        QVERIFY(!send()->isVisible());
        QVERIFY(stop()->isVisible());
        QVERIFY(field()->hasFocus());
        QTest::keyClick(field(), Qt::Key_Return);
        QCOMPARE(sent.count(), 0);
        QTest::keyClick(stop(), Qt::Key_Space);
        QCOMPARE(stopped.count(), 1);
        m_bar->setAnswering(false);
        QVERIFY(send()->isVisible());
        QVERIFY(!stop()->isVisible());
    }

    void anObstacleIsTheTipOfADisabledSendAndKeepsTheWords() {
        QSignalSpy sent(m_bar.get(), &InputBar::sendAsked);
        m_bar->setText(QStringLiteral("words"));
        m_bar->setObstacle(QStringLiteral("Open a model first."));
        QVERIFY(!send()->isEnabled());
        QCOMPARE(send()->toolTip(), QStringLiteral("Open a model first."));
        QTest::keyClick(field(), Qt::Key_Return);
        QCOMPARE(sent.count(), 0);
        QCOMPARE(m_bar->text(), QStringLiteral("words"));
        QCOMPARE(QToolTip::text(), QStringLiteral("Open a model first.")); // Enter is answered
        m_bar->setObstacle({});
        QVERIFY(send()->isEnabled());
    }

    /// Once the message is sent, the field is empty, and Send is disabled before it is hidden.
    void sendThatIsDisabledGivesTheKeyboardBackToTheText() {
        m_bar->setText(QStringLiteral("words"));
        QTest::mouseClick(send(), Qt::LeftButton);
        send()->setFocus();
        QVERIFY(send()->hasFocus());
        m_bar->setObstacle(QStringLiteral("The message is empty."));
        QVERIFY(field()->hasFocus());
        m_bar->setAnswering(true);
        QVERIFY(field()->hasFocus());
    }

    void theGaugeTurnsAmberAndRed() {
        QCOMPARE(barColour(100, 1000), m_theme.colours().muted);
        QCOMPARE(barColour(749, 1000), m_theme.colours().muted);
        QCOMPARE(barColour(750, 1000), m_theme.colours().warning);
        QCOMPARE(barColour(899, 1000), m_theme.colours().warning);
        QCOMPARE(barColour(900, 1000), m_theme.colours().error);
        QCOMPARE(barColour(2000, 1000), m_theme.colours().error);
    }

    void theGaugeNeverCutsItsNumbers() {
        ContextGauge& gauge = m_bar->gauge();
        gauge.show(384, 8192);
        const QFontMetrics metrics(m_theme.font(TextRole::Figure));
        QVERIFY(gauge.minimumSizeHint().width() >=
                metrics.horizontalAdvance(QStringLiteral("4 %")));
        // Too narrow for "384 / 8,192": the share is drawn, and nothing reaches the right edge.
        gauge.resize(metrics.horizontalAdvance(QStringLiteral("384 / 8,1")), gauge.height());
        const QImage drawn = gauge.grab().toImage();
        for (int y = 0; y < drawn.height(); ++y)
            QCOMPARE(drawn.pixelColor(drawn.width() - 1, y),
                     drawn.pixelColor(drawn.width() - 1, 0));
    }

    void theGaugeIsReadAndHidesWithoutAContext() {
        ContextGauge& gauge = m_bar->gauge();
        gauge.show(1234, 8192);
        QVERIFY(gauge.isVisible());
        QCOMPARE(gauge.accessibleDescription(), QStringLiteral("1,234 / 8,192 context"));
        gauge.show(0, 0);
        QVERIFY(!gauge.isVisible());
    }

    void everythingHasAName() {
        QCOMPARE(namelessWidgets(*m_bar).join(QLatin1Char('\n')), QString());
    }
};

QTEST_MAIN(InputBarTest)
#include "input_bar_test.moc"
