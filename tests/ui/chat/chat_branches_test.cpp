// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"

#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class ChatBranchesTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

    ScriptedLink& engine() { return *m_chat->engine; }

    StoredMessage last() { return session().branch().last(); }

    const SubmitPrompt& prompt() { return *engine().lastSent<SubmitPrompt>(); }

    void say(EventContent content) {
        engine().say(std::move(content));
        m_chat->bridge->tick();
    }

    /// The answer "one two three four", ended for this reason.
    void converse(FinishReason reason) {
        session().send(QStringLiteral("count"));
        m_chat->count();
        StepFinished first = plainStep(m_chat->promptId(), 0, "one", 20.0);
        first.tokens[0].choices = {{1, "one", 0.9}, {40, "uno", 0.05}};
        say(first);
        say(draftStep(m_chat->promptId(), 1, {" two", " three", " wrong"}, 2, " four"));
        m_chat->finish(reason);
    }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        m_chat->loadModel();
    }

    void onlyAnAnswerThatWasCutCanGoOn() {
        for (const auto& [reason, can] : {std::pair{FinishReason::MaxTokens, true},
                                          {FinishReason::Cancelled, true},
                                          {FinishReason::ContextFull, true},
                                          {FinishReason::EndToken, false},
                                          {FinishReason::StopString, false}}) {
            session().newChat();
            converse(reason);
            QCOMPARE(ChatSession::canContinue(last()), can);
            const std::size_t sent = engine().sent.size();
            session().continueAnswer(last().id);
            QCOMPARE(engine().sent.size() > sent, can);
            if (can)
                session().stop();
        }
    }

    void anAnswerGoesOnInItsPlaceFromItsOwnTokens() {
        converse(FinishReason::MaxTokens);
        const StoredMessage cut = last();
        session().continueAnswer(cut.id);
        QVERIFY(engine().lastSent<SubmitPrompt>()->continuesLast);
        m_chat->count();
        QVERIFY(prompt().continuesLast);
        QCOMPARE(prompt().messages.back().content, std::string("one two three four"));
        QCOMPARE(prompt().messages.back().tokens, (std::vector<TokenId>{1, 100, 101, 199}));
        QVERIFY(session().isAnswering());
        say(plainStep(m_chat->promptId(), 0, " five", 20.0));
        PromptFinished end = promptFinished(m_chat->promptId());
        end.reason = FinishReason::EndToken;
        end.generation.outputTokens = 1;
        end.generation.steps = 1;
        end.generation.decodeMs = 20.0;
        say(end);
        QCOMPARE(last().id, cut.id);
        QCOMPARE(last().text, QStringLiteral("one two three four five"));
        QCOMPARE(last().tokens.size(), 5);
        QCOMPARE(last().tokens.last().step, 2);
        QCOMPARE(last().state, MessageState::Finished);
        // Its figures are of what came to it.
        QCOMPARE(last().figures.outputTokens, 1);
        QCOMPARE(last().figures.steps, 1);
        QCOMPARE(*last().figures.decodeMs, 20.0);
        QCOMPARE(*last().figures.tokensPerSecond, 50.0);
        QCOMPARE(last().figures.acceptedTokens, 0);
        QVERIFY(!ChatSession::canContinue(last()));
        // Tokens of this run are found under the prompt that made them.
        QVERIFY(!session().placeOf(cut.id, 3));
        QCOMPARE(session().placeOf(cut.id, 4)->promptId, m_chat->promptId());
        QCOMPARE(session().placeOf(cut.id, 4)->index, 0);
        QCOMPARE(session().placeOf(cut.id, 4)->firstStep, 2); // as its details count
    }

    /// As the message counts them, so that views of the run say the same number.
    void theEngineIsToldHowManyStepsCameBefore() {
        converse(FinishReason::MaxTokens);
        const StoredMessage old = last();
        const auto verifyBegins = [&](int step) {
            m_chat->count();
            QCOMPARE(prompt().firstStep, step);
            say(plainStep(m_chat->promptId(), 0, " more", 20.0));
            QCOMPARE(last().tokens.last().step, step);
            const int newest = static_cast<int>(last().tokens.size()) - 1;
            QCOMPARE(session().placeOf(last().id, newest)->firstStep, step);
            m_chat->finish(FinishReason::MaxTokens);
        };
        session().branchAt(old.id, 0, {40, "uno", 0.05});
        verifyBegins(0);
        session().branchAt(old.id, 1, {40, "uno", 0.05});
        verifyBegins(1);
        session().branchAt(old.id, 2, {40, "uno", 0.05}); // within the second step
        verifyBegins(2);
        session().editAnswer(old.id, QStringLiteral("one two"), true);
        verifyBegins(2);
        session().editAnswer(old.id, QStringLiteral("uno due"), true); // has no tokens
        verifyBegins(0);
        session().showBranch(old.id);
        session().continueAnswer(old.id);
        verifyBegins(2);
        session().continueAnswer(old.id);
        verifyBegins(3);
    }

    void anAnswerToWhichNothingCameKeepsTheDecoderOfItsFigures() {
        DecoderChosen chosen;
        chosen.info.name = "swift";
        say(chosen);
        converse(FinishReason::MaxTokens);
        chosen.info.name = "vanilla";
        say(chosen);
        EngineFailed failed = failedTask("submit_prompt", {ErrorCode::NoMemory, "Too much.", ""});
        for (const bool isStopped : {true, false}) {
            session().continueAnswer(last().id);
            m_chat->count();
            QCOMPARE(last().figures.decoderName, QStringLiteral("vanilla"));
            PromptFinished stopped = promptFinished(m_chat->promptId());
            stopped.reason = FinishReason::Cancelled;
            failed.promptId = stopped.promptId;
            say(isStopped ? EventContent(stopped) : EventContent(failed));
            QCOMPARE(last().figures.decoderName, QStringLiteral("swift"));
        }
        session().continueAnswer(last().id);
        m_chat->count();
        say(plainStep(m_chat->promptId(), 0, " five", 20.0));
        m_chat->finish(FinishReason::MaxTokens);
        QCOMPARE(last().figures.decoderName, QStringLiteral("vanilla"));
    }

    /// While it goes on, when it was stopped, and when nothing came at all.
    void theFiguresOfAnAnswerThatWentOnAreThoseOfEveryOtherView() {
        converse(FinishReason::MaxTokens);
        session().continueAnswer(last().id);
        m_chat->count();
        const std::uint64_t id = m_chat->promptId();
        StepFinished drafted = draftStep(id, 0, {" five", " six", " no"}, 2, " seven");
        drafted.draftMs = 5.0;
        drafted.verifyMs = 25.0;
        Statistics told;
        told.baselineStepMs = 20.0;
        say(told);
        say(drafted);
        const SpanFigures shown = m_chat->run.speed().answer();
        QCOMPARE(*shown.sums.tokensPerRound(), 3.0);
        const auto agree = [&] {
            const MessageFigures& figures = last().figures;
            QCOMPARE(figures.outputTokens, 3);
            QCOMPARE(figures.speedup, shown.speedup());
            QCOMPARE(figures.tokensPerSecond, shown.tokensPerSecond());
            QCOMPARE(figures.tokensPerStep, shown.sums.tokensPerRound());
            QCOMPARE(figures.acceptedTokens, shown.sums.accepted);
            QCOMPARE(figures.draftSteps, shown.sums.draftSteps);
        };
        agree();
        PromptFinished end = promptFinished(id);
        end.reason = FinishReason::Cancelled;
        end.generation.outputTokens = 3;
        end.generation.decodeMs = 30.0;
        say(end);
        agree();
        session().continueAnswer(last().id);
        m_chat->count();
        PromptFinished nothing = promptFinished(m_chat->promptId());
        nothing.reason = FinishReason::Cancelled;
        nothing.generation.outputTokens = 0;
        say(nothing);
        agree();
    }

    void anAnswerGoesOnWithTheSeedThatItBeganWith() {
        say(SamplingChanged{{.temperature = 0.8, .seed = 11}});
        converse(FinishReason::MaxTokens);
        say(SamplingChanged{{.temperature = 0.6, .seed = 12}});
        session().continueAnswer(last().id);
        // Behind the answer the seed is the user's again.
        QCOMPARE(engine().lastSent<ChangeSampling>()->sampling.seed, std::uint64_t{12});
        say(SamplingChanged{{.temperature = 0.6, .seed = 11}}); // as the prompt asks for
        m_chat->count();
        QVERIFY(prompt().sampling.has_value());
        QCOMPARE(prompt().sampling->seed, std::uint64_t{11});
        QCOMPARE(prompt().sampling->temperature, 0.6);
        m_chat->finish(FinishReason::MaxTokens);
        QCOMPARE(*last().figures.seed, quint64{11});
        // A text that the user wrote was drawn with none.
        say(SamplingChanged{{.temperature = 0.6, .seed = 13}});
        session().editAnswer(last().id, QStringLiteral("one two 3"), true);
        m_chat->count();
        QVERIFY(!prompt().sampling);
        QCOMPARE(*last().figures.seed, quint64{13});
    }

    void theSeedOfAnAnswerAgainIsOfThatAnswerAlone() {
        const SamplingOptions chosen{.temperature = 0.8, .seed = 42};
        say(SamplingChanged{chosen});
        converse(FinishReason::EndToken);
        QVERIFY(engine().lastSent<ChangeSampling>() == nullptr);
        session().regenerate(last().id);
        const std::size_t sent = engine().sent.size();
        QVERIFY(std::holds_alternative<SubmitPrompt>(engine().sent[sent - 2]));
        const auto* behind = std::get_if<ChangeSampling>(&engine().sent[sent - 1]);
        QVERIFY(behind != nullptr && behind->sampling == chosen);
        // A choice about the context in between changes nothing of it.
        const std::uint64_t seed = prompt().sampling->seed;
        QVERIFY(seed != chosen.seed);
        m_chat->count(5000);
        session().goOn(ContextPolicy::DropOldest);
        QCOMPARE(prompt().sampling->seed, seed);
    }

    void whatWasHeldBackBehindTheLastTokenComesAgain() {
        session().send(QStringLiteral("count"));
        m_chat->count();
        say(plainStep(m_chat->promptId(), 0, "one", 20.0));
        say(TextReleased{m_chat->promptId(), " tw"});
        m_chat->finish(FinishReason::MaxTokens);
        QCOMPARE(last().text, QStringLiteral("one tw"));
        session().continueAnswer(last().id);
        m_chat->count();
        QCOMPARE(prompt().messages.back().content, std::string("one"));
        say(TextReleased{m_chat->promptId(), " tw"});
        say(plainStep(m_chat->promptId(), 0, "o", 20.0));
        QCOMPARE(last().text, QStringLiteral("one two"));
        QCOMPARE(last().tokens.first().end, 6);
    }

    void whatIsToldWhenNoTokenCameIsNoTextOfTheLastToken() {
        converse(FinishReason::MaxTokens);
        session().continueAnswer(last().id);
        m_chat->count();
        say(TextReleased{m_chat->promptId(), "\uFFFD"}); // of a character that is not whole yet
        PromptFinished stopped = promptFinished(m_chat->promptId());
        stopped.reason = FinishReason::Cancelled;
        say(stopped);
        session().continueAnswer(last().id);
        m_chat->count();
        QCOMPARE(prompt().messages.back().content, std::string("one two three four"));
        QCOMPARE(last().text, QStringLiteral("one two three four"));
    }

    void anAnswerThatWasAnsweredGoesOnInANewBranch() {
        converse(FinishReason::MaxTokens);
        const MessageId cut = last().id;
        converse(FinishReason::EndToken);
        session().continueAnswer(cut);
        m_chat->count();
        QVERIFY(last().id != cut);
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(session().chat().childrenOf(last().parentId).size(), 2);
        session().stop();
        m_chat->finish(FinishReason::Cancelled);
        session().showBranch(cut);
        QCOMPARE(session().branch().size(), 4);
    }

    void whileAQuestionIsCountedItsBranchStays() {
        converse(FinishReason::EndToken);
        const MessageId first = last().id;
        session().editAnswer(first, QStringLiteral("uno due"), false);
        session().send(QStringLiteral("and then?"));
        const ChatId chat = session().chat().record.id;
        session().showBranch(first);
        session().openMessage(chat, first);
        session().branchIntoNewChat(session().branch().first().id);
        QCOMPARE(session().chat().record.id, chat);
        m_chat->count();
        QCOMPARE(prompt().messages.size(), std::size_t{3});
        QCOMPARE(prompt().messages[1].content, std::string("uno due"));
        QCOMPARE(prompt().messages[2].content, std::string("and then?"));
        m_chat->finish();
        session().showBranch(first);
        QCOMPARE(last().id, first);
    }

    void wordsThatWaitForRoomComeBackWhenAnotherBranchIsShown() {
        converse(FinishReason::EndToken);
        const MessageId first = last().id;
        const ChatId chat = session().chat().record.id;
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        for (const bool isSought : {false, true}) {
            session().editAnswer(first, QStringLiteral("uno due"), false);
            session().send(QStringLiteral("and then?"));
            m_chat->count(5000);
            QVERIFY(session().contextQuestion() != nullptr);
            if (isSought)
                session().openMessage(chat, first);
            else
                session().showBranch(first);
            QVERIFY(session().contextQuestion() == nullptr);
            QCOMPARE(last().id, first);
            QCOMPARE(returned.takeFirst().first().toString(), QStringLiteral("and then?"));
        }
    }

    void aBranchInANewChatLeavesTheQuestionOfRoomBehind() {
        converse(FinishReason::EndToken);
        session().send(QStringLiteral("long"));
        m_chat->count(5000);
        const std::size_t sent = engine().sent.size();
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        session().branchIntoNewChat(session().branch().first().id);
        QCOMPARE(returned.count(), 1);
        QCOMPARE(returned.first().first().toString(), QStringLiteral("long"));
        QVERIFY(session().contextQuestion() == nullptr);
        session().goOn(ContextPolicy::DropOldest);
        QCOMPARE(engine().sent.size(), sent);
        QCOMPARE(session().branch().size(), 1);
        QCOMPARE(session().obstacle(QStringLiteral("x")), SendObstacle::None);
    }

    void aBranchIsBegunWhereItsChatLies() {
        converse(FinishReason::EndToken);
        const ChatId chat = session().chat().record.id;
        m_chat->store->setFolder(chat, QStringLiteral("Thesis"));
        m_chat->store->setPinned(chat, true);
        QTRY_COMPARE(session().chat().record.isPinned, true);
        session().branchIntoNewChat(last().id);
        QCOMPARE(session().chat().record.folder, QStringLiteral("Thesis"));
        QVERIFY(!session().chat().record.isPinned);
    }

    void aBranchOfAnArchivedChatIsNotArchived() {
        converse(FinishReason::EndToken);
        m_chat->store->setArchived(session().chat().record.id, true);
        QTRY_VERIFY(session().chat().record.isArchived);
        session().branchIntoNewChat(last().id);
        QVERIFY(!session().chat().record.isArchived);
    }

    void anEditedAnswerIsANewBranchAndTheOldOneStays() {
        converse(FinishReason::EndToken);
        const StoredMessage old = last();
        session().editAnswer(old.id, QStringLiteral("uno due"), false);
        QCOMPARE(last().text, QStringLiteral("uno due"));
        QVERIFY(last().tokens.isEmpty());
        QCOMPARE(last().figures.finishReason, QStringLiteral("edited"));
        QVERIFY(!session().isAnswering());
        session().send(QStringLiteral("and then?"));
        m_chat->count();
        QCOMPARE(prompt().messages[1].content, std::string("uno due"));
        QVERIFY(prompt().messages[1].tokens.empty());
        m_chat->answer();
        session().showBranch(old.id);
        QCOMPARE(last().text, old.text);
    }

    void anEditedAnswerGoesOnAndItsNewTokensStandBehindTheText() {
        converse(FinishReason::EndToken);
        session().editAnswer(last().id, QStringLiteral("uno due"), true);
        m_chat->count();
        QVERIFY(prompt().continuesLast);
        QCOMPARE(prompt().messages.back().content, std::string("uno due"));
        QVERIFY(prompt().messages.back().tokens.empty());
        say(plainStep(m_chat->promptId(), 0, " tre", 20.0));
        m_chat->finish(FinishReason::MaxTokens);
        QCOMPARE(last().text, QStringLiteral("uno due tre"));
        QCOMPARE(last().tokens.first().begin, 7);
        // Its tokens are not all of its text: the text goes into the next prompt.
        session().continueAnswer(last().id);
        m_chat->count();
        QVERIFY(prompt().messages.back().tokens.empty());
        QCOMPARE(prompt().messages.back().content, std::string("uno due tre"));
    }

    void aShortenedAnswerKeepsTheTokensOfItsBeginning() {
        converse(FinishReason::EndToken);
        session().editAnswer(last().id, QStringLiteral("one two"), true);
        m_chat->count();
        QCOMPARE(prompt().messages.back().tokens, (std::vector<TokenId>{1, 100}));
    }

    void aBranchTakesAnotherTokenAndGoesOn() {
        converse(FinishReason::EndToken);
        const StoredMessage old = last();
        const TokenChoice choice = old.tokens[0].choices[1];
        session().branchAt(old.id, 0, choice);
        m_chat->count();
        QVERIFY(prompt().continuesLast);
        QCOMPARE(prompt().messages.back().content, std::string());
        QCOMPARE(prompt().messages.back().tokens, (std::vector<TokenId>{40}));
        say(TextReleased{m_chat->promptId(), "uno"});
        say(plainStep(m_chat->promptId(), 0, " due", 20.0));
        m_chat->finish();
        QCOMPARE(last().text, QStringLiteral("uno due"));
        QCOMPARE(last().tokens.size(), 2);
        QCOMPARE(last().tokens[0].end, 3);
        QCOMPARE(last().tokens[0].step, kChosenByUser);
        QCOMPARE(last().tokens[0].fact.targetProbability, 0.05);
        QCOMPARE(last().tokens[1].begin, 3);
        QCOMPARE(session().chat().childrenOf(last().parentId).size(), 2);
        session().showBranch(old.id);
        QCOMPARE(last().text, old.text);
    }

    /// As views name it that know only the run.
    void aBranchIsAskedForByPromptAndToken() {
        converse(FinishReason::EndToken);
        const StoredMessage old = last();
        const auto place = session().placeOf(old.id, 1);
        QVERIFY(place.has_value());
        QVERIFY(!session().branchAtPlace({place->promptId + 100, 1}, {40, "uno", 0.05}));
        QCOMPARE(last().id, old.id);
        QVERIFY(session().branchAtPlace(*place, {40, "uno", 0.05}));
        m_chat->count();
        QVERIFY(prompt().continuesLast);
        QCOMPARE(prompt().messages.back().tokens, (std::vector<TokenId>{old.tokens[0].id, 40}));
    }

    void tokensOfAnotherModelAreNeverSent() {
        converse(FinishReason::MaxTokens);
        const MessageId cut = last().id;
        ModelLoaded other = loadedModel(4, 1000);
        other.model.name = "other";
        say(other);
        session().branchAt(cut, 0, {40, "uno", 0.05});
        QCOMPARE(last().id, cut); // ids of the old model mean nothing to this one
        session().continueAnswer(cut);
        m_chat->count();
        QVERIFY(prompt().messages.back().tokens.empty());
        QCOMPARE(prompt().messages.back().content, std::string("one two three four"));
        QVERIFY(last().tokens.isEmpty());
        QCOMPARE(last().figures.modelName, QStringLiteral("other"));
    }

    void whileAnotherModelIsLoadedNothingIsSent() {
        converse(FinishReason::EndToken);
        session().send(QStringLiteral("again"));
        m_chat->count();
        m_chat->bridge->send(LoadModel{.path = "/models/other.gguf"});
        QCOMPARE(session().obstacle(QStringLiteral("x")), SendObstacle::Answering); // Esc stops it
        m_chat->answer();
        const std::size_t sent = engine().sent.size();
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        for (const bool hasBegun : {false, true}) {
            if (hasBegun)
                say(ModelLoadProgress{"/models/other.gguf", "weights", 0.5});
            QCOMPARE(session().obstacle(QStringLiteral("x")), SendObstacle::Loading);
            session().send(QStringLiteral("too early"));
            QCOMPARE(returned.takeFirst().first().toString(), QStringLiteral("too early"));
        }
        QCOMPARE(engine().sent.size(), sent);
        // What is asked beside the chat meanwhile has no ids of the model that goes.
        const auto idsOfAnswer = [this] {
            return session().asideOf(QStringLiteral("y")).prompt.messages.at(1).tokens.size();
        };
        QCOMPARE(idsOfAnswer(), std::size_t{0});
        say(failedTask("load_model", {ErrorCode::NotFound, "The file is gone.", ""}));
        QCOMPARE(session().obstacle(QStringLiteral("x")), SendObstacle::None);
        QCOMPARE(idsOfAnswer(), std::size_t{4});
    }

    void aContinuedAnswerThatIsCutOffAgainIsKept() {
        converse(FinishReason::MaxTokens);
        const ChatId chat = session().chat().record.id;
        session().continueAnswer(last().id);
        m_chat->count();
        say(plainStep(m_chat->promptId(), 0, " five", 20.0));
        m_chat.reset(); // the window closes
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        session().openChat(chat);
        QTRY_COMPARE(session().branch().size(), 2);
        QCOMPARE(last().text, QStringLiteral("one two three four five"));
        QCOMPARE(last().state, MessageState::Stopped);
        QVERIFY(ChatSession::canContinue(last()));
        QCOMPARE(last().tokens.first().choices.size(), 2);
    }
};

QTEST_GUILESS_MAIN(ChatBranchesTest)
#include "chat_branches_test.moc"
