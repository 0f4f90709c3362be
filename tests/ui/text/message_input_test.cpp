// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/text/message_samples.h"
#include "ui/origin/origin_legend.h"
#include "ui/origin/token_details.h"
#include "ui/text/blocks/code_copy_button.h"
#include "ui/text/message_body.h"

#include <QAccessible>
#include <QClipboard>
#include <QDesktopServices>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPixmap>
#include <QSignalSpy>
#include <QTest>

namespace {

using namespace ui;
using engine::TokenOrigin;

/// Counts the addresses that anything asks to open.
class OpenWatch : public QObject {
    Q_OBJECT

public:
    int opened = 0;

public slots:

    void open(const QUrl&) { ++opened; }
};

MessageSample threeWords() {
    MessageSample sample;
    sample.add(QStringLiteral("one"), TokenOrigin::Draft);
    sample.add(QStringLiteral("\n\n"), TokenOrigin::Draft); // swallowed
    sample.add(QStringLiteral("two"), TokenOrigin::Sibling);
    sample.add(QStringLiteral(" three"), TokenOrigin::Bonus);
    return sample;
}

class MessageInputTest : public QObject {
    Q_OBJECT

private:
    Theme m_theme;

    void show(MessageBody& body, const MessageSample& sample) {
        body.setMessage(sample.text, sample.tokens);
        body.resize(500, body.heightForWidth(500));
    }

    static void movePointer(MessageBody& body, QPoint to) {
        QMouseEvent move(QEvent::MouseMove,
                         to,
                         body.mapToGlobal(to),
                         Qt::NoButton,
                         Qt::NoButton,
                         Qt::NoModifier);
        QCoreApplication::sendEvent(&body, &move);
    }

private slots:

    void keysWalkThroughTheShownTokens() {
        MessageBody body(m_theme);
        body.setShowsOrigin(true);
        show(body, threeWords());
        QSignalSpy pinned(&body, &MessageBody::tokenPinned);
        QTest::keyClick(&body, Qt::Key_Right);
        QTest::keyClick(&body, Qt::Key_Right);
        QCOMPARE(body.pinnedToken(), 2); // token 1 shows nowhere
        QTest::keyClick(&body, Qt::Key_Left);
        QTest::keyClick(&body, Qt::Key_Left);
        QCOMPARE(body.pinnedToken(), 0);
        QTest::keyClick(&body, Qt::Key_Escape);
        QCOMPARE(body.pinnedToken(), -1);
        QCOMPARE(pinned.size(), 4);
    }

    void escapeIsLeftToOthersWhenNothingIsPinned() {
        MessageBody body(m_theme);
        body.setShowsOrigin(true);
        show(body, threeWords());
        QKeyEvent escape(QEvent::KeyPress, Qt::Key_Escape, Qt::NoModifier);
        QCoreApplication::sendEvent(&body, &escape);
        QVERIFY(!escape.isAccepted());
        body.setPinnedToken(0);
        QKeyEvent again(QEvent::KeyPress, Qt::Key_Escape, Qt::NoModifier);
        QCoreApplication::sendEvent(&body, &again);
        QVERIFY(again.isAccepted());
    }

    void thePointerPreviewsAndAClickPins() {
        MessageBody body(m_theme);
        body.setShowsOrigin(true);
        show(body, threeWords());
        QSignalSpy hovered(&body, &MessageBody::tokenHovered);
        movePointer(body, body.tokenRect(2).center());
        movePointer(body, body.tokenRect(2).center() + QPoint(1, 0));
        QCOMPARE(hovered.size(), 1);
        QCOMPARE(hovered[0][0].toInt(), 2);
        QTest::mouseClick(&body, Qt::LeftButton, {}, body.tokenRect(3).center());
        QCOMPARE(body.pinnedToken(), 3);
        QVERIFY(body.selectedText().isEmpty());
        body.setShowsOrigin(false);
        QCOMPARE(body.pinnedToken(), -1);
        QTest::mouseClick(&body, Qt::LeftButton, {}, body.tokenRect(3).center());
        QCOMPARE(body.pinnedToken(), -1);
    }

    void thePinnedTokenHasARing() {
        MessageBody body(m_theme);
        body.setShowsOrigin(true);
        show(body, threeWords());
        const QImage before = body.grab().toImage();
        body.setPinnedToken(3);
        const QImage after = body.grab().toImage();
        QVERIFY(before != after);
        const QRect ring = body.tokenRect(3);
        QCOMPARE(after.pixelColor(ring.center().x(), ring.top() - 1), m_theme.colours().focus);
    }

    void theFocusShowsWhenItComesByKey() {
        MessageBody body(m_theme);
        show(body, threeWords());
        const QImage before = body.grab().toImage();
        QFocusEvent byMouse(QEvent::FocusIn, Qt::MouseFocusReason);
        QCoreApplication::sendEvent(&body, &byMouse);
        QCOMPARE(body.grab().toImage(), before);
        QFocusEvent byKey(QEvent::FocusIn, Qt::TabFocusReason);
        QCoreApplication::sendEvent(&body, &byKey);
        QVERIFY(body.grab().toImage() != before);
    }

    void draggingSelectsAndCtrlCCopies() {
        MessageBody body(m_theme);
        show(body, threeWords());
        const QRect first = body.tokenRect(0);
        const QRect last = body.tokenRect(3);
        const QPoint from(first.left() + 1, first.center().y());
        const QPoint to(last.right() + 20, last.center().y());
        QTest::mousePress(&body, Qt::LeftButton, {}, from);
        QTest::mouseMove(&body, to);
        QTest::mouseRelease(&body, Qt::LeftButton, {}, to);
        QCOMPARE(body.selectedText(), QStringLiteral("one\n\ntwo three"));
        QTest::keyClick(&body, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("one\n\ntwo three"));
    }

    void aDoubleClickSelectsAWordAndShiftExtends() {
        MessageBody body(m_theme);
        show(body, threeWords());
        const QPoint inThree = body.tokenRect(3).center() + QPoint(6, 0);
        QTest::mouseDClick(&body, Qt::LeftButton, {}, inThree);
        QCOMPARE(body.selectedText(), QStringLiteral("three"));
        const QRect first = body.tokenRect(0);
        QTest::mouseClick(&body, Qt::LeftButton, {}, QPoint(first.left() + 1, first.center().y()));
        QTest::mouseClick(&body,
                          Qt::LeftButton,
                          Qt::ShiftModifier,
                          QPoint(first.right() + 1, first.center().y()));
        QCOMPARE(body.selectedText(), QStringLiteral("one"));
        QTest::keyClick(&body, Qt::Key_A, Qt::ControlModifier);
        QCOMPARE(body.selectedText(), body.plainText());
    }

    void aDoubleClickLeavesNoTokenPinned() {
        MessageBody body(m_theme);
        show(body, threeWords());
        body.setShowsOrigin(true);
        QSignalSpy pinned(&body, &MessageBody::tokenPinned);
        const QPoint place = body.tokenRect(3).center();
        QTest::mouseClick(&body, Qt::LeftButton, {}, place);
        QVERIFY(!pinned.isEmpty() && pinned.last().first().toInt() >= 0);
        QTest::mouseDClick(&body, Qt::LeftButton, {}, place);
        QCOMPARE(body.selectedText(), QStringLiteral("three"));
        QCOMPARE(pinned.last().first().toInt(), -1);
    }

    void codeHasACopyButtonWithAName() {
        MessageBody body(m_theme);
        MessageSample sample;
        sample.add(QStringLiteral("a\n\n```py\nx = 1\n\ny = 2\n```\n\nb"), TokenOrigin::Vanilla);
        show(body, sample);
        const auto buttons = body.findChildren<CodeCopyButton*>();
        QCOMPARE(buttons.size(), 1);
        QVERIFY(buttons[0]->accessibleName().contains(QStringLiteral("Python")));
        body.grab(); // gives the hidden widget its size
        QVERIFY(body.rect().contains(buttons[0]->geometry()));
        QTest::keyClick(buttons[0], Qt::Key_Space);
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("x = 1\n\ny = 2"));
        QVERIFY(buttons[0]->isCopied());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(buttons[0], &leave);
        QVERIFY(!buttons[0]->isCopied());
    }

    void linksAndPagesAreNeverOpened() {
        OpenWatch watch;
        for (const char* scheme : {"http", "file", "javascript"})
            QDesktopServices::setUrlHandler(QLatin1String(scheme), &watch, "open");
        MessageBody body(m_theme);
        MessageSample sample;
        sample.add(QStringLiteral("[press me](http://a.b)"), TokenOrigin::Draft);
        sample.add(QStringLiteral("\n\n![pic](file:///x.png)"), TokenOrigin::Draft);
        body.setShowsOrigin(true);
        show(body, sample);
        for (int token : {0, 1}) {
            QVERIFY(!body.tokenRect(token).isNull());
            QTest::mouseClick(&body, Qt::LeftButton, {}, body.tokenRect(token).center());
            QTest::mouseDClick(&body, Qt::LeftButton, {}, body.tokenRect(token).center());
        }
        QTest::keyClick(&body, Qt::Key_Return);
        QCOMPARE(watch.opened, 0);
        QCOMPARE(body.messageLayout().linkAt({3, 10}), QStringLiteral("http://a.b"));
        for (const char* scheme : {"http", "file", "javascript"})
            QDesktopServices::unsetUrlHandler(QLatin1String(scheme));
    }

    void screenReadersGetTheText() {
        MessageBody body(m_theme);
        show(body, threeWords());
        QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(&body);
        QVERIFY(accessible != nullptr);
        QAccessibleTextInterface* text = accessible->textInterface();
        QVERIFY(text != nullptr);
        QCOMPARE(text->text(0, text->characterCount()), QStringLiteral("one\n\ntwo three"));
        QVERIFY(!body.accessibleName().isEmpty());
        body.selectAll();
        int start = -1;
        int end = -1;
        text->selection(0, &start, &end);
        QCOMPARE(start, 0);
        QCOMPARE(end, text->characterCount());
    }

    void theHeightFollowsTheWidth() {
        MessageBody body(m_theme);
        MessageSample sample;
        sample.add(QStringLiteral("many words ").repeated(60), TokenOrigin::Vanilla);
        show(body, sample);
        body.grab();
        const int narrow = body.heightForWidth(250);
        QVERIFY(narrow > body.height());
        body.resize(250, narrow);
        body.grab(); // gives the hidden widget its size
        QCOMPARE(body.sizeHint().height(), narrow);
        body.resize(900, 900);
        body.setColumnWidth(238);
        QCOMPARE(body.sizeHint().height(), narrow);
    }

    void largerTextMakesTheMessageHigher() {
        Theme theme;
        MessageBody body(theme);
        show(body, threeWords());
        const int before = body.sizeHint().height();
        theme.setTextPercent(200);
        QVERIFY(body.sizeHint().height() > 3 * before / 2);
    }

    void aWholeMessageCanGoOn() {
        MessageBody body(m_theme);
        show(body, threeWords());
        QVERIFY(!body.isStreaming());
        body.append(QStringLiteral(" four"), {});
        QVERIFY(body.isStreaming());
        QCOMPARE(body.plainText(), QStringLiteral("one\n\ntwo three four"));
        QCOMPARE(body.tokens().size(), 4U);
        body.finish();
        QVERIFY(!body.isStreaming());
    }

    void aCaretStandsAtTheEndWhileStreaming() {
        MessageBody body(m_theme);
        body.append(QStringLiteral("text"), {});
        body.resize(500, body.heightForWidth(500));
        const QImage open = body.grab().toImage();
        body.finish();
        const QImage closed = body.grab().toImage();
        const QPoint caret(body.textInset() +
                               static_cast<int>(body.messageLayout().caretRect().left()) + 1,
                           body.height() / 2);
        QCOMPARE(open.pixelColor(caret), m_theme.colours().accent);
        QVERIFY(closed.pixelColor(caret) != m_theme.colours().accent);
    }

    void detailsTellWhatIsKnown() {
        TokenDetails details(m_theme);
        TokenMark token;
        token.origin = TokenOrigin::Sibling;
        token.rank = 1;
        token.draftProbability = 0.25;
        token.targetProbability = 0.5;
        token.step = 16;
        token.stepMs = 77.5;
        token.id = 4711;
        details.setToken(token, QStringLiteral("<b> a\n"));
        for (const char* words : {"<b>", "choice 2", "0.250", "0.500", "17", "77.5", "4711"})
            QVERIFY2(details.summary().contains(QLatin1String(words)), words);
        for (const QLabel* label : details.findChildren<QLabel*>())
            QCOMPARE(label->textFormat(), Qt::PlainText);
        QSignalSpy closed(&details, &TokenDetails::closeRequested);
        QTest::keyClick(&details, Qt::Key_Escape);
        QCOMPARE(closed.size(), 1);
    }

    void theLegendIsDrawnAndTold() {
        OriginLegend legend(m_theme);
        legend.resize(legend.sizeHint());
        const QImage picture = legend.grab().toImage();
        int tinted = 0;
        for (int x = 0; x < picture.width(); ++x)
            tinted += picture.pixelColor(x, 6) == m_theme.colours().accepted ? 1 : 0;
        QVERIFY(tinted > 60);
        QVERIFY(legend.accessibleDescription().contains(QStringLiteral("accepted")));
    }
};

} // namespace

QTEST_MAIN(MessageInputTest)
#include "message_input_test.moc"
