// SPDX-License-Identifier: Apache-2.0
// When auto drafts with a draft adapter and when it lets it rest, at made-up prices: no clock of
// the machine is asked.
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/transformers/priced_transformer.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <cmath>
#include <utility>

using namespace engine;
using support::AdapterKind;
using support::PricedTransformer;

namespace {

constexpr int kLayers = 12;
constexpr double kPlainMs = 10.0;

/// The adapter alone makes passes for drafts, and nothing is searched.
const SettingValues kAdapterOnly = {{"lookup", 0.0},
                                    {"successors", 0.0},
                                    {"skip_layers", 0.0},
                                    {"early_exit", 0.0},
                                    {"search_beside", 0.0}};

/// All layers are silent, so the next token depends on the newest one alone.
Transformer& bigrams() {
    static const auto made =
        support::quietModel(kLayers, 7, {.first = 0, .end = kLayers, .part = 0.0F});
    return *made;
}

/// Knows that network: its last norm is the network's.
DraftAdapter knowing() {
    DraftAdapter adapter = support::makeAdapter(bigrams().config(), AdapterKind::Bigram, 3);
    support::MemoryWeights weights = support::randomWeights(bigrams().config(), 7);
    adapter.tensors["model.norm.weight"] = weights.values("model.norm.weight");
    return adapter;
}

Transformer& dense() {
    static const auto made = support::layeredModel(kLayers, 21);
    return *made;
}

DraftAdapter ignorant(AdapterKind kind) { return support::makeAdapter(dense().config(), kind, 4); }

/// The network of an adapter whose passes take a tenth of the model's and count as its time.
class PricedNetwork final : public support::WrappingTransformer {
public:
    PricedNetwork(std::unique_ptr<Transformer> inner, PricedTransformer& model)
        : WrappingTransformer(std::move(inner))
        , m_model(model) {}

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        const int rows = request.layout.rowCount();
        m_model.nowMs += 0.1 * kPlainMs * (1.0 + m_model.prices.rowPart * (rows - 1));
        ++passes;
        auto ran = inner().forwardInto(request, cache, result);
        if (isWrong || passes <= wrongPasses)
            for (HeadSummary& summary : result.summaries)
                for (TokenId& id : summary.ids)
                    id = (id + 1) % config().vocabSize;
        return ran;
    }

    int passes = 0;
    bool isWrong = false;
    int wrongPasses = 0; // the first ones

private:
    PricedTransformer& m_model;
};

/// What some answers were made of.
struct Run {
    std::vector<TokenId> tokens;
    std::vector<DraftChoice> choices; // by round
    std::vector<std::string> notes;
    double ms = 0.0; // without reading prompts

    int tuned(std::size_t lastRounds = 1'000'000) const {
        int count = 0;
        for (std::size_t i = choices.size() - std::min(lastRounds, choices.size());
             i < choices.size();
             ++i)
            count += choices[i].drafter == "tuned" ? 1 : 0;
        return count;
    }

    /// Of vanilla's speed.
    double speed() const { return kPlainMs * static_cast<double>(tokens.size()) / ms; }
};

class Talk {
public:
    Talk(Transformer& inner,
         const DraftAdapter& adapter,
         const SettingValues& settings = kAdapterOnly,
         const SamplingOptions& sampling = {})
        : priced(inner) {
        auto drafting = support::makeDrafting(inner, adapter);
        auto network = std::make_unique<PricedNetwork>(std::move(drafting->network), priced);
        adapterNetwork = network.get();
        drafting->network = std::move(network);
        priced.useDraftModel(std::move(drafting));
        m_decoder = support::openDecoder("auto",
                                         {.transformer = priced,
                                          .sampling = sampling,
                                          .contextLength = 512,
                                          .settings = settings,
                                          .clock = priced.clock()});
    }

    /// Answers of 200 tokens.
    Run make(int answers) {
        Run run;
        for (int i = 0; i < answers; ++i)
            answer(run);
        return run;
    }

    PricedTransformer priced;
    PricedNetwork* adapterNetwork = nullptr;

private:
    void answer(Run& run) {
        std::vector<TokenId> prompt;
        for (int i = 0; i < 8; ++i)
            prompt.push_back((m_seed * 37 + i * 23) % 160);
        ++m_seed;
        for (DecodeStep& step :
             support::answer(*m_decoder, {.tokens = prompt, .maxTokens = 200, .task = "task"})) {
            run.tokens.insert(run.tokens.end(), step.tokens.begin(), step.tokens.end());
            run.choices.push_back(step.choice);
            run.ms += step.draftMs + step.verifyMs + step.search.searchMs;
            for (std::string& note : step.search.notes)
                run.notes.push_back(std::move(note));
        }
        ENGINE_CHECK(m_decoder->endAnswer().hasValue(), "an answer's end");
    }

    std::unique_ptr<Decoder> m_decoder;
    int m_seed = 1;
};

std::vector<TokenId>
vanillaTokens(Transformer& model, int answers, const SamplingOptions& sampling = {}) {
    const auto decoder = support::openDecoder(
        "vanilla", {.transformer = model, .sampling = sampling, .contextLength = 512});
    std::vector<TokenId> tokens;
    for (int seed = 1; seed <= answers; ++seed) {
        std::vector<TokenId> prompt;
        for (int i = 0; i < 8; ++i)
            prompt.push_back((seed * 37 + i * 23) % 160);
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 200}))
            tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
    }
    return tokens;
}

void report(const char* name, const Talk& talk, const Run& run) {
    qInfo("%s: %.3f of vanilla's speed, %zu rounds, %d of them by the adapter; so far %d of its "
          "passes, %d passes of the model handed out streams",
          name,
          run.speed(),
          run.choices.size(),
          run.tuned(),
          talk.adapterNetwork->passes,
          talk.priced.handedOut);
}

} // namespace

class AutoAdapterTest : public QObject {
    Q_OBJECT

private slots:

    void aGoodAdapterIsUsedFromTheFirstStart_data() {
        QTest::addColumn<double>("temperature");
        QTest::newRow("greedy") << 0.0;
        QTest::newRow("drawn") << 0.8;
    }

    void aGoodAdapterIsUsedFromTheFirstStart() {
        QFETCH(double, temperature);
        const SamplingOptions sampling{.temperature = temperature, .seed = 5};
        Talk talk(bigrams(), knowing(), kAdapterOnly, sampling);
        const Run first = talk.make(1);
        report("first answer", talk, first);
        // All but the first round, which measures a plain step, and what is left of an answer.
        QVERIFY(first.tuned() >= static_cast<int>(first.choices.size()) - 4);
        const Run run = talk.make(3);
        report("good", talk, run);
        QVERIFY(run.speed() > 2.0);
        QVERIFY(first.tokens == vanillaTokens(bigrams(), 1, sampling));
    }

    /// The first words of an answer are harder than what follows.
    void sevenMissesAtTheBeginningSendNoGoodAdapterToRest() {
        Talk talk(bigrams(), knowing());
        talk.adapterNetwork->wrongPasses = 8; // the prompt and seven rounds
        const Run first = talk.make(1);
        report("late", talk, first);
        QVERIFY(first.choices.size() > 22U); // 18 without the misses
        QVERIFY(first.tuned() >= static_cast<int>(first.choices.size()) - 4);
        QVERIFY(first.tokens == vanillaTokens(bigrams(), 1));
    }

    void itsChoicesSayWhatTheyPromise() {
        Talk talk(bigrams(), knowing());
        const Run run = talk.make(3);
        for (const DraftChoice& choice : run.choices) {
            QVERIFY(choice.drafter == "none" || choice.drafter == "tuned");
            QVERIFY(choice.refused != choice.drafter);
            if (choice.drafter == "tuned" && !choice.isProbe)
                QVERIFY(choice.expectedTokens > 1.02 * choice.expectedCost);
        }
    }

    void anIgnorantAdapterSoonRests_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("random") << static_cast<int>(AdapterKind::Random);
        QTest::newRow("zero") << static_cast<int>(AdapterKind::Zero);
        QTest::newRow("one token") << static_cast<int>(AdapterKind::OneToken);
    }

    /// A few rounds show what it is; then it is only probed, ever more rarely, and nothing is
    /// handed out to it in between.
    void anIgnorantAdapterSoonRests() {
        QFETCH(int, kind);
        Talk talk(dense(), ignorant(static_cast<AdapterKind>(kind)));
        const Run first = talk.make(1);
        report("ignorant, first answer", talk, first);
        QVERIFY(first.tuned() > 0);
        QVERIFY(first.tuned() < 30); // of 200
        const int before = talk.priced.handedOut;
        const Run run = talk.make(10);
        report("ignorant", talk, run);
        QVERIFY(run.tuned() < 12); // of 2,000
        QVERIFY(run.tuned() > 0);  // it is tried again
        for (const DraftChoice& choice : run.choices)
            QVERIFY(choice.drafter != "tuned" || choice.isProbe);
        QVERIFY(talk.priced.handedOut - before < 40 * (run.tuned() + 1));
        QVERIFY(run.speed() > 0.99);
        QVERIFY(first.tokens == vanillaTokens(dense(), 1));
    }

    /// Woken, it goes on in the middle of an answer, and reads nothing of what it missed.
    void anAdapterThatBecomesGoodIsFoundByProbing() {
        Talk talk(bigrams(), knowing());
        talk.adapterNetwork->isWrong = true;
        const Run wrong = talk.make(1);
        report("wrong", talk, wrong);
        QVERIFY(wrong.tuned(50) < 10);
        talk.adapterNetwork->isWrong = false;
        talk.make(20);
        const Run run = talk.make(2);
        report("right again", talk, run);
        QVERIFY(run.speed() > 1.5);
    }

    void whoWantsNoneIsGivenNone() {
        SettingValues settings = kAdapterOnly;
        settings["draft_adapter"] = 0.0;
        Talk talk(bigrams(), knowing(), settings);
        const Run run = talk.make(2);
        QCOMPARE(run.tuned(), 0);
        QCOMPARE(talk.adapterNetwork->passes, 0);
        QVERIFY(std::abs(run.speed() - 1.0) < 1e-6);
    }

    /// All ways of drafting together: by turns and beside each other.
    void withAllOthersItChangesNoToken() {
        for (const double temperature : {0.0, 0.8}) {
            const SamplingOptions sampling{.temperature = temperature, .seed = 6};
            Talk talk(bigrams(), knowing(), {}, sampling);
            const Run run = talk.make(3);
            report("all", talk, run);
            QVERIFY(run.tokens == vanillaTokens(bigrams(), 3, sampling));
            QVERIFY(run.speed() > 1.5);
        }
    }

    /// In float32 its products are not finite.
    void aBrokenAdapterIsToldOnceAndLeftAlone() {
        const ModelConfig config = support::layeredConfig(kLayers);
        const auto model =
            makePlainTransformer(config, support::randomWeights(config, 9), {}).value();
        Talk talk(*model, support::makeAdapter(config, AdapterKind::Huge, 1));
        const Run run = talk.make(2);
        QCOMPARE(run.tuned(), 0);
        QCOMPARE(run.notes.size(), std::size_t{1});
        const int passes = talk.adapterNetwork->passes;
        QVERIFY(passes < 12);
        QCOMPARE(talk.make(2).tuned(), 0);
        QCOMPARE(talk.adapterNetwork->passes, passes);
        QVERIFY(run.tokens == vanillaTokens(*model, 2));
    }
};

QTEST_GUILESS_MAIN(AutoAdapterTest)
#include "auto_adapter_test.moc"
