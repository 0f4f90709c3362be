// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/stored_messages.h"
#include "ui/views/chat/messages/conversation_view.h"

#include <QScrollBar>
#include <QTest>

using namespace support;
using namespace ui;

/// Chats of thousands of messages: only those around the ones that are read are laid out.
class LongConversationTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    std::unique_ptr<ConversationView> m_view;

    /// Lays out everything that waits.
    static void settle() {
        for (int i = 0; i < 6; ++i)
            QCoreApplication::processEvents();
    }

    QAbstractButton* button(const char* name) const {
        return buttonNamed(*m_view, QLatin1String(name));
    }

    /// A question more at the end of the chat.
    static void append(Chat& chat) {
        StoredMessage message;
        message.id = chat.messages.last().id + 1;
        message.parentId = chat.messages.last().id;
        message.text = QStringLiteral("more");
        chat.messages.push_back(message);
        chat.record.leafId = message.id;
    }

    MessageId firstCard() const { return m_view->cards().front()->message().id; }

    MessageId lastCard() const { return m_view->cards().back()->message().id; }

private slots:

    void init() {
        m_view = std::make_unique<ConversationView>(m_theme);
        m_view->resize(700, 400);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get(), support::kPatienceMs));
    }

    void cleanup() { m_view.reset(); }

    void aMessageThatIsSoughtIsLaidOutWithItsNeighboursAlone() {
        const Chat chat = chatOf(1000);
        m_view->showChat(chat);
        settle();
        m_view->showMessage(101);
        settle();
        QCOMPARE(static_cast<qsizetype>(m_view->cards().size()), ConversationView::kMessagesShown);
        const MessageCard* card = m_view->card(101);
        QVERIFY(card != nullptr);
        const int top = card->mapTo(m_view->viewport(), QPoint()).y();
        QVERIFY2(top >= 0 && top < 20, qPrintable(QString::number(top)));
        QVERIFY(m_view->card(100) != nullptr && m_view->card(120) != nullptr);
        QVERIFY(!m_view->isAtEnd());
        QVERIFY(button("Show earlier messages")->isVisible());
        QVERIFY(button("Show later messages")->isVisible());
        QVERIFY(button("Go to the newest text")->isVisible());
    }

    void laterMessagesComeBelowWhatIsRead() {
        m_view->showChat(chatOf(1000));
        m_view->showMessage(101);
        settle();
        const MessageId read = lastCard();
        m_view->verticalScrollBar()->setValue(m_view->verticalScrollBar()->maximum());
        QVERIFY(!m_view->isAtEnd()); // of the chat
        button("Show later messages")->click();
        settle();
        QCOMPARE(lastCard(), read + ConversationView::kMessagesShown);
        const int top = m_view->card(read)->mapTo(m_view->viewport(), QPoint()).y();
        QVERIFY2(top >= 0 && top < 20, qPrintable(QString::number(top)));
    }

    void behindTheLastMessageThereIsNothingMore() {
        m_view->showChat(chatOf(60));
        m_view->showMessage(11);
        settle();
        QVERIFY(lastCard() < 120);
        while (button("Show later messages")->isVisible())
            button("Show later messages")->click();
        settle();
        QCOMPARE(lastCard(), MessageId(120));
        QCOMPARE(m_view->cards().size(), std::size_t(lastCard() - firstCard() + 1));
    }

    void theNewestTextIsOneClickAway() {
        m_view->showChat(chatOf(1000));
        m_view->showMessage(101);
        settle();
        button("Go to the newest text")->click();
        settle();
        QCOMPARE(lastCard(), MessageId(2000));
        QVERIFY(m_view->isAtEnd());
        QVERIFY(!button("Show later messages")->isVisible());
        QCOMPARE(m_view->verticalScrollBar()->value(), m_view->verticalScrollBar()->maximum());
    }

    void aNewMessageIsSeenWhereverTheReaderIs() {
        Chat chat = chatOf(1000);
        m_view->showChat(chat);
        m_view->showMessage(101);
        settle();
        append(chat);
        m_view->add(chat, chat.messages.last());
        settle();
        QCOMPARE(lastCard(), MessageId(2001));
        QVERIFY(m_view->isAtEnd());
    }

    void hoursOfMessagesDoNotPileUp() {
        Chat chat = chatOf(1);
        m_view->showChat(chat);
        for (int i = 0; i < 300; ++i) {
            append(chat);
            m_view->add(chat, chat.messages.last());
            QVERIFY(m_view->cards().size() <= ConversationView::kMostBeforeNew);
        }
        QCOMPARE(lastCard(), chat.record.leafId);
        m_view->hide();
        for (int i = 0; i < 300; ++i) {
            append(chat);
            m_view->add(chat, chat.messages.last());
        }
        m_view->show();
        QVERIFY(m_view->cards().size() <= ConversationView::kMostBeforeNew);
        QCOMPARE(lastCard(), chat.record.leafId);
    }

    void earlierMessagesComeAlsoOnceManyNewOnesCame() {
        Chat chat = chatOf(45);
        m_view->showChat(chat);
        for (int i = 0; i < 60; ++i) {
            append(chat);
            m_view->add(chat, chat.messages.last());
        }
        settle();
        const MessageId first = firstCard();
        QVERIFY(button("Show earlier messages")->isVisible());
        button("Show earlier messages")->click();
        QCOMPARE(firstCard(), first - ConversationView::kMessagesShown);
        QCOMPARE(lastCard(), chat.record.leafId);
    }
};

QTEST_MAIN(LongConversationTest)
#include "long_conversation_test.moc"
