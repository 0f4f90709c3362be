// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"

#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

/// Answers that go on, as a recording shows them.
class ChatReplayTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

    StoredMessage last() { return session().branch().last(); }

    void say(EventContent content) {
        m_chat->engine->say(std::move(content));
        m_chat->bridge->tick();
    }

    static PromptStarted asked(std::uint64_t id, std::string question) {
        PromptStarted started = promptStarted(id, 8);
        started.question = std::move(question);
        return started;
    }

    void finish(std::uint64_t id) {
        PromptFinished finished = promptFinished(id);
        finished.generation.promptTokens = 8;
        say(finished);
    }

    /// "one two three four", in two steps.
    void answer(std::uint64_t id, const std::string& question) {
        say(asked(id, question));
        say(plainStep(id, 0, "one", 20.0));
        say(draftStep(id, 1, {" two", " three"}, 2, " four"));
        finish(id);
    }

    QString textOf(int token) {
        const TokenTrace trace = last().tokens.at(token);
        return last().text.mid(trace.begin, trace.end - trace.begin);
    }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        session().setReplay(true);
        say(loadedModel());
    }

    void aBranchIsReplayedAsItWasWritten() {
        answer(1, "count");
        PromptStarted branch = asked(2, "count");
        branch.continuesLast = true;
        branch.firstStep = 2;
        branch.begunText = "one two";
        branch.promptTokens = 11; // with the token that was chosen
        say(branch);
        say(TextReleased{2, " 3"});
        say(plainStep(2, 0, " 4", 20.0));
        finish(2);
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(last().text, QStringLiteral("one two 3 4"));
        QCOMPARE(last().tokens.size(), 4);
        QCOMPARE(textOf(1), QStringLiteral(" two"));
        QCOMPARE(textOf(2), QStringLiteral(" 3"));
        QCOMPARE(last().tokens[2].step, kChosenByUser);
        QCOMPARE(last().tokens[3].step, 2);
        QCOMPARE(last().figures.promptTokens, 8);
    }

    void aShortenedAnswerGoesOnWithoutItsEnd() {
        answer(1, "count");
        PromptStarted goesOn = asked(2, "count");
        goesOn.continuesLast = true;
        goesOn.firstStep = 2;
        goesOn.begunText = "one two";
        goesOn.promptTokens = 10;
        say(goesOn);
        say(plainStep(2, 0, " drei", 20.0));
        QCOMPARE(last().text, QStringLiteral("one two drei"));
        QCOMPARE(last().tokens.size(), 3);
        QCOMPARE(textOf(1), QStringLiteral(" two"));
    }

    /// Also one that ends within a token.
    void anEditedAnswerGoesOnWithItsText() {
        std::uint64_t id = 0;
        for (const char* text : {"uno due", "one tw"}) {
            answer(++id, "count");
            PromptStarted goesOn = asked(++id, "count");
            goesOn.continuesLast = true;
            goesOn.begunText = text;
            goesOn.promptTokens = 10;
            say(goesOn);
            say(plainStep(id, 0, " tre", 20.0));
            finish(id);
            QCOMPARE(last().text, QLatin1String(text) + QStringLiteral(" tre"));
            QCOMPARE(last().tokens.size(), 1);
            QCOMPARE(last().tokens[0].step, 0);
            QCOMPARE(session().placeOf(last().id, 0)->firstStep, 0);
        }
    }

    void anAnswerFromBeforeTheRecordingHasItsWholeText() {
        PromptStarted goesOn = asked(2, "count");
        goesOn.continuesLast = true;
        goesOn.firstStep = 4;
        goesOn.begunText = "one";
        say(goesOn);
        say(plainStep(2, 0, " two", 20.0));
        QCOMPARE(session().branch().first().text, QStringLiteral("count"));
        QCOMPARE(last().text, QStringLiteral("one two"));
        QCOMPARE(textOf(0), QStringLiteral(" two"));
        QCOMPARE(last().tokens[0].step, 4);
        QCOMPARE(session().placeOf(last().id, 0)->firstStep, 4);
    }

    void anEarlierAnswerThatGoesOnLeavesTheNewestAsItIs() {
        answer(1, "first");
        answer(2, "second");
        const MessageId newest = last().id;
        PromptStarted goesOn = asked(3, "first");
        goesOn.continuesLast = true;
        goesOn.firstStep = 2;
        goesOn.begunText = "one two three four";
        say(goesOn);
        say(plainStep(3, 0, " five", 20.0));
        QCOMPARE(session().message(newest)->text, QStringLiteral("one two three four"));
        QCOMPARE(last().text, QStringLiteral("one two three four five"));
        QCOMPARE(session().branch().at(4).text, QStringLiteral("first"));
    }

    void anOlderRecordingGoesOnWithTheAnswerBefore() {
        answer(1, "count");
        PromptStarted goesOn = asked(2, "count");
        goesOn.continuesLast = true;
        say(goesOn);
        say(plainStep(2, 0, " five", 20.0));
        QCOMPARE(last().text, QStringLiteral("one two three four five"));
        QCOMPARE(last().tokens.size(), 5);
        QCOMPARE(last().tokens.last().step, m_chat->run.answers().latest()->firstStep);
    }
};

QTEST_GUILESS_MAIN(ChatReplayTest)
#include "chat_replay_test.moc"
