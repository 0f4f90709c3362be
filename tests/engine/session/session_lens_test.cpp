// SPDX-License-Identifier: Apache-2.0
// The lens of a session: what it tells of an answer, what comes before it and what ends it.
#include "engine/session/engine_session.h"
#include "tests/support/patience.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>
#include <semaphore>

using namespace engine;

namespace {

const std::string kGguf = std::string(SWIFT_STUDIO_TEST_DATA_DIR) + "/tiny.gguf";

/// Passes wait for the test when it asks for that.
class WaitingTransformer final : public support::WrappingTransformer {
public:
    WaitingTransformer(std::unique_ptr<Transformer> inner, std::counting_semaphore<>& turns)
        : WrappingTransformer(std::move(inner))
        , m_turns(turns) {}

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        m_turns.acquire();
        return inner().forwardInto(request, cache, result);
    }

    bool tellsAttention() const override { return inner().tellsAttention(); }

private:
    std::counting_semaphore<>& m_turns;
};

constexpr std::ptrdiff_t kMany = 1'000'000;

/// A session with a tiny model in float64, of which a test may count the passes.
class LensSession {
public:
    LensSession()
        : session(
              SessionOptions{.loader = [this](const LoadModel& command, const ModelLoadWork& work) {
                  auto model = makeModelLoader({})(command, work);
                  if (model)
                      model.value().transformer = std::make_unique<WaitingTransformer>(
                          std::move(model.value().transformer), turns);
                  return model;
              }}) {
        load();
    }

    void load() {
        session.send(LoadModel{.path = kGguf,
                               .backend = "plain",
                               .settings = {{"precision", std::string("float64")}},
                               .contextLength = 100});
    }

    template <typename T> const T* next() {
        while (true) {
            for (; m_seen < events.size(); ++m_seen)
                if (const T* found = events[m_seen].template as<T>()) {
                    ++m_seen;
                    return found;
                }
            if (!session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
                return nullptr;
            for (EngineEvent& event : session.takeEvents())
                events.push_back(std::move(event));
        }
    }

    void ask(std::uint64_t promptId, int maxTokens) {
        session.send(SubmitPrompt{
            .promptId = promptId, .ids = {3, 5, 7, 11, 13, 17, 19}, .maxTokens = maxTokens});
    }

    /// Answers a prompt of 7 tokens with all passes let through.
    std::vector<TokenId> answered(std::uint64_t promptId, int maxTokens) {
        turns.release(kMany);
        ask(promptId, maxTokens);
        const auto* finished = next<PromptFinished>();
        while (turns.try_acquire())
            ;
        return finished == nullptr ? std::vector<TokenId>() : finished->tokens;
    }

    std::counting_semaphore<> turns{0}; // passes that may be made
    std::deque<EngineEvent> events;
    EngineSession session;

private:
    std::size_t m_seen = 0;
};

} // namespace

class SessionLensTest : public QObject {
    Q_OBJECT

private slots:
    void everyTokenOfAnAnswerIsTold();
    void someTokensAreTold();
    void attentionIsToldOverTheTextBefore();
    void aPromptComesFirstAndTheLensGoesOn();
    void whatIsStoppedIsToldToBeStopped();
    void aNewerQuestionReplacesTheOlder();
    void stoppingAllPromptsStopsIt();
    void unloadingEndsIt();
    void whatCannotBeReadIsAFailureOfTheQuestion_data();
    void whatCannotBeReadIsAFailureOfTheQuestion();
    void withoutAModelThereIsNothingToLookInto();
};

/// A greedy answer leads at the last depth of each of its tokens.
void SessionLensTest::everyTokenOfAnAnswerIsTold() {
    LensSession own;
    const std::vector<TokenId> answer = own.answered(4, 20);
    QVERIFY(answer.size() > 16); // more than one piece
    own.turns.release(kMany);
    own.session.send(ReadLens{.requestId = 9, .promptId = 4});
    std::vector<TokenId> told;
    while (told.size() < answer.size()) {
        const auto* read = own.next<LensTokensRead>();
        QVERIFY(read != nullptr);
        QCOMPARE(read->requestId, std::uint64_t{9});
        QCOMPARE(read->promptId, std::uint64_t{4});
        QCOMPARE(read->first, static_cast<int>(told.size()));
        for (const LensToken& token : read->tokens) {
            told.push_back(token.token);
            QCOMPARE(token.cells.back().ids.front(), token.token);
            QCOMPARE(token.cells.back().rank, 0);
            for (const LensCell& cell : token.cells)
                for (const TokenId id : cell.ids)
                    QVERIFY(std::any_of(read->texts.begin(),
                                        read->texts.end(),
                                        [id](const ShownToken& text) { return text.id == id; }));
        }
    }
    QCOMPARE(told, answer);
    const auto* finished = own.next<LensFinished>();
    QVERIFY(finished != nullptr && !finished->isStopped);
    QCOMPARE(finished->requestId, std::uint64_t{9});
    QVERIFY(!finished->influence.empty());
    for (const double influence : finished->influence)
        QVERIFY(influence > 0.0);
}

void SessionLensTest::someTokensAreTold() {
    LensSession own;
    const std::vector<TokenId> answer = own.answered(4, 12);
    own.turns.release(kMany);
    own.session.send(ReadLens{.requestId = 9, .promptId = 4, .first = 5, .count = 3});
    const auto* read = own.next<LensTokensRead>();
    QVERIFY(read != nullptr);
    QCOMPARE(read->first, 5);
    QCOMPARE(read->tokens.size(), std::size_t{3});
    QCOMPARE(read->tokens.front().token, answer[5]);
    QVERIFY(own.next<LensFinished>() != nullptr);
}

void SessionLensTest::attentionIsToldOverTheTextBefore() {
    LensSession own;
    own.answered(4, 12);
    own.turns.release(kMany);
    own.session.send(ReadAttention{.requestId = 9, .promptId = 4, .token = 6, .layer = 1});
    const auto* read = own.next<AttentionRead>();
    QVERIFY(read != nullptr);
    QCOMPARE(read->requestId, std::uint64_t{9});
    QCOMPARE(read->token, 6);
    QCOMPARE(read->layer, 1);
    QCOMPARE(read->promptTokens, 7);
    QCOMPARE(read->texts.size(), std::size_t{13});
    QVERIFY(!read->heads.empty());
    for (const HeadAttention& head : read->heads) {
        QCOMPARE(head.weights.size(), std::size_t{13});
        QVERIFY(std::abs(std::accumulate(head.weights.begin(), head.weights.end(), -1.0)) < 1e-9);
    }
}

/// Both wait when the first prompt ends; the second prompt is answered before the lens goes on.
void SessionLensTest::aPromptComesFirstAndTheLensGoesOn() {
    LensSession own;
    own.answered(1, 8);
    own.ask(2, 8); // its passes wait
    own.session.send(ReadLens{.requestId = 9, .promptId = 1});
    own.ask(3, 8);
    own.turns.release(kMany);
    const auto* second = own.next<PromptFinished>();
    QVERIFY(second != nullptr && second->promptId == 2);
    const auto* third = own.next<PromptFinished>();
    QVERIFY(third != nullptr && third->promptId == 3);
    QVERIFY(own.next<LensFinished>() != nullptr); // behind it
    for (const EngineEvent& event : own.events)
        if (const auto* finished = event.as<LensFinished>())
            QVERIFY(!finished->isStopped);
}

void SessionLensTest::whatIsStoppedIsToldToBeStopped() {
    LensSession own;
    own.answered(1, 8);
    own.session.send(ReadLens{.requestId = 9, .promptId = 1});
    own.session.send(StopLens{});
    own.turns.release(1); // at most the pass that has begun already
    const auto* finished = own.next<LensFinished>();
    QVERIFY(finished != nullptr && finished->isStopped);
    QCOMPARE(finished->requestId, std::uint64_t{9});
    own.answered(2, 4); // the session goes on
    for (const EngineEvent& event : own.events)
        QVERIFY(event.as<EngineFailed>() == nullptr);
}

void SessionLensTest::aNewerQuestionReplacesTheOlder() {
    LensSession own;
    own.answered(1, 8);
    own.session.send(ReadLens{.requestId = 8, .promptId = 1});
    own.session.send(ReadLens{.requestId = 9, .promptId = 1, .first = 2, .count = 1});
    own.turns.release(kMany);
    // Whether the first one was still being read when the second came is a matter of time.
    const auto* first = own.next<LensFinished>();
    QVERIFY(first != nullptr);
    QCOMPARE(first->requestId, std::uint64_t{8});
    const auto* second = own.next<LensFinished>();
    QVERIFY(second != nullptr && !second->isStopped);
    QCOMPARE(second->requestId, std::uint64_t{9});
}

void SessionLensTest::stoppingAllPromptsStopsIt() {
    LensSession own;
    own.answered(1, 8);
    own.session.send(ReadLens{.requestId = 9, .promptId = 1});
    own.turns.release(1);
    QVERIFY(own.next<LensProgress>() != nullptr);
    own.session.send(StopGeneration{});
    own.turns.release(kMany);
    const auto* finished = own.next<LensFinished>();
    QVERIFY(finished != nullptr && finished->isStopped);
}

void SessionLensTest::unloadingEndsIt() {
    LensSession own;
    own.answered(1, 8);
    own.session.send(ReadLens{.requestId = 9, .promptId = 1});
    own.turns.release(1);
    QVERIFY(own.next<LensProgress>() != nullptr);
    own.session.send(UnloadModel{});
    own.turns.release(kMany);
    const auto* finished = own.next<LensFinished>();
    QVERIFY(finished != nullptr && finished->isStopped);
    QVERIFY(own.next<ModelUnloaded>() != nullptr);
    own.load();
    own.session.send(ReadLens{.requestId = 10, .promptId = 1}); // of the model before
    const auto* failed = own.next<EngineFailed>();
    QVERIFY(failed != nullptr);
    QCOMPARE(failed->requestId, std::uint64_t{10});
}

void SessionLensTest::whatCannotBeReadIsAFailureOfTheQuestion_data() {
    QTest::addColumn<int>("promptId");
    QTest::addColumn<int>("token");
    QTest::addColumn<int>("layer");
    QTest::newRow("no such answer") << 5 << 0 << 0;
    QTest::newRow("no such token") << 1 << 8 << 0;
    QTest::newRow("before the answer") << 1 << -1 << 0;
    QTest::newRow("no such layer") << 1 << 0 << 99;
}

void SessionLensTest::whatCannotBeReadIsAFailureOfTheQuestion() {
    QFETCH(int, promptId);
    QFETCH(int, token);
    QFETCH(int, layer);
    LensSession own;
    own.answered(1, 8);
    const auto id = static_cast<std::uint64_t>(promptId);
    own.session.send(ReadAttention{.requestId = 9, .promptId = id, .token = token, .layer = layer});
    const auto* failed = own.next<EngineFailed>();
    QVERIFY(failed != nullptr);
    QCOMPARE(failed->task, std::string("read_attention"));
    QCOMPARE(failed->requestId, std::uint64_t{9});
    QVERIFY(!failed->error.hint.empty());
    if (layer > 0)
        return; // the lens reads all layers
    own.session.send(ReadLens{.requestId = 10, .promptId = id, .first = token});
    failed = own.next<EngineFailed>();
    QVERIFY(failed != nullptr);
    QCOMPARE(failed->task, std::string("read_lens"));
    QCOMPARE(failed->requestId, std::uint64_t{10});
}

void SessionLensTest::withoutAModelThereIsNothingToLookInto() {
    LensSession own;
    QVERIFY(own.next<ModelLoaded>() != nullptr);
    own.session.send(UnloadModel{});
    own.session.send(ReadLens{.requestId = 9, .promptId = 1});
    const auto* failed = own.next<EngineFailed>();
    QVERIFY(failed != nullptr);
    QCOMPARE(failed->task, std::string("read_lens"));
    QCOMPARE(failed->error.code, ErrorCode::NotFound);
}

QTEST_GUILESS_MAIN(SessionLensTest)
#include "session_lens_test.moc"
