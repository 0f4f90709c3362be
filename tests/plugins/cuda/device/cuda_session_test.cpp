// SPDX-License-Identifier: Apache-2.0
// A GPU that is lost while a chat is answered: one sentence, and the session goes on.
#include "engine/session/engine_session.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/patience.h"

#include <QTest>

#include <atomic>
#include <chrono>
#include <deque>

using namespace engine;
using namespace backend_cuda;

namespace {

/// A GPU's slot in the machine: whoever has opened it loses it at a reset, and may open it again.
struct GpuSlot {
    std::atomic<int> launchesLeft = 1000000; ///< until the next reset
    std::atomic<int> resets = 0;
};

class ResetDevice final : public WrappedDevice {
public:
    explicit ResetDevice(std::shared_ptr<GpuSlot> slot)
        : WrappedDevice(std::make_shared<EmulatedDevice>(2))
        , m_slot(std::move(slot))
        , m_resets(m_slot->resets) {}

    Result<std::uint64_t> freeBytes() override {
        ENGINE_TRY_DO(check());
        return WrappedDevice::freeBytes();
    }

    Result<std::byte*> allocate(std::size_t bytes) override {
        ENGINE_TRY_DO(check());
        return WrappedDevice::allocate(bytes);
    }

    Result<void> send(std::byte* to, std::span<const std::byte> from) override {
        ENGINE_TRY_DO(check());
        return WrappedDevice::send(to, from);
    }

    Result<void> download(std::span<std::byte> to, const std::byte* from) override {
        ENGINE_TRY_DO(check());
        return WrappedDevice::download(to, from);
    }

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        if (m_slot->launchesLeft-- == 0)
            ++m_slot->resets;
        ENGINE_TRY_DO(check());
        return WrappedDevice::launch(kernel, blocks, arguments);
    }

private:
    Result<void> check() const {
        if (m_slot->resets == m_resets)
            return {};
        return Error{ErrorCode::Device, "The GPU was reset.", "Load the model again."};
    }

    std::shared_ptr<GpuSlot> m_slot;
    int m_resets;
};

/// Loads a tiny model of ASCII onto the GPU of this slot.
Result<SessionModel> loadOnto(const std::shared_ptr<GpuSlot>& slot) {
    ModelConfig config = support::tinyConfig();
    config.vocabSize = 128;
    SessionModel model;
    ENGINE_TRY(model.transformer,
               support::loadOn(std::make_shared<ResetDevice>(slot),
                               config,
                               support::randomWeights(config, 3),
                               {},
                               64));
    model.tokenizer = std::make_unique<test_support::ByteTokenizer>();
    ENGINE_TRY(
        auto chatTemplate,
        ChatTemplate::compile("{% for m in messages %}{{ m.content }}{% endfor %}", "a test"));
    model.chatTemplate = std::move(chatTemplate);
    model.contextLength = 64;
    model.backend = "cuda";
    return model;
}

/// A session on that GPU, and what it has told.
class GpuSession {
public:
    explicit GpuSession(const std::shared_ptr<GpuSlot>& slot)
        : m_session({.loader = [slot](const LoadModel&, const ModelLoadWork&) {
            return loadOnto(slot);
        }}) {}

    void send(EngineCommand command) { m_session.send(std::move(command)); }

    bool load() {
        send(LoadModel{"tiny"});
        send(ChooseDecoder{"vanilla"});
        return next<ModelLoaded>() != nullptr && next<DecoderChosen>() != nullptr;
    }

    void ask(std::uint64_t id) {
        send(SubmitPrompt{.promptId = id, .text = "abc", .maxTokens = 8});
    }

    /// The next event of this type; null if none comes.
    template <typename T> const T* next() {
        while (true) {
            for (; m_seen < m_events.size(); ++m_seen)
                if (const T* found = m_events[m_seen].template as<T>()) {
                    ++m_seen;
                    return found;
                }
            if (!m_session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
                return nullptr;
            for (EngineEvent& event : m_session.takeEvents())
                m_events.push_back(std::move(event));
        }
    }

private:
    EngineSession m_session;
    std::deque<EngineEvent> m_events; // a deque: events given out stay where they are
    std::size_t m_seen = 0;
};

} // namespace

class CudaSessionTest : public QObject {
    Q_OBJECT

private slots:
    void aGpuThatIsLostWhileAnsweringIsOneSentenceAndCanBeLoadedAgain();
};

void CudaSessionTest::aGpuThatIsLostWhileAnsweringIsOneSentenceAndCanBeLoadedAgain() {
    const auto slot = std::make_shared<GpuSlot>();
    GpuSession session(slot);
    QVERIFY(session.load());
    session.ask(1);
    const PromptFinished* first = session.next<PromptFinished>();
    QVERIFY(first != nullptr);
    slot->launchesLeft = 2; // behind the first token
    session.ask(2);
    const EngineFailed* lost = session.next<EngineFailed>();
    QVERIFY(lost != nullptr);
    QCOMPARE(lost->task, std::string("submit_prompt"));
    QCOMPARE(lost->error.code, ErrorCode::Device);
    QCOMPARE(lost->error.message, std::string("The GPU was reset."));
    QVERIFY(!lost->error.hint.empty());
    // The session lives on; the model is lost, and says why in the same words.
    session.send(CountTokens{.requestId = 1, .text = "abc"});
    QVERIFY(session.next<TokensCounted>() != nullptr);
    session.ask(3);
    const EngineFailed* again = session.next<EngineFailed>();
    QVERIFY(again != nullptr);
    QCOMPARE(again->error.code, ErrorCode::Device);
    QCOMPARE(again->error.message, lost->error.message);
    QVERIFY(session.load());
    session.ask(4);
    const PromptFinished* last = session.next<PromptFinished>();
    QVERIFY(last != nullptr);
    QCOMPARE(last->tokens, first->tokens);
}

QTEST_GUILESS_MAIN(CudaSessionTest)
#include "cuda_session_test.moc"
