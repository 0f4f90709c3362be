// SPDX-License-Identifier: GPL-3.0-only
// A chat paints what is new and moves the rest of its picture.
#include "tests/ui/support/stored_messages.h"
#include "ui/views/chat/messages/conversation_view.h"

#include <QLabel>
#include <QMainWindow>
#include <QPaintEvent>
#include <QScreen>
#include <QScrollBar>
#include <QTest>
#include <QVBoxLayout>

using namespace engine;
using namespace support;
using namespace ui;

/// Adds up the heights of what is painted.
class PaintWatch : public QObject {
public:
    using QObject::QObject;

    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Paint)
            pixels += static_cast<QPaintEvent*>(event)->rect().height();
        return false;
    }

    int pixels = 0;
};

class ConversationPaintingTest : public QObject {
    Q_OBJECT

    QScrollBar& bar() const { return *m_view->verticalScrollBar(); }

    /// Lays out everything that waits.
    static void settle() {
        for (int i = 0; i < 6; ++i)
            QCoreApplication::processEvents();
    }

    /// The last message of the chat is written on by some words, and shown.
    void grow(Chat& chat, const QString& words) const {
        growLast(chat, words);
        m_view->noteGrown(chat.messages.last().id);
        m_view->flush(chat);
    }

    QImage pictureOnScreen() const {
        return m_window->screen()
            ->grabWindow(m_window->winId())
            .toImage()
            .convertToFormat(QImage::Format_RGB32);
    }

    QImage pictureMadeAnew() const {
        return m_window->grab().toImage().convertToFormat(QImage::Format_RGB32);
    }

private slots:

    void init() {
        m_window = std::make_unique<QMainWindow>();
        m_view = new ConversationView(m_theme);
        m_window->setCentralWidget(m_view);
        m_window->resize(700, 400);
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get(), support::kPatienceMs));
    }

    void cleanup() { m_window.reset(); }

    void aNewLineMovesWhatIsPaintedAndOnlyItselfIsPainted() {
        Chat chat = chatOf(10);
        chat.messages.last().state = MessageState::Streaming;
        m_view->showChat(chat);
        const MessageId last = chat.messages.last().id;
        grow(chat, QStringLiteral("Words of a long answer. ").repeated(60));
        settle();
        PaintWatch watch;
        m_view->card(last)->body().installEventFilter(&watch);
        for (int i = 0; i < 40; ++i) {
            const int before = bar().maximum();
            watch.pixels = 0;
            grow(chat, QStringLiteral("and a few more words "));
            settle();
            QTRY_VERIFY(watch.pixels > 0);
            QVERIFY(bar().value() == bar().maximum());
            const int grown = bar().maximum() - before;
            if (i > 0) // the first picture may be whole
                QVERIFY2(watch.pixels <= 3 * 30 + grown, qPrintable(QString::number(watch.pixels)));
        }
        QCOMPARE(pictureOnScreen(), pictureMadeAnew());
    }

    void aWindowOfAnotherSizeIsPaintedWhole() {
        Chat chat = chatOf(10);
        chat.messages.last().state = MessageState::Streaming;
        m_view->showChat(chat);
        for (const QSize size : {QSize(900, 500), QSize(420, 520), QSize(1000, 300)}) {
            grow(chat, QStringLiteral("and some more words ").repeated(9));
            m_window->resize(size);
            settle();
            QTRY_COMPARE(pictureOnScreen(), pictureMadeAnew());
            grow(chat, QStringLiteral("behind another width ").repeated(9));
            m_view->setShowsOrigin(size.width() > size.height());
            bar().setValue(bar().maximum() / 2);
            settle();
            QTRY_COMPARE(pictureOnScreen(), pictureMadeAnew());
            bar().setValue(bar().maximum());
        }
    }

    void aNoticeThatComesAboveItLeavesNothingBehind() {
        auto* page = new QWidget;
        auto* rows = new QVBoxLayout(page);
        auto* notice = new QFrame;
        notice->setAutoFillBackground(true);
        notice->setPalette(QPalette(Qt::cyan));
        auto* words = new QLabel(QStringLiteral("What is seen here. ").repeated(12), notice);
        words->setWordWrap(true);
        (new QVBoxLayout(notice))->addWidget(words);
        notice->hide();
        rows->addWidget(notice);
        rows->addWidget(m_window->takeCentralWidget());
        m_window->setCentralWidget(page);
        Chat chat = chatOf(10);
        chat.messages.last().state = MessageState::Streaming;
        m_view->showChat(chat);
        settle();
        for (int i = 0; i < 10; ++i) {
            grow(chat, QStringLiteral("and some more words ").repeated(7));
            if (i % 2 == 0) {
                notice->setVisible(!notice->isVisible());
                chat.messages.last().state = MessageState::Finished;
                m_view->finish(chat.messages.last());
            }
            settle();
            QTRY_COMPARE(pictureOnScreen(), pictureMadeAnew());
        }
    }

private:
    Theme m_theme;
    std::unique_ptr<QMainWindow> m_window;
    ConversationView* m_view = nullptr;
};

QTEST_MAIN(ConversationPaintingTest)
#include "conversation_painting_test.moc"
