// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/session/session_fixture.h"

#include <QTest>

using namespace engine;
using namespace session_test;

/// Answers that go on where they were cut, or from another token.
class SessionContinueTest : public QObject {
    Q_OBJECT

private slots:
    void anAnswerThatWasCutGoesOnAsIfItHadNotBeen();
    void anAnswerGoesOnFromAnotherToken();
    void onlyAnAnswerCanGoOn();
    void everyTokenTellsWhatElseWasLikely();
};

void SessionContinueTest::anAnswerThatWasCutGoesOnAsIfItHadNotBeen() {
    for (const auto& [decoder, temperature] :
         {std::pair{"vanilla", 0.0}, {"drafting", 0.0}, {"vanilla", 1.2}, {"drafting", 1.2}}) {
        LoadedFixture fixture(decoder);
        fixture.session.send(ChangeSampling{{.temperature = temperature, .seed = 5}});
        SubmitPrompt whole{.promptId = 1, .messages = {{"user", "Hello there"}}, .maxTokens = 40};
        fixture.session.send(whole);
        const PromptFinished* uncut = fixture.finish(1);
        QCOMPARE(uncut->tokens.size(), std::size_t{40});
        for (const int kept : {1, 2, 3, 17, 39}) {
            const auto id = static_cast<std::uint64_t>(100 * kept);
            SubmitPrompt cut = whole;
            cut.promptId = id;
            cut.maxTokens = kept;
            fixture.session.send(cut);
            const PromptFinished* begun = fixture.finish(id);
            SubmitPrompt rest = whole;
            rest.promptId = id + 1;
            rest.maxTokens = 40 - kept;
            rest.continuesLast = true;
            // The text ends where a token made it certain: half a character is not there yet.
            std::string told = begun->text;
            if (told.ends_with("\xEF\xBF\xBD"))
                told.resize(told.size() - 3);
            rest.messages.push_back({"assistant", told, begun->tokens});
            fixture.session.send(rest);
            const PromptFinished* end = fixture.finish(id + 1);
            QVERIFY(end != nullptr);
            std::vector<TokenId> both = begun->tokens;
            both.insert(both.end(), end->tokens.begin(), end->tokens.end());
            QCOMPARE(both, uncut->tokens);
            QCOMPARE(told + end->text, uncut->text);
        }
    }
}

void SessionContinueTest::anAnswerGoesOnFromAnotherToken() {
    LoadedFixture fixture;
    SubmitPrompt prompt{.promptId = 1, .messages = {{"user", "Hi"}}, .maxTokens = 12};
    fixture.session.send(prompt);
    const PromptFinished* first = fixture.finish(1);
    std::vector<TokenId> changed(first->tokens.begin(), first->tokens.begin() + 4);
    changed.push_back(test_support::ByteTokenizer().encode("Z", false).value().front());
    const std::string before =
        test_support::ByteTokenizer().decode({changed.data(), 4}, true).value();
    prompt.promptId = 2;
    prompt.continuesLast = true;
    prompt.firstStep = 5;
    prompt.messages.push_back({"assistant", before, changed});
    fixture.session.send(prompt);
    const PromptFinished* end = fixture.finish(2);
    QCOMPARE(end->tokens, expectedAnswer("[user]Hi\n[assistant]" + before + "Z", 12));
    QCOMPARE(fixture.all<TextReleased>().back().text, std::string("Z"));
    QVERIFY(end->text.starts_with("Z"));
    const auto started = fixture.all<PromptStarted>();
    QVERIFY(!started.at(0).continuesLast && started.at(1).continuesLast);
    QVERIFY(!started.at(0).begunText && started.at(1).begunText == before);
    QCOMPARE(started.at(1).firstStep, 5);
    // Without ids the text itself is read.
    prompt.promptId = 3;
    prompt.messages.back() = {"assistant", before + "Z", {}};
    fixture.session.send(prompt);
    QCOMPARE(fixture.finish(3)->tokens, end->tokens);
}

void SessionContinueTest::onlyAnAnswerCanGoOn() {
    LoadedFixture fixture;
    for (const auto& messages :
         {std::vector<PromptMessage>{{"user", "Hi"}}, std::vector<PromptMessage>{}}) {
        SubmitPrompt prompt{
            .promptId = 5, .messages = messages, .text = messages.empty() ? "a" : ""};
        prompt.continuesLast = true;
        fixture.session.send(prompt);
        const EngineFailed* failure = fixture.next<EngineFailed>();
        QVERIFY(failure != nullptr);
        QCOMPARE(failure->error.code, ErrorCode::InvalidInput);
    }
    fixture.session.send(SubmitPrompt{.promptId = 6, .ids = {'a', 'b'}, .continuesLast = true});
    const EngineFailed* failure = fixture.next<EngineFailed>();
    QVERIFY(failure != nullptr);
    QCOMPARE(failure->error.code, ErrorCode::InvalidInput);
}

void SessionContinueTest::everyTokenTellsWhatElseWasLikely() {
    for (const char* decoder : {"vanilla", "drafting"}) {
        LoadedFixture fixture(decoder);
        fixture.session.send(rawPrompt(1, "abc", 30));
        QVERIFY(fixture.finish(1) != nullptr);
        int tokens = 0;
        for (const StepFinished& step : fixture.all<StepFinished>())
            for (const EmittedToken& token : step.tokens) {
                ++tokens;
                QCOMPARE(token.choices.size(), std::size_t{5});
                QCOMPARE(token.choices.front().id, token.id); // greedy
                QCOMPARE(token.choices.front().probability, token.fact.targetProbability);
                for (std::size_t i = 1; i < token.choices.size(); ++i) {
                    QVERIFY(token.choices[i].id != token.id);
                    QVERIFY(token.choices[i].probability <= token.choices[i - 1].probability);
                }
            }
        QCOMPARE(tokens, 30);
    }
}

QTEST_APPLESS_MAIN(SessionContinueTest)
#include "session_continue_test.moc"
