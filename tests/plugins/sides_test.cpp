// SPDX-License-Identifier: Apache-2.0
// The same prompt answered by two sides of one session in turn, and what is made of their events.
#include "engine/decoding/target_decoder.h"
#include "engine/learn/sides/side_comparison.h"
#include "engine/session/asides.h"
#include "engine/session/engine_session.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/patience.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <chrono>
#include <map>

using namespace engine;

namespace {

constexpr int kLayers = 8;
constexpr int kTokens = 48;
constexpr int kFaultyToken = 20;
constexpr std::uint64_t kLeft = kFirstAside + 1;
constexpr std::uint64_t kRight = kFirstAside + 2;

Result<SessionModel> sideModel(const LoadModel&, const ModelLoadWork&) {
    SessionModel model; // drafts are accepted
    model.transformer = support::quietModel(kLayers, 11, {1, kLayers - 1, 0.2F});
    model.tokenizer = std::make_unique<test_support::ByteTokenizer>();
    model.contextLength = 400;
    model.backend = "plain";
    model.fingerprint = "51de";
    return model;
}

/// Writes another token than the full model once.
class FaultyDecoder final : public Decoder {
public:
    explicit FaultyDecoder(std::unique_ptr<Decoder> right)
        : m_right(std::move(right)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        m_written = 0;
        return m_right->begin(prompt, work);
    }

    Result<DecodeStep> step() override {
        ENGINE_TRY(DecodeStep step, m_right->step());
        if (m_written++ == kFaultyToken)
            step.tokens.front() = step.chances.front()[1].id;
        return step;
    }

    Result<DecodeStep> plainStep() override { return step(); }

    int remainingContext() const override { return m_right->remainingContext(); }

    int cachedTokens() const override { return m_right->cachedTokens(); }

private:
    std::unique_ptr<Decoder> m_right;
    int m_written = 0;
};

void addFaultyDecoder(DecoderRegistry& registry) {
    DecoderInfo info;
    info.name = info.title = "faulty";
    registry.add(
        std::move(info), [](const DecoderContext& context) -> Result<std::unique_ptr<Decoder>> {
            ENGINE_TRY(
                auto right,
                makeVanillaDecoder(context.transformer, context.sampling, context.contextLength));
            return std::unique_ptr<Decoder>(std::make_unique<FaultyDecoder>(std::move(right)));
        });
}

/// A session with two sides, and what came of them.
class TwoSides {
public:
    explicit TwoSides(std::filesystem::path dataFolder = {})
        : m_session({.moduleFolder = QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString(),
                     .dataFolder = std::move(dataFolder),
                     .loader = sideModel,
                     .addDecoders = addFaultyDecoder}) {
        m_session.send(LoadModel{"tiny"});
    }

    EngineSession& session() { return m_session; }

    void ask(std::uint64_t conversation,
             const std::string& decoder,
             double temperature,
             int maxTokens = kTokens) {
        SettingValues settings;
        if (decoder != "faulty")
            settings = support::neededSettings(decoder);
        m_session.send(
            SubmitPrompt{.promptId = conversation,
                         .text = "the sea the sea the land",
                         .task = "chat",
                         .maxTokens = maxTokens,
                         .sampling = SamplingOptions{.temperature = temperature, .seed = 5},
                         .decoder = ChooseDecoder{decoder, settings, conversation},
                         .conversation = conversation});
    }

    SideAnswer& side(std::uint64_t conversation) { return m_sides[conversation]; }

    /// Waits until these are over. False after a long time.
    bool finish(const std::vector<std::uint64_t>& conversations) {
        const auto isOver = [&] {
            return std::ranges::all_of(conversations,
                                       [&](std::uint64_t id) { return side(id).isOver(); });
        };
        while (!isOver()) {
            if (!m_session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
                return false;
            take();
        }
        return true;
    }

    void take() {
        for (EngineEvent& event : m_session.takeEvents()) {
            side(event.conversation).apply(event);
            events.push_back(std::move(event));
        }
    }

    std::vector<EngineEvent> events;

private:
    EngineSession m_session;
    std::map<std::uint64_t, SideAnswer> m_sides;
};

} // namespace

class SidesTest : public QObject {
    Q_OBJECT

private slots:
    void everyDecoderIsEqualToVanilla_data();
    void everyDecoderIsEqualToVanilla();
    void theFirstWrongTokenOfAFaultyDecoderIsTold();
    void aSidesTimeIsThatOfItsOwnStepsAlone();
    void aStopEndsBothSides();
    void asidesStoreNothing();
    void noStepOfAnAsideIsABaseline();
};

void SidesTest::everyDecoderIsEqualToVanilla_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<double>("temperature");
    std::size_t turn = 0; // in a sample one decoder is greedy, and the next one draws
    for (const std::string& name : support::decoderNames()) {
        const double own = turn++ % 2 == 0 ? 0.0 : 0.9;
        for (const double temperature : {0.0, 0.9})
            if (temperature == own || support::takesAllCases())
                QTest::addRow("%s at %.1f", name.c_str(), temperature)
                    << QString::fromStdString(name) << temperature;
    }
}

void SidesTest::everyDecoderIsEqualToVanilla() {
    QFETCH(QString, decoder);
    QFETCH(double, temperature);
    TwoSides sides;
    sides.ask(kLeft, "vanilla", temperature);
    sides.ask(kRight, decoder.toStdString(), temperature);
    QVERIFY(sides.finish({kLeft, kRight}));
    const SideAnswer& right = sides.side(kRight);
    QVERIFY2(!right.error, right.error ? right.error->message.c_str() : "");
    const SideComparison compared = compareSides(sides.side(kLeft), right);
    QCOMPARE(compared.equal, kTokens);
    QVERIFY(compared.areEqual());
    QVERIFY(compared.probabilityDrift < 1e-9); // double precision
}

void SidesTest::theFirstWrongTokenOfAFaultyDecoderIsTold() {
    TwoSides sides;
    sides.ask(kLeft, "vanilla", 0.0);
    sides.ask(kRight, "faulty", 0.0);
    QVERIFY(sides.finish({kLeft, kRight}));
    const SideComparison compared = compareSides(sides.side(kLeft), sides.side(kRight));
    QVERIFY(compared.isWhole && !compared.areEqual());
    QCOMPARE(compared.equal, kFaultyToken);
    QVERIFY(compared.difference && compared.difference->left && compared.difference->right);
    QCOMPARE(compared.difference->position, kFaultyToken);
    const EmittedToken& meant = *compared.difference->left;
    QCOMPARE(compared.difference->right->id, meant.choices[1].id);
    QVERIFY(meant.choices[0].id == meant.id);
    QVERIFY(compared.difference->gap && *compared.difference->gap > 0.0);
}

/// Both times together are no longer than the time in which both were made, so neither holds the
/// other's.
void SidesTest::aSidesTimeIsThatOfItsOwnStepsAlone() {
    TwoSides sides;
    sides.ask(kLeft, "vanilla", 0.0);
    sides.ask(kRight, "swift", 0.0);
    QVERIFY(sides.finish({kLeft, kRight}));
    std::vector<std::uint64_t> order;
    double begin = -1.0;
    double end = 0.0;
    for (const EngineEvent& event : sides.events) {
        if (event.as<PromptStarted>() != nullptr && begin < 0.0)
            begin = event.time;
        if (event.as<StepFinished>() != nullptr) {
            order.push_back(event.conversation);
            end = event.time;
        }
    }
    const double both = sides.side(kLeft).decodeMs + sides.side(kRight).decodeMs;
    QVERIFY(both > 0.0);
    QVERIFY2(both <= (end - begin) * 1e3, qPrintable(QString::number(both)));
    // They took turns as long as both had something to write.
    const auto rounds = std::min(sides.side(kLeft).rounds.size(), sides.side(kRight).rounds.size());
    QVERIFY(rounds > 2);
    for (std::size_t i = 2; i < 2 * rounds - 2; ++i)
        QVERIFY(order[i] != order[i - 1]);
}

void SidesTest::aStopEndsBothSides() {
    TwoSides sides;
    sides.ask(kLeft, "vanilla", 0.0, 300);
    sides.ask(kRight, "swift", 0.0, 300);
    for (const std::uint64_t conversation : {kLeft, kRight})
        sides.session().send(StopGeneration{conversation});
    QVERIFY(sides.finish({kLeft, kRight}));
    const SideComparison compared = compareSides(sides.side(kLeft), sides.side(kRight));
    QVERIFY(compared.isOver && !compared.isWhole && !compared.difference);
    QVERIFY(!sides.side(kLeft).error && !sides.side(kRight).error);
    QVERIFY(sides.side(kLeft).tokens.size() < 300);
}

/// The same answers, given to a conversation of its own, store what they have found.
void SidesTest::asidesStoreNothing() {
    const auto storedBy = [](std::uint64_t conversation) {
        const test_support::TemporaryFolder folder;
        {
            TwoSides sides(folder.path());
            for (const char* decoder : {"swift", "auto", "lookup", "clasp"}) {
                sides.side(conversation) = {};
                sides.ask(conversation, decoder, 0.0, support::takesAllCases() ? 300 : 150);
                if (!sides.finish({conversation}))
                    return std::size_t{1000};
            }
            sides.session().send(CloseConversation{conversation});
            sides.session().send(ListSkipSets{1});
            const auto isListed = [](const EngineEvent& event) {
                return event.as<SkipSetsListed>() != nullptr;
            };
            while (std::ranges::none_of(sides.events, isListed) &&
                   sides.session().waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
                sides.take();
        }
        std::size_t files = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
            files += entry.is_regular_file() ? 1 : 0;
        return files;
    };
    QCOMPARE(storedBy(kLeft), std::size_t{0});
    QVERIFY(storedBy(1) > 0);
}

void SidesTest::noStepOfAnAsideIsABaseline() {
    TwoSides sides;
    sides.ask(kLeft, "jacobi", 0.0, 300);
    sides.ask(1, "jacobi", 0.0, 300);
    QVERIFY(sides.finish({kLeft, 1}));
    std::map<std::uint64_t, int> baselines;
    for (const EngineEvent& event : sides.events)
        if (const auto* step = event.as<StepFinished>())
            baselines[event.conversation] += step->isBaseline ? 1 : 0;
    QCOMPARE(baselines[kLeft], 0);
    QVERIFY(baselines[1] > 0);
}

QTEST_GUILESS_MAIN(SidesTest)
#include "sides_test.moc"
