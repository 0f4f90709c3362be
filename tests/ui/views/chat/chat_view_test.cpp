// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/views/chat/chat_view_stage.h"
#include "ui/views/chat/attachment_row.h"
#include "ui/views/chat/panels/context_panel.h"
#include "ui/views/chat/panels/start_panel.h"

#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QMimeData>
#include <QSignalSpy>
#include <QSpinBox>
#include <QToolButton>

using namespace engine;
using namespace support;
using namespace ui;

class ChatViewTest : public QObject, ChatViewStage {
    Q_OBJECT

private slots:

    void init() { open(); }

    void cleanup() { close(); }

    void anEmptyChatOffersExamplesThatSend() {
        auto* start = m_view->findChild<StartPanel*>();
        QVERIFY(start->isVisible());
        QAbstractButton* example = start->findChild<QAbstractButton*>();
        QVERIFY(!example->isEnabled());
        m_chat->loadModel();
        QVERIFY(example->isEnabled());
        QTest::mouseClick(example, Qt::LeftButton);
        m_chat->count();
        QVERIFY(!start->isVisible() && field()->hasFocus());
        const auto* prompt = m_chat->engine->lastSent<SubmitPrompt>();
        QVERIFY(example->accessibleName().endsWith(
            QString::fromStdString(prompt->messages.back().content)));
    }

    void aTypedMessageIsSentAndItsAnswerStreams() {
        m_chat->loadModel();
        type("count");
        QCOMPARE(m_view->input().text(), QString());
        m_chat->count();
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, "one", 20.0));
        m_chat->bridge->tick();
        QCOMPARE(lastCard().message().text, QStringLiteral("one"));
        QVERIFY(button("Stop")->isVisible());
        QVERIFY(!button("Send")->isVisible());
        m_chat->engine->say(
            draftStep(m_chat->promptId(), 1, {" two", " three", " wrong"}, 2, " four"));
        m_chat->bridge->tick();
        m_chat->finish();
        QCOMPARE(lastCard().message().text, QStringLiteral("one two three four"));
        QVERIFY(button("Send")->isVisible());
        QVERIFY(!lastCard().message().figures.finishReason.isEmpty());
    }

    void countsInTheFooterEqualTheEventsAndTheColouredTokens() {
        m_chat->loadModel();
        converse("count");
        const StoredMessage& message = lastCard().message();
        const OriginCounts counts = countOrigins(message);
        QCOMPARE(counts.vanilla, 1);
        QCOMPARE(counts.accepted, 2);
        QCOMPARE(counts.bonus, 1);
        QCOMPARE(message.figures.acceptedTokens, qint64(counts.accepted));
        QCOMPARE(message.figures.draftSteps, 3);
        QVERIFY(figuresText(message, m_theme.colours()).contains(QStringLiteral("2/3")));
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), std::size_t(4));
        int accepted = 0;
        for (const QStringList& row : table.rows) {
            QCOMPARE(row.size(), table.header.size());
            accepted += row[2] == QStringLiteral("draft") ? 1 : 0;
        }
        QCOMPARE(accepted, counts.accepted);
    }

    void itsTableCountsAsTheDetailsOfATokenDo() {
        m_chat->loadModel();
        converse("count");
        const MessageId whole = lastCard().message().id;
        const auto rows = [this] { return m_view->table().rows; };
        for (const int column : {3, 4})             // rank and probability in the draft
            QCOMPARE(rows()[0][column], QString()); // not drafted
        QCOMPARE(rows()[1][3], QStringLiteral("1"));
        QVERIFY(!rows()[1][4].isEmpty());
        QCOMPARE(rows()[0][6], QStringLiteral("1"));
        QCOMPARE(rows()[3][6], QStringLiteral("2"));
        m_chat->session->branchAt(whole, 1, {40, "uno", 0.05});
        m_chat->count();
        for (const int column : {2, 6})             // origin and step
            QCOMPARE(rows()[1][column], QString()); // chosen by the user
    }

    void theColumnFollowsTheTextSize() {
        m_theme.setTextPercent(Theme::kSmallestPercent);
        for (int turn = 0; turn < 6; ++turn)
            QCoreApplication::processEvents();
        const int width = m_view->input().width();
        const int expected = m_theme.scaled(728);
        m_theme.setTextPercent(100);
        QCOMPARE(width, expected);
    }

    void aHiddenChatDrawsNothingAndShowsEverythingLater() {
        m_chat->loadModel();
        type("count");
        m_chat->count();
        m_view->hide();
        const int before = m_view->refreshCount();
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, "one", 20.0));
        m_chat->bridge->tick();
        QCOMPARE(m_view->refreshCount(), before);
        m_view->show();
        m_chat->bridge->tick();
        QCOMPARE(lastCard().message().text, QStringLiteral("one"));
    }

    void stopStopsAndKeepsWhatIsThere() {
        m_chat->loadModel();
        type("stop");
        m_chat->count();
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, "some", 20.0));
        m_chat->bridge->tick();
        QTest::mouseClick(button("Stop"), Qt::LeftButton);
        QVERIFY(m_chat->engine->lastSent<StopGeneration>() != nullptr);
        m_chat->finish(FinishReason::Cancelled);
        QCOMPARE(lastCard().message().text, QStringLiteral("some"));
        QVERIFY(figuresText(lastCard().message(), m_theme.colours())
                    .endsWith(QStringLiteral("stopped")));
    }

    void regeneratingMakesABranchThatCanBeWalked() {
        m_chat->loadModel();
        converse("again");
        buttonNamed(lastCard(), QStringLiteral("Answer again, with a new seed (Ctrl+R)"))->click();
        m_chat->count();
        m_chat->answer();
        QCOMPARE(m_view->conversation().cards().size(), std::size_t(2));
        const MessageId second = lastCard().message().id;
        buttonNamed(lastCard(), QStringLiteral("Show the previous version"))->click();
        QVERIFY(lastCard().message().id != second);
        buttonNamed(lastCard(), QStringLiteral("Show the next version"))->click();
        QCOMPARE(lastCard().message().id, second);
    }

    void askingAgainTwiceAtOnceAsksOnce() {
        m_chat->loadModel();
        converse("first");
        converse("second");
        const auto sent = m_chat->engine->sent.size();
        m_view->regenerateLast();
        const auto once = m_chat->engine->sent.size();
        QVERIFY(once > sent);
        m_view->regenerateLast();
        QCOMPARE(m_chat->engine->sent.size(), once);
        m_chat->count();
        m_chat->answer();
        QCOMPARE(m_view->conversation().cards().size(), std::size_t(4));
    }

    void withoutAModelNothingIsAskedAgain() {
        m_chat->loadModel();
        converse("first");
        const QAbstractButton* again =
            buttonNamed(lastCard(), QStringLiteral("Answer again, with a new seed (Ctrl+R)"));
        QVERIFY(again->isEnabled());
        m_chat->engine->say(ModelUnloaded{});
        m_chat->bridge->tick();
        QVERIFY(!again->isEnabled());
        const auto sent = m_chat->engine->sent.size();
        m_view->regenerateLast();
        QCOMPARE(m_chat->engine->sent.size(), sent);
        QCOMPARE(m_view->conversation().cards().size(), std::size_t(2));
    }

    /// Branches that are made then would be refused.
    void whileAQuestionIsOnItsWayNoBranchIsOffered() {
        m_chat->loadModel();
        converse("first");
        const QAbstractButton* edit =
            buttonNamed(lastCard(), QStringLiteral("Edit the answer in a new branch"));
        QVERIFY(edit->isEnabled());
        type("second"); // whose answer has not begun
        QVERIFY(!edit->isEnabled());
        m_chat->count();
        m_chat->answer();
        QVERIFY(edit->isEnabled());
    }

    void duringASearchNothingIsAskedAgain() {
        m_chat->loadModel();
        converse("first");
        const QAbstractButton* again =
            buttonNamed(lastCard(), QStringLiteral("Answer again, with a new seed (Ctrl+R)"));
        m_chat->engine->say(promptStarted(kFirstHiddenPrompt));
        m_chat->bridge->tick();
        QVERIFY(!again->isEnabled());
        QVERIFY(buttonNamed(lastCard(), QStringLiteral("Edit the answer in a new branch"))
                    ->isEnabled());
        m_chat->engine->say(promptFinished(kFirstHiddenPrompt));
        m_chat->bridge->tick();
        QVERIFY(again->isEnabled());
    }

    void aQuestionWithoutAnAnswerIsAskedAgainNotTheOneBefore() {
        m_chat->loadModel();
        converse("first");
        type("second");
        m_chat->session->stop();
        m_chat->engine->sent.clear();
        m_view->regenerateLast();
        const auto* prompt = m_chat->engine->lastSent<SubmitPrompt>();
        QVERIFY(prompt != nullptr);
        QCOMPARE(prompt->messages.back().content, std::string("second"));
        QCOMPARE(m_view->conversation().cards().size(), std::size_t(3));
    }

    void anEditedMessageIsSentAsABranch() {
        m_chat->loadModel();
        converse("frist");
        const MessageCard& card = *m_view->conversation().cards().front();
        buttonNamed(card, QStringLiteral("Edit and send again"))->click();
        auto* editor = card.findChild<QPlainTextEdit*>();
        QTest::keyClicks(editor, QStringLiteral("first"));
        QTest::keyClick(editor, Qt::Key_Return);
        m_chat->count();
        m_chat->answer();
        const auto& cards = m_view->conversation().cards();
        QCOMPARE(cards.front()->message().text, QStringLiteral("first"));
        QCOMPARE(cards.size(), std::size_t(2));
        QVERIFY(buttonNamed(*cards.front(), QStringLiteral("Show the previous version")) !=
                nullptr);
    }

    void aBranchGoesOnInAChatOfItsOwn() {
        m_chat->loadModel();
        converse("one");
        converse("two");
        const ChatId old = m_chat->session->chat().record.id;
        buttonNamed(*m_view->conversation().cards()[1],
                    QStringLiteral("Continue from here in a new chat"))
            ->click();
        QVERIFY(m_chat->session->chat().record.id != old);
        QCOMPARE(m_view->conversation().cards().size(), std::size_t(2));
    }

    void messagesAreCopiedWithoutMarks() {
        m_chat->loadModel();
        converse("copy me");
        m_view->copyLastAnswer();
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("one two three four"));
        buttonNamed(*m_view->conversation().cards().front(), QStringLiteral("Copy the text"))
            ->click();
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("copy me"));
    }

    void theOriginIsShownAndHidden() {
        m_chat->loadModel();
        converse("origin");
        QSignalSpy toggled(m_view.get(), &ChatView::originToggled);
        auto& body = const_cast<MessageCard&>(lastCard()).body();
        QVERIFY(body.showsOrigin());
        const QImage marked = body.grab().toImage();
        QTest::mouseClick(button("Show origin"), Qt::LeftButton);
        QVERIFY(!m_view->showsOrigin());
        QVERIFY(!body.showsOrigin());
        QVERIFY(body.grab().toImage() != marked);
        QCOMPARE(toggled.count(), 1);
        m_view->setShowsOrigin(true);
        QVERIFY(button("Show origin")->isChecked());
        QCOMPARE(body.grab().toImage(), marked);
    }

    void theGaugeFollowsTheStatistics() {
        m_chat->loadModel();
        ContextGauge& gauge = m_view->input().gauge();
        converse("gauge");
        Statistics statistics;
        statistics.contextUsed = 812;
        statistics.contextLength = 1000;
        m_chat->engine->say(statistics);
        m_chat->bridge->tick();
        QVERIFY(gauge.isVisible());
        QCOMPARE(gauge.accessibleDescription(), QStringLiteral("812 / 1,000 context"));
        m_chat->session->newChat();
        QCOMPARE(gauge.accessibleDescription(), QStringLiteral("0 / 1,000 context"));
    }

    void theGaugeCountsWhatIsTypedAndWhatIsReopened() {
        m_chat->loadModel();
        ContextGauge& gauge = m_view->input().gauge();
        field()->setPlainText(QStringLiteral("a long text that was pasted"));
        QTRY_VERIFY(m_chat->engine->lastSent<CountTokens>() != nullptr);
        QCOMPARE(m_chat->engine->lastSent<CountTokens>()->messages.back().content,
                 std::string("a long text that was pasted"));
        m_chat->count(120);
        QCOMPARE(gauge.accessibleDescription(), QStringLiteral("120 / 1,000 context"));
        QVERIFY(m_chat->engine->lastSent<SubmitPrompt>() == nullptr); // only counted
        field()->clear();
        converse("gauge");
        const ChatId id = m_chat->session->chat().record.id;
        m_chat->session->newChat();
        m_chat->engine->sent.clear();
        m_chat->session->openChat(id);
        QTRY_VERIFY(m_chat->engine->lastSent<CountTokens>() != nullptr);
        QCOMPARE(m_chat->engine->lastSent<CountTokens>()->messages.size(), std::size_t{2});
        m_chat->count(7);
        QCOMPARE(gauge.accessibleDescription(), QStringLiteral("14 / 1,000 context"));
    }

    void aLongPromptTellsHowFarItIsRead() {
        m_chat->loadModel(20000);
        type("read all of this");
        m_chat->count(4000);
        m_chat->engine->time = 10.0;
        m_chat->engine->say(promptStarted(m_chat->promptId(), 4000));
        m_chat->engine->time += 1.98;
        m_chat->engine->say(PromptProgress{m_chat->promptId(), 0.25});
        m_chat->bridge->tick();
        const auto* figures = lastCard().findChild<FiguresLine*>();
        QVERIFY2(figures->text().contains(
                     QStringLiteral("Reading the prompt: 1,000 of 4,000 tokens, about 6 s left")),
                 qPrintable(figures->text()));
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, "some", 20.0));
        m_chat->bridge->tick();
        QVERIFY(!figures->text().contains(QStringLiteral("Reading")));
    }

    void theKeyboardGoesBackToTheMessageBehindAnEdit_data() {
        QTest::addColumn<int>("key");
        QTest::newRow("sent") << static_cast<int>(Qt::Key_Return);
        QTest::newRow("given up") << static_cast<int>(Qt::Key_Escape);
    }

    void theKeyboardGoesBackToTheMessageBehindAnEdit() {
        QFETCH(int, key);
        m_chat->loadModel();
        converse("first words");
        MessageCard* card = m_view->conversation().cards().front();
        buttonNamed(*card, QStringLiteral("Edit and send again"))->click();
        auto* editor = card->findChild<QPlainTextEdit*>();
        QVERIFY(editor->hasFocus());
        QTest::keyClick(editor, static_cast<Qt::Key>(key));
        QVERIFY(field()->hasFocus());
    }

    void aFullContextIsAskedAboutBesideTheInput() {
        m_chat->loadModel(600);
        converse("one");
        type("two");
        m_chat->count(200);
        auto* panel = m_view->findChild<ContextPanel*>();
        QVERIFY(panel->isVisible());
        QTest::keyClicks(field(), QStringLiteral("typed while asked"));
        QVERIFY(!button("Send")->isEnabled());
        const auto sent = m_chat->engine->sent.size();
        QTest::keyClick(field(), Qt::Key_Return);
        QCOMPARE(m_chat->engine->sent.size(), sent);
        m_view->input().setText({});
        button("Write a shorter message")->click();
        QVERIFY(!panel->isVisible());
        QCOMPARE(m_view->input().text(), QStringLiteral("two"));
    }

    void theUpArrowBringsTheLastMessageOfAnOpenedChatBack() {
        m_chat->loadModel();
        converse("one");
        const ChatId old = m_chat->session->chat().record.id;
        m_chat->session->newChat();
        converse("elsewhere");
        QSignalSpy shown(m_chat->session.get(), &ChatSession::shown);
        m_chat->session->openChat(old);
        QTRY_COMPARE(shown.count(), 1);
        QTest::keyClick(field(), Qt::Key_Up);
        QCOMPARE(m_view->input().text(), QStringLiteral("one"));
    }

    void theDraftComesBackWithItsChat() {
        m_chat->loadModel();
        converse("one");
        const ChatId chat = m_chat->session->chat().record.id;
        QTest::keyClicks(field(), QStringLiteral("half a thought"));
        m_chat->session->newChat();
        QCOMPARE(field()->toPlainText(), QString());
        QTest::keyClicks(field(), QStringLiteral("new"));
        m_chat->session->openChat(chat);
        QTRY_COMPARE(field()->toPlainText(), QStringLiteral("half a thought"));
        m_chat->session->newChat();
        QCOMPARE(field()->toPlainText(), QStringLiteral("new"));
    }

    void wordsOfAnEditWhoseCardIsRemovedWaitInTheMessage() {
        m_chat->loadModel();
        converse("one");
        const ChatId chat = m_chat->session->chat().record.id;
        const auto edit = [this](const char* words) {
            const MessageCard& card = *m_view->conversation().cards().front();
            buttonNamed(card, QStringLiteral("Edit and send again"))->click();
            QTest::keyClicks(card.findChild<QPlainTextEdit*>(), QLatin1String(words));
        };
        edit("changed");
        m_chat->session->newChat();
        QCOMPARE(field()->toPlainText(), QString());
        m_chat->session->openChat(chat);
        QTRY_COMPARE(field()->toPlainText(), QStringLiteral("changed"));
        edit("again");
        m_chat->session->regenerate(m_chat->session->branch().last().id); // Ctrl+R
        QCOMPARE(field()->toPlainText(), QStringLiteral("changed\nagain"));
    }

    void theTokensOfAnAttachmentAreCounted() {
        Attachment attachment{QStringLiteral("a.txt"), QStringLiteral("a"), 1};
        QCOMPARE(attachmentText(attachment), QStringLiteral("a.txt \u00B7 1 token"));
        attachment.tokens = 1234;
        QCOMPARE(attachmentText(attachment), QStringLiteral("a.txt \u00B7 1,234 tokens"));
    }

    void aDroppedFileIsAttachedCountedAndSent() {
        m_chat->loadModel();
        const QString path = m_folder->filePath(QStringLiteral("R&D \"<b>\".txt"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("some notes") > 0);
        file.close();
        QMimeData dropped;
        dropped.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({20, 20}, Qt::CopyAction, &dropped, Qt::LeftButton, {});
        QCoreApplication::sendEvent(m_view.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event({20, 20}, Qt::CopyAction, &dropped, Qt::LeftButton, {});
        QCoreApplication::sendEvent(m_view.get(), &event);
        AttachmentRow& row = m_view->input().attachments();
        QTRY_COMPARE(row.attachments().size(), 1);
        QVERIFY(row.isVisible());
        QCOMPARE(shownTip(row.findChild<QToolButton*>()->toolTip()),
                 QStringLiteral("Remove R&D \"<b>\".txt"));
        const auto* asked = m_chat->engine->lastSent<CountTokens>();
        m_chat->engine->say(TokensCounted{asked->requestId, 3, {}, 1000});
        m_chat->bridge->tick();
        QCOMPARE(row.attachments().first().tokens, 3);
        QVERIFY(button("Send")->isEnabled());
        QTest::keyClick(field(), Qt::Key_Return);
        m_chat->count();
        QVERIFY(row.attachments().isEmpty());
        QVERIFY(QString::fromStdString(
                    m_chat->engine->lastSent<SubmitPrompt>()->messages.back().content)
                    .contains(QStringLiteral("some notes")));
        QSignalSpy refused(m_view.get(), &ChatView::refused);
        m_view->attachFiles({m_folder->path()});
        QTRY_COMPARE(refused.count(), 1);
        QVERIFY(row.attachments().isEmpty());
    }

    void aCutAnswerGoesOnInItsCard() {
        m_chat->loadModel();
        type("count");
        m_chat->count();
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, "one", 20.0));
        m_chat->finish(FinishReason::MaxTokens);
        buttonNamed(lastCard(), QStringLiteral("Continue"))->click();
        m_chat->count();
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, " two", 20.0));
        m_chat->finish();
        QCOMPARE(m_view->conversation().cards().size(), std::size_t(2));
        QCOMPARE(lastCard().message().text, QStringLiteral("one two"));
        QVERIFY(!m_view->canContinueLast());
    }

    void everythingHasAName() {
        m_chat->loadModel();
        converse("name");
        QCOMPARE(namelessWidgets(*m_view).join(QLatin1Char('\n')), QString());
    }
};

QTEST_MAIN(ChatViewTest)
#include "chat_view_test.moc"
