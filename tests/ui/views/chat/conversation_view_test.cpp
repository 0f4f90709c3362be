// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/stored_messages.h"
#include "ui/origin/token_details.h"
#include "ui/views/chat/messages/conversation_view.h"

#include <QAction>
#include <QMainWindow>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class ConversationViewTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    std::unique_ptr<QMainWindow> m_window;
    ConversationView* m_view = nullptr;
    int m_stopped = 0;

    QScrollBar& bar() const { return *m_view->verticalScrollBar(); }

    TokenDetails& details() const { return *m_view->findChild<TokenDetails*>(); }

    QAbstractButton* button(const char* name) const {
        return buttonNamed(*m_view, QLatin1String(name));
    }

    /// Lays out everything that waits.
    static void settle() {
        for (int i = 0; i < 6; ++i)
            QCoreApplication::processEvents();
    }

    void pin(const MessageCard& card, int token) {
        MessageBody& body = const_cast<MessageCard&>(card).body();
        QTest::mouseClick(&body, Qt::LeftButton, {}, body.tokenRect(token).center());
    }

private slots:

    void init() {
        m_window = std::make_unique<QMainWindow>();
        auto* stop = new QAction(m_window.get());
        stop->setShortcut(Qt::Key_Escape);
        m_stopped = 0;
        connect(stop, &QAction::triggered, this, [this] { ++m_stopped; });
        m_window->addAction(stop);
        m_view = new ConversationView(m_theme);
        m_window->setCentralWidget(m_view);
        m_window->resize(700, 400);
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get(), support::kPatienceMs));
    }

    void cleanup() { m_window.reset(); }

    void aMessageThatIsSoughtComesToTheTopAndTakesTheFocus() {
        const Chat chat = chatOf(60);
        m_view->showChat(chat);
        settle();
        const MessageId early = chat.messages[10].id;
        QVERIFY(m_view->card(early) == nullptr);
        for (const MessageId sought : {early, chat.messages[100].id}) {
            m_view->showMessage(sought);
            settle();
            MessageCard* card = m_view->card(sought);
            QVERIFY(card != nullptr);
            const int top = card->mapTo(m_view->viewport(), QPoint()).y();
            QVERIFY2(top >= 0 && top < 20, qPrintable(QString::number(top)));
            QVERIFY(card->body().hasFocus());
            QVERIFY(!m_view->isAtEnd());
        }
        m_view->showMessage(chat.messages.last().id);
        settle();
        QVERIFY(m_view->card(chat.messages.last().id)->body().hasFocus());
        m_view->showMessage(999);
        m_view->showChat(chat);
        settle();
        QVERIFY(m_view->isAtEnd());
    }

    void itBeginsAtTheEndAndFollowsTheText() {
        Chat chat = chatOf(10);
        m_view->showChat(chat);
        settle();
        QVERIFY(bar().maximum() > 0);
        QCOMPARE(bar().value(), bar().maximum());
        const int before = bar().maximum();
        growLast(chat, QStringLiteral("more words\n\n").repeated(20));
        m_view->noteGrown(chat.messages.last().id);
        m_view->flush(chat);
        settle();
        QVERIFY(bar().maximum() > before);
        QCOMPARE(bar().value(), bar().maximum());
        QVERIFY(!button("Go to the newest text")->isVisible());
    }

    void itYieldsToTheReaderAndComesBack() {
        Chat chat = chatOf(10);
        m_view->showChat(chat);
        settle();
        bar().setValue(bar().maximum() / 2);
        const int place = bar().value();
        QVERIFY(!m_view->isAtEnd());
        QVERIFY(button("Go to the newest text")->isVisible());
        growLast(chat, QStringLiteral("more words\n\n").repeated(20));
        m_view->noteGrown(chat.messages.last().id);
        m_view->flush(chat);
        settle();
        QCOMPARE(bar().value(), place);
        QTest::mouseClick(button("Go to the newest text"), Qt::LeftButton);
        QVERIFY(m_view->isAtEnd());
        growLast(chat, QStringLiteral("and more\n\n").repeated(20));
        m_view->noteGrown(chat.messages.last().id);
        m_view->flush(chat);
        settle();
        QCOMPARE(bar().value(), bar().maximum());
    }

    /// As when the chat or its branch changes.
    void wordsInAnEditorAreToldUntilItsCardIsRemovedAndThenSo() {
        const Chat chat = chatOf(2);
        m_view->showChat(chat);
        QSignalSpy typed(m_view, &ConversationView::editTyped);
        const QSignalSpy removed(m_view, &ConversationView::editsRemoved);
        const auto edit = [this] {
            buttonNamed(*m_view->card(1), QStringLiteral("Edit and send again"))->click();
        };
        edit();
        QCOMPARE(m_view->editedText(), QString());
        m_view->showChat(chat); // nothing was typed
        QCOMPARE(removed.count(), 0);
        edit();
        typed.clear();
        QTest::keyClicks(m_view->card(1)->findChild<QPlainTextEdit*>(), QStringLiteral("how?"));
        QVERIFY(typed.count() > 0);
        QCOMPARE(m_view->editedText(), QStringLiteral("how?"));
        m_view->showChat(chat);
        QCOMPARE(removed.count(), 1);
        QCOMPARE(m_view->editedText(), QString());
        edit();
        auto* editor = m_view->card(1)->findChild<QPlainTextEdit*>();
        QTest::keyClicks(editor, QStringLiteral("never mind"));
        QTest::keyClick(editor, Qt::Key_Escape);
        QCOMPARE(m_view->editedText(), QString());
        m_view->showChat(chat);
        QCOMPARE(removed.count(), 1);
    }

    void anEditedAnswerComesBackWithItsCard() {
        const Chat chat = chatOf(2);
        m_view->showChat(chat);
        const MessageId answer = chat.messages.last().id;
        const auto editor = [&] { return m_view->card(answer)->findChild<QPlainTextEdit*>(); };
        buttonNamed(*m_view->card(answer), QStringLiteral("Edit the answer in a new branch"))
            ->click();
        QTest::keyClicks(editor(), QStringLiteral("!"));
        const QString typed = editor()->toPlainText();
        const QSignalSpy told(m_view, &ConversationView::editTyped);
        m_view->showChat(chatOf(1));
        m_view->showChat(chat);
        QVERIFY(editor() != nullptr);
        QCOMPARE(editor()->toPlainText(), typed);
        QCOMPARE(told.count(), 0); // and no draft of the user's
        QTest::keyClick(editor(), Qt::Key_Escape);
        m_view->showChat(chat);
        QVERIFY(editor() == nullptr);
    }

    void onlyTheLastFortyMessagesAreLaidOut() {
        const Chat chat = chatOf(45);
        m_view->showChat(chat);
        settle();
        QCOMPARE(m_view->cards().size(), std::size_t(40));
        QCOMPARE(m_view->cards().front()->message().text, QStringLiteral("question 26"));
        QVERIFY(button("Show earlier messages")->isVisible());
        QTest::mouseClick(button("Show earlier messages"), Qt::LeftButton);
        QCOMPARE(m_view->cards().size(), std::size_t(80));
        QTest::mouseClick(button("Show earlier messages"), Qt::LeftButton);
        QCOMPARE(m_view->cards().size(), std::size_t(90));
        QVERIFY(!button("Show earlier messages")->isVisible());
        m_view->showChat(chatOf(2));
        QCOMPARE(m_view->cards().size(), std::size_t(4));
    }

    void earlierMessagesComeAboveWhatIsRead() {
        m_view->showChat(chatOf(45));
        settle();
        bar().setValue(0);
        MessageCard* read = m_view->card(51);
        const int y = read->mapTo(m_view, QPoint()).y();
        QTest::mouseClick(button("Show earlier messages"), Qt::LeftButton);
        settle();
        QCOMPARE(m_view->card(51)->mapTo(m_view, QPoint()).y(), y);
    }

    void earlierMessagesDoNotTakeTheNewestTextBack() {
        Chat chat = chatOf(45);
        StoredMessage answer = answerOf({});
        answer.id = 91;
        answer.parentId = 90;
        answer.state = MessageState::Streaming;
        chat.messages.push_back(answer);
        chat.record.leafId = 91;
        m_view->showChat(chat);
        m_view->add(chat, chat.messages.last());
        growLast(chat, QStringLiteral("streamed"));
        m_view->noteGrown(91);
        m_view->flush(chat);
        QTest::mouseClick(button("Show earlier messages"), Qt::LeftButton);
        QCOMPARE(m_view->card(91)->body().source(), QStringLiteral("streamed"));
        chat.messages.last().state = MessageState::Finished;
        growLast(chat, QStringLiteral(" and done"));
        m_view->finish(chat.messages.last());
        QTest::mouseClick(button("Show earlier messages"), Qt::LeftButton);
        QCOMPARE(m_view->card(91)->body().source(), QStringLiteral("streamed and done"));
        QVERIFY(!m_view->card(91)->body().isStreaming());
    }

    void nothingIsLaidOutWhileItIsHidden() {
        Chat chat = chatOf(1);
        m_view->showChat(chat);
        settle();
        const MessageLayout& first = m_view->card(2)->body().messageLayout();
        const std::int64_t laidOut = first.laidOutPieces();
        m_view->hide();
        StoredMessage answer = answerOf({});
        answer.id = 3;
        answer.parentId = 2;
        answer.state = MessageState::Streaming;
        chat.messages.push_back(answer);
        chat.record.leafId = 3;
        m_view->add(chat, chat.messages.last());
        QVERIFY(m_view->card(3) == nullptr);
        growLast(chat, QStringLiteral("streamed"));
        m_view->noteGrown(3);
        chat.messages.last().state = MessageState::Finished;
        m_view->finish(chat.messages.last());
        QVERIFY(m_view->card(3) == nullptr);
        QCOMPARE(first.laidOutPieces(), laidOut);
        m_view->show();
        QCOMPARE(m_view->cards().size(), std::size_t(3));
        QCOMPARE(m_view->card(3)->body().source(), QStringLiteral("streamed"));
        QVERIFY(!m_view->card(3)->body().isStreaming());
        QCOMPARE(first.laidOutPieces(), laidOut); // what was there stays as it is
    }

    void anAnswerThatGrowsLeavesTheLinesOfOtherMessagesAlone() {
        Chat chat = chatOf(30); // far higher than the view
        m_view->showChat(chat);
        settle();
        chat.messages.last().state = MessageState::Streaming;
        const MessageId id = chat.messages.last().id;
        const MessageLayout& other = m_view->cards().front()->body().messageLayout();
        const MessageLayout& own = m_view->card(id)->body().messageLayout();
        growLast(chat, QStringLiteral("\n\nA paragraph more."));
        m_view->noteGrown(id);
        m_view->flush(chat);
        settle(); // each width has been asked for once
        const std::int64_t laidOut = other.laidOutPieces();
        const std::int64_t before = own.laidOutPieces();
        constexpr int kTimes = 30;
        for (int i = 0; i < kTimes; ++i) {
            growLast(chat, QStringLiteral(" some words that begin a new line now and then"));
            m_view->noteGrown(id);
            m_view->flush(chat);
            settle();
        }
        QCOMPARE(other.laidOutPieces(), laidOut);
        QVERIFY2(own.laidOutPieces() - before <= 2 * kTimes,
                 qPrintable(QString::number(own.laidOutPieces() - before)));
        QVERIFY(m_view->isAtEnd());
    }

    void theScrollBarKeepsItsPlaceAndHasAHandleOnlyWhereThereIsSomethingToScroll() {
        m_view->showChat(chatOf(1));
        settle();
        const int width = m_view->viewport()->width();
        QVERIFY(!bar().isEnabled());
        m_view->showChat(chatOf(30));
        settle();
        QVERIFY(bar().isEnabled());
        QCOMPARE(m_view->viewport()->width(), width);
    }

    void anAnswerThatEndsWhileItIsHiddenIsWholeWhenShown() {
        Chat chat = chatOf(1);
        chat.messages.last().state = MessageState::Streaming;
        m_view->showChat(chat);
        settle();
        const QString before = m_view->card(2)->body().source();
        m_view->hide();
        growLast(chat, QStringLiteral(" to its end"));
        chat.messages.last().state = MessageState::Finished;
        m_view->finish(chat.messages.last());
        QCOMPARE(m_view->card(2)->body().source(), before);
        m_view->show();
        QCOMPARE(m_view->card(2)->body().source(), before + QStringLiteral(" to its end"));
        QVERIFY(!m_view->card(2)->body().isStreaming());
    }

    void aChatThatComesWhileItIsHiddenIsShownLater() {
        m_view->hide();
        m_view->showChat(chatOf(10));
        QCOMPARE(m_view->cards().size(), std::size_t(0));
        m_view->show();
        settle();
        QCOMPARE(m_view->cards().size(), std::size_t(20));
        QCOMPARE(bar().value(), bar().maximum());
    }

    void hoveringShowsDetailsAndLeavingHidesThem() {
        m_view->showChat(chatOf(1));
        settle();
        MessageCard* card = m_view->card(2);
        QSignalSpy chosen(m_view, &ConversationView::tokenChosen);
        emit card->body().tokenHovered(1, {});
        QVERIFY(details().isVisible());
        QVERIFY(!details().isPinned());
        QVERIFY(details().summary().contains(QStringLiteral("b")));
        QCOMPARE(chosen.last()[1].toInt(), 1);
        QVERIFY(m_view->rect().contains(details().geometry()));
        emit card->body().tokenHovered(-1, {});
        QVERIFY(!details().isVisible());
        QCOMPARE(chosen.last()[1].toInt(), -1);
    }

    void detailsAreWholeWhereNeitherSideHasRoom() {
        m_view->showChat(chatOf(1));
        settle();
        MessageBody& body = m_view->card(2)->body();
        emit body.tokenHovered(1, {});
        m_window->resize(700, details().height() + 40);
        settle();
        emit body.tokenHovered(-1, {});
        emit body.tokenHovered(1, {});
        QVERIFY(details().isVisible());
        QVERIFY(m_view->rect().contains(details().geometry()));
        const QRect token = body.tokenRect(1);
        const QRect inView(body.mapTo(m_view, token.topLeft()), token.size());
        QVERIFY(m_view->rect().intersects(inView));
        QVERIFY(!details().geometry().intersects(inView));
    }

    void aClickPinsDetailsUntilEscape() {
        m_view->showChat(chatOf(1));
        settle();
        MessageCard* card = m_view->card(2);
        pin(*card, 0);
        QVERIFY(details().isPinned());
        emit card->body().tokenHovered(1, {});
        QVERIFY(details().isPinned());
        QTest::keyClick(&card->body(), Qt::Key_Escape);
        QVERIFY(!details().isVisible());
        QCOMPARE(card->body().pinnedToken(), -1);
        QCOMPARE(m_stopped, 0);
    }

    void escapeInTheDetailsLetsTheTokenGoAndStopsNothing() {
        m_view->showChat(chatOf(1));
        settle();
        MessageCard* card = m_view->card(2);
        pin(*card, 0);
        QTest::keyClick(&details(), Qt::Key_Escape);
        QVERIFY(!details().isVisible());
        QCOMPARE(card->body().pinnedToken(), -1);
        QCOMPARE(m_stopped, 0);
    }

    void oneTokenIsPinnedAtATime() {
        m_view->showChat(chatOf(2));
        settle();
        pin(*m_view->card(4), 0);
        pin(*m_view->card(2), 1);
        QCOMPARE(m_view->card(4)->body().pinnedToken(), -1);
        QCOMPARE(m_view->card(2)->body().pinnedToken(), 1);
        QVERIFY(details().isVisible());
    }

    void pinnedDetailsStayAtTheirToken() {
        m_view->showChat(chatOf(10));
        settle();
        MessageCard* card = m_view->card(18);
        bar().setValue(card->y());
        settle();
        pin(*card, 0);
        const auto distance = [&] {
            return details().mapTo(m_view, QPoint()).y() -
                   card->body().mapTo(m_view, card->body().tokenRect(0).topLeft()).y();
        };
        const int before = distance();
        bar().setValue(bar().value() - 20);
        QVERIFY(details().isVisible());
        QCOMPARE(distance(), before);
    }

    void aPinnedTokenOffersWhatElseWasLikely() {
        Chat chat = chatOf(1);
        StoredMessage& last = chat.messages.last();
        last.tokens[1].choices = {{last.tokens[1].id, "b", 0.6}, {77, "\u2423z", 0.3}};
        m_view->showChat(chat);
        settle();
        QSignalSpy branch(m_view, &ConversationView::tokenBranchAsked);
        pin(*m_view->cards().back(), 1);
        QVERIFY(details().isPinned());
        QAbstractButton* own = button("b, the token itself, probability 0.600");
        QAbstractButton* other =
            buttonNamed(details(), QStringLiteral("Branch here with \u2423z, probability 0.300"));
        QVERIFY(!own->isEnabled());
        QVERIFY(own->height() >= own->fontMetrics().height());
        QVERIFY(other->geometry().top() > own->geometry().bottom());
        QVERIFY(details().rect().contains(other->geometry()));
        other->setFocus();
        other->click();
        QVERIFY(m_view->isAncestorOf(QApplication::focusWidget()));
        m_view->showChat(chat);
        QVERIFY(m_view->hasFocus());
        settle();
        QCOMPARE(branch.count(), 1);
        QCOMPARE(branch[0][0].toLongLong(), last.id);
        QCOMPARE(branch[0][1].toInt(), 1);
        QVERIFY(!details().isVisible());
        m_view->setBusy(true, false);
        pin(*m_view->cards().back(), 1);
        for (const auto* choice : details().findChildren<QAbstractButton*>())
            QVERIFY(!choice->isEnabled());
    }

    void theColumnFollowsTheTextSize() {
        m_view->showChat(chatOf(1));
        m_theme.setTextPercent(Theme::kSmallestPercent);
        settle();
        const int width = m_view->card(2)->width();
        const int expected = m_theme.scaled(728);
        m_theme.setTextPercent(100);
        QCOMPARE(width, expected);
    }

    void hidingTheOriginHidesDetails() {
        m_view->showChat(chatOf(1));
        settle();
        pin(*m_view->card(2), 0);
        m_view->setShowsOrigin(false);
        QVERIFY(!details().isVisible());
        QVERIFY(!m_view->card(2)->body().showsOrigin());
        m_view->setShowsOrigin(true);
        QVERIFY(m_view->card(2)->body().showsOrigin());
        QVERIFY(!m_view->card(1)->body().showsOrigin());
    }

    void cardsTellWhatIsAskedOfThem() {
        m_view->showChat(chatOf(1));
        QSignalSpy copied(m_view, &ConversationView::copyAsked);
        QSignalSpy again(m_view, &ConversationView::regenerateAsked);
        QSignalSpy branched(m_view, &ConversationView::branchAsked);
        const MessageCard& card = *m_view->card(2);
        buttonNamed(card, QStringLiteral("Copy the text"))->click();
        buttonNamed(card, QStringLiteral("Answer again, with a new seed (Ctrl+R)"))->click();
        buttonNamed(card, QStringLiteral("Continue from here in a new chat"))->click();
        QCOMPARE(copied[0][0].toLongLong(), 2);
        QCOMPARE(again[0][0].toLongLong(), 2);
        QCOMPARE(branched[0][0].toLongLong(), 2);
        m_view->setBusy(true, false);
        QVERIFY(
            !buttonNamed(card, QStringLiteral("Continue from here in a new chat"))->isEnabled());
        QVERIFY(buttonNamed(card, QStringLiteral("Copy the text"))->isEnabled());
    }
};

QTEST_MAIN(ConversationViewTest)
#include "conversation_view_test.moc"
