// SPDX-License-Identifier: Apache-2.0
// An answer has the same tokens whether its conversation is alone in a session or takes turns with
// others that use the same model.
#include "engine/decoding/round/cached_sequence.h"
#include "engine/session/engine_session.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/patience.h"

#include <QDir>
#include <QTest>

#include <chrono>
#include <map>
#include <utility>

using namespace engine;

namespace {

constexpr int kLayers = 8;
constexpr int kTokens = 70; // more than one window of SWIFT's search

Result<SessionModel> tinyModel(const LoadModel&, const ModelLoadWork&) {
    SessionModel model; // drafts are accepted
    model.transformer = support::quietModel(kLayers, 11, {1, kLayers - 1, 0.2F});
    model.tokenizer = std::make_unique<test_support::ByteTokenizer>();
    model.contextLength = 400;
    model.backend = "plain";
    return model;
}

/// A conversation: its decoder and the prompts that it is sent, one after another.
struct Talk {
    std::string decoder;
    std::vector<std::string> prompts;
    SamplingOptions sampling = {};
};

struct Answers {
    std::map<std::uint64_t, std::vector<TokenId>> tokens; ///< by the prompt's number
    std::vector<std::uint64_t> stepsOf;                   ///< conversations, step by step
    int drafted = 0;                                      ///< nodes
    bool isMixed = false; ///< an event of a prompt carried another conversation's number
};

std::uint64_t promptIdOf(std::uint64_t conversation, std::size_t prompt) {
    return conversation * 100 + prompt;
}

/// Sends the prompts of all these conversations at once.
Answers answersTo(const std::map<std::uint64_t, Talk>& talks) {
    EngineSession session(
        {.moduleFolder = QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString(),
         .loader = tinyModel});
    session.send(LoadModel{"tiny"});
    std::size_t asked = 0;
    for (const auto& [conversation, talk] : talks)
        for (std::size_t i = 0; i < talk.prompts.size(); ++i, ++asked)
            session.send(SubmitPrompt{.promptId = promptIdOf(conversation, i),
                                      .text = talk.prompts[i],
                                      .maxTokens = kTokens,
                                      .sampling = talk.sampling,
                                      .decoder = ChooseDecoder{talk.decoder},
                                      .conversation = conversation});
    Answers answers;
    while (answers.tokens.size() < asked &&
           session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
        for (const EngineEvent& event : session.takeEvents()) {
            if (const auto* step = event.as<StepFinished>()) {
                answers.stepsOf.push_back(event.conversation);
                answers.drafted += static_cast<int>(step->draft.size());
                answers.isMixed |= step->promptId / 100 != event.conversation;
            }
            if (const auto* end = event.as<PromptFinished>()) {
                answers.tokens[end->promptId] = end->tokens;
                answers.isMixed |= end->promptId / 100 != event.conversation;
            }
            if (const auto* failed = event.as<EngineFailed>())
                qWarning("%s", failed->error.message.c_str());
        }
    return answers;
}

} // namespace

class ConversationsExactnessTest : public QObject {
    Q_OBJECT

private slots:
    void turnsChangeNoToken_data();
    void turnsChangeNoToken();
};

void ConversationsExactnessTest::turnsChangeNoToken_data() {
    QTest::addColumn<double>("temperature");
    QTest::newRow("greedy") << 0.0;
    QTest::newRow("sampled") << 0.9;
}

void ConversationsExactnessTest::turnsChangeNoToken() {
    QFETCH(double, temperature);
    std::map<std::uint64_t, Talk> talks;
    std::string pieces; // is read in several turns
    while (pieces.size() < std::size_t{2} * kPrefillRows + 30)
        pieces += "and the sea the land ";
    for (const char* decoder :
         {"vanilla", "swift", "auto", "lookahead", "swift", "layerskip", "del", "vanilla"}) {
        const std::uint64_t conversation = talks.size() + 1;
        const std::string name = std::to_string(conversation);
        talks[conversation] = {decoder,
                               {"the sea the sea " + name, pieces + name},
                               {.temperature = temperature, .seed = conversation}};
    }
    const Answers together = answersTo(talks);
    QCOMPARE(together.tokens.size(), 2 * talks.size());
    QVERIFY(!together.isMixed);
    QVERIFY(together.drafted > 0);
    std::size_t changes = 0;
    for (std::size_t i = 1; i < together.stepsOf.size(); ++i)
        changes += together.stepsOf[i] != together.stepsOf[i - 1] ? 1 : 0;
    QVERIFY(changes > 16); // one after the other there would be seven
    for (const auto& [conversation, talk] : talks) {
        const Answers alone = answersTo({{conversation, talk}});
        for (std::size_t i = 0; i < talk.prompts.size(); ++i) {
            const std::uint64_t id = promptIdOf(conversation, i);
            QVERIFY(!alone.tokens.at(id).empty());
            QCOMPARE(together.tokens.at(id), alone.tokens.at(id));
        }
        // In a sample only one of two: that drafts change no token is told by other tests, too.
        if (conversation % 2 == 0 && !support::takesAllCases())
            continue;
        Talk plain = talk;
        plain.decoder = "vanilla";
        QCOMPARE(answersTo({{conversation, plain}}).tokens, alone.tokens);
    }
}

QTEST_GUILESS_MAIN(ConversationsExactnessTest)
#include "conversations_exactness_test.moc"
