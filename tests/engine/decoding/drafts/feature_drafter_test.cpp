// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/decoding/trained/feature_drafter.h"
#include "engine/model/cpu/cpu_backend.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/transformers/spy_transformer.h"

#include <QTest>

#include <numeric>
#include <random>

using namespace engine;
using support::AdapterKind;

namespace {

constexpr int kContext = 200;

std::unique_ptr<DraftModel> draftModel(const Transformer& model, AdapterKind kind) {
    return support::valueOf(makeDraftModel(model, support::makeAdapter(model.config(), kind, 3)));
}

Target targetOf(Transformer& model) { return Target::make(model, {}, kContext, 64).value(); }

FeatureDrafter drafterOf(DraftModel& model) {
    return FeatureDrafter::make(model, kContext, 8).value();
}

void begin(Target& target, FeatureDrafter& drafter, std::span<const TokenId> prompt) {
    const PromptWork work = drafter.watch(target, prompt, {});
    ENGINE_CHECK(target.begin({.tokens = prompt}, work).hasValue(), "not begun");
    ENGINE_CHECK(drafter.take().hasValue() && drafter.begin(target).hasValue(), "not taken");
}

DraftTree draft(Target& target, FeatureDrafter& drafter, int depth) {
    return support::valueOf(drafter.draft(target, {.siblings = {{1, 1, 1, 2}}, .maxDepth = depth}))
        .tree;
}

void verify(Target& target, FeatureDrafter& drafter, DraftTree tree) {
    auto step = target.verify(Draft(std::move(tree)), {.handOuts = drafter.handOuts(target)});
    ENGINE_CHECK(step.hasValue() && drafter.observe(step.value()).hasValue(), "not verified");
}

std::vector<TokenId> textOf(const Target& target) {
    std::vector<TokenId> text(target.cachedTokens().begin(), target.cachedTokens().end());
    text.push_back(target.pending());
    return text;
}

/// Fails unless the drafter's cache and next draft are those of one that reads the text anew.
void equalsAFreshOne(Transformer& model, Target& target, FeatureDrafter& drafter) {
    const DraftTree found = draft(target, drafter, 3);
    QCOMPARE(drafter.cache().length(), target.length());
    const std::vector<TokenId> text = textOf(target);
    QVERIFY(std::equal(text.begin() + 1, text.end(), drafter.following().begin()));
    Target other = targetOf(model);
    FeatureDrafter fresh = drafterOf(const_cast<DraftModel&>(drafter.model()));
    begin(other, fresh, text);
    const DraftTree wanted = draft(other, fresh, 3);
    QVERIFY(std::ranges::equal(found.nodes(), wanted.nodes()));
    QVERIFY(support::liveBytes(drafter.cache()) == support::liveBytes(fresh.cache()));
    verify(target, drafter, found);
}

std::unique_ptr<Transformer> cpuModel(const ModelConfig& config, const WeightSource& weights) {
    return support::valueOf(makeCpuTransformer(config, weights, {.threads = 2}));
}

/// Four rows of made-up streams through a draft network, in passes of these sizes.
struct Passes {
    std::vector<HeadSummary> summaries;
    std::vector<std::byte> cache;
};

Passes passes(Transformer& network, std::span<const int> sizes) {
    const auto width = static_cast<std::size_t>(network.config().hiddenSize);
    std::mt19937 random(5);
    std::uniform_real_distribution<float> part(-0.5F, 0.5F);
    std::vector<double> streams;
    std::vector<TokenId> tokens;
    for (int row = 0; row < std::accumulate(sizes.begin(), sizes.end(), 0); ++row) {
        tokens.push_back(
            static_cast<TokenId>(random() % static_cast<unsigned>(network.config().vocabSize)));
        for (std::size_t i = 0; i < width; ++i)
            streams.push_back(part(random));
    }
    KvCache cache = network.makeCache(16).value();
    const LayerPlan plan = LayerPlan::full(network.config().layerCount);
    Passes made;
    std::size_t first = 0;
    for (const int size : sizes) {
        std::vector<int> rows(static_cast<std::size_t>(size));
        std::iota(rows.begin(), rows.end(), 0);
        const AttentionLayout layout = AttentionLayout::chain(cache.length(), size);
        const auto result = support::valueOf(network.forward(
            {.plan = plan,
             .layout = layout,
             .tokens = std::span(tokens).subspan(first, rows.size()),
             .streams = std::span(streams).subspan(first * width, rows.size() * width),
             .summaryRows = rows},
            cache));
        cache.commit(size);
        first += rows.size();
        for (const HeadSummary& summary : result.summaries)
            made.summaries.push_back(summary);
    }
    made.cache = support::liveBytes(cache);
    return made;
}

bool areSameBits(const Passes& a, const Passes& b) {
    return a.cache == b.cache &&
           std::ranges::equal(a.summaries, b.summaries, [](const auto& x, const auto& y) {
               return x.ids == y.ids && x.logits == y.logits && x.logSumExp == y.logSumExp;
           });
}

} // namespace

class FeatureDrafterTest : public QObject {
    Q_OBJECT

private slots:
    void afterEachRoundItsCacheIsThatOfAFreshOne();
    void anotherPromptKeepsWhatItShares();
    void aPromptReadInPiecesIsTheSame();
    void aLongPromptLeavesOneRowWaiting();
    void withoutStreamsNothingIsDrafted();
    void aModelOfOneTokenBehindAnotherIsDraftedWithoutFault();
    void numbersThatAreNotFiniteSwitchItOff();
    void whileItIsOffItStoresNothing();
    void itGoesOnBehindWhatItMissed();
    void aPromptKeepsOnlyWhatItKnowsOfIt();
    void weightsThatAreNotFiniteAreRefused();
    void weightsThatHalvesDoNotHoldAreRefusedWhereTheyAreRounded();
    void onlyModelsWithNarrowWeightsRoundTheirDraftNetworks();
    void onTheCpuItComputesWhatThePlainBackendDoes();
    void rowsAreTheSameBitsInAnyPass_data();
    void rowsAreTheSameBitsInAnyPass();
    void aBackendWithoutDraftNetworksRefuses();
};

void FeatureDrafterTest::afterEachRoundItsCacheIsThatOfAFreshOne() {
    const auto model = support::layeredModel(4, 7);
    for (const AdapterKind kind : {AdapterKind::Random, AdapterKind::Bigram}) {
        const auto adapter = draftModel(*model, kind);
        Target target = targetOf(*model);
        FeatureDrafter drafter = drafterOf(*adapter);
        begin(target, drafter, std::vector<TokenId>{3, 1, 4, 1, 5, 9, 2, 6});
        for (int round = 0; round < 12; ++round) {
            equalsAFreshOne(*model, target, drafter);
            if (round % 3 == 0) // a plain step between
                verify(target, drafter, {});
        }
    }
}

void FeatureDrafterTest::anotherPromptKeepsWhatItShares() {
    const auto model = support::layeredModel(4, 7);
    const auto adapter = draftModel(*model, AdapterKind::Random);
    Target target = targetOf(*model);
    FeatureDrafter drafter = drafterOf(*adapter);
    begin(target, drafter, std::vector<TokenId>{3, 1, 4, 1, 5, 9, 2, 6});
    for (int round = 0; round < 5; ++round)
        verify(target, drafter, draft(target, drafter, 3));
    std::vector<TokenId> next = textOf(target); // the next turn of a chat
    next.insert(next.end(), {8, 8, 7});
    const std::vector<std::vector<TokenId>> prompts = {
        next, {next.begin(), next.begin() + 9}, {3, 1, 4, 1, 5, 7, 7}, {3, 1}, {2}, {2, 3, 4}};
    for (const std::vector<TokenId>& prompt : prompts) {
        begin(target, drafter, prompt);
        equalsAFreshOne(*model, target, drafter);
        equalsAFreshOne(*model, target, drafter);
    }
}

void FeatureDrafterTest::aPromptReadInPiecesIsTheSame() {
    ModelConfig config = support::layeredConfig(3);
    const auto model = support::plainModel(config, support::randomWeights(config, 4));
    const auto adapter = draftModel(*model, AdapterKind::Random);
    std::vector<TokenId> prompt;
    for (int i = 0; i < 500; ++i)
        prompt.push_back(i * i % 159);
    Target target = Target::make(*model, {}, 510, 64).value();
    FeatureDrafter drafter = FeatureDrafter::make(*adapter, 510, 8).value();
    int pieces = 0;
    for (bool isRead = true; isRead; pieces += isRead ? 1 : 0) {
        const PromptWork work = drafter.watch(target, prompt, {});
        isRead = target.readAhead({.tokens = prompt}, work).value();
        QVERIFY(drafter.take().hasValue());
    }
    QVERIFY(pieces > 1);
    begin(target, drafter, prompt);
    const DraftTree found = draft(target, drafter, 3);
    Target whole = Target::make(*model, {}, 510, 64).value();
    FeatureDrafter fresh = FeatureDrafter::make(*adapter, 510, 8).value();
    begin(whole, fresh, prompt);
    QVERIFY(std::ranges::equal(found.nodes(), draft(whole, fresh, 3).nodes()));
    QVERIFY(support::liveBytes(drafter.cache()) == support::liveBytes(fresh.cache()));
}

/// It catches up while the prompt is read, so that nothing grows with the prompt.
void FeatureDrafterTest::aLongPromptLeavesOneRowWaiting() {
    const ModelConfig config = support::layeredConfig(3);
    const auto model = support::plainModel(config, support::randomWeights(config, 4));
    const auto adapter = draftModel(*model, AdapterKind::Random);
    std::vector<TokenId> prompt;
    for (int i = 0; i < 400; ++i)
        prompt.push_back(i * i % 159);
    Target target = Target::make(*model, {}, 410, 64).value();
    FeatureDrafter drafter = FeatureDrafter::make(*adapter, 410, 8).value();
    std::vector<std::size_t> waiting; // behind each piece
    PromptWork work;
    work.progress = [&](double) {
        waiting.push_back(drafter.waiting().size() / toSize(config.hiddenSize));
    };
    const PromptWork watched = drafter.watch(target, prompt, work);
    QVERIFY(target.begin({.tokens = prompt}, watched).hasValue());
    QCOMPARE(waiting, std::vector<std::size_t>(4, 1));
    QCOMPARE(drafter.following().size(), prompt.size() - 2);
    QVERIFY(std::equal(prompt.begin() + 1, prompt.end() - 1, drafter.following().begin()));
}

void FeatureDrafterTest::withoutStreamsNothingIsDrafted() {
    const auto model = support::layeredModel(4, 7);
    const auto adapter = draftModel(*model, AdapterKind::Random);
    Target target = targetOf(*model);
    FeatureDrafter drafter = drafterOf(*adapter);
    begin(target, drafter, std::vector<TokenId>{3}); // no row is cached yet
    const DraftTree none = draft(target, drafter, 3);
    QCOMPARE(none.size(), 0);
    QCOMPARE(none.end().reason, DraftEndReason::Nothing);
}

/// All layers are silent, so the next token depends on the newest one alone.
void FeatureDrafterTest::aModelOfOneTokenBehindAnotherIsDraftedWithoutFault() {
    const auto model = support::quietModel(4, 7, {.first = 0, .end = 4, .part = 0.0F});
    // Its final norm is that of the model.
    DraftAdapter known = support::makeAdapter(model->config(), AdapterKind::Bigram, 3);
    support::MemoryWeights weights = support::randomWeights(model->config(), 7);
    known.tensors["model.norm.weight"] = weights.values("model.norm.weight");
    const auto adapter = makeDraftModel(*model, known);
    QVERIFY(adapter.hasValue());
    Target target = targetOf(*model);
    FeatureDrafter drafter = drafterOf(*adapter.value());
    begin(target, drafter, std::vector<TokenId>{3, 1, 4});
    for (int round = 0; round < 10; ++round) {
        const Position before = target.length();
        verify(target, drafter, draft(target, drafter, 4));
        QCOMPARE(target.length(), before + 5); // all four and the model's own
    }
}

void FeatureDrafterTest::numbersThatAreNotFiniteSwitchItOff() {
    const ModelConfig config = support::layeredConfig(4);
    auto made = makePlainTransformer(config, support::randomWeights(config, 7), {});
    QVERIFY(made.hasValue()); // float32: in double the products are finite
    const auto adapter = draftModel(*made.value(), AdapterKind::Huge);
    Target target = targetOf(*made.value());
    FeatureDrafter drafter = drafterOf(*adapter);
    begin(target, drafter, std::vector<TokenId>{3, 1});
    for (int round = 0; round < 5; ++round) {
        QCOMPARE(drafter.isOff(), round >= FeatureDrafter::kMostFailures);
        verify(target, drafter, draft(target, drafter, 4));
    }
    QCOMPARE(target.output().size(), std::size_t{5});
    drafter.forget();
    QVERIFY(!drafter.isOff());
}

void FeatureDrafterTest::whileItIsOffItStoresNothing() {
    const ModelConfig config = support::layeredConfig(3);
    auto made = makePlainTransformer(config, support::randomWeights(config, 7), {});
    QVERIFY(made.hasValue());
    const auto adapter = draftModel(*made.value(), AdapterKind::Huge);
    Target target = Target::make(*made.value(), {}, 480, 64).value();
    FeatureDrafter drafter = FeatureDrafter::make(*adapter, 480, 8).value();
    std::vector<TokenId> prompt;
    for (int i = 0; i < 450; ++i) // a piece for each failure and one more
        prompt.push_back(i * i % 159);
    begin(target, drafter, prompt);
    QVERIFY(drafter.isOff());
    QVERIFY(drafter.waiting().empty());
    for (int round = 0; round < 3; ++round) {
        QVERIFY(drafter.handOuts(target).empty());
        verify(target, drafter, draft(target, drafter, 4));
        QVERIFY(drafter.waiting().empty());
    }
    drafter.forget();
    QCOMPARE(draft(target, drafter, 4).size(), 0); // what it missed is not there
    // The long text is not read again for it.
    const std::vector<TokenId> next = textOf(target);
    const PromptWork work = drafter.watch(target, next, {});
    QVERIFY(drafter.isOff());
    QVERIFY(work.streams == nullptr);
    // Another text is read anyway, so it is tried once more.
    drafter.forget();
    begin(target, drafter, std::vector<TokenId>{3, 1, 4});
    QVERIFY(!drafter.isOff());
    QVERIFY(!drafter.waiting().empty());
}

/// It rests, joins, and from there on is as one whose text begins there: the positions of its slots
/// count from that row, and only their distances matter.
void FeatureDrafterTest::itGoesOnBehindWhatItMissed() {
    const auto model = support::layeredModel(4, 7);
    const auto adapter = draftModel(*model, AdapterKind::Random);
    Target target = targetOf(*model);
    FeatureDrafter drafter = drafterOf(*adapter);
    begin(target, drafter, std::vector<TokenId>{3, 1, 4, 1, 5, 9, 2, 6});
    verify(target, drafter, draft(target, drafter, 3));
    drafter.rest();
    for (int round = 0; round < 3; ++round) {
        QVERIFY(drafter.rests());
        QVERIFY(drafter.handOuts(target).empty());
        QCOMPARE(draft(target, drafter, 3).size(), 0);
        verify(target, drafter, {});
        QVERIFY(drafter.waiting().empty());
    }
    const Position joined = target.length();
    drafter.join(target);
    QVERIFY(!drafter.rests() && !drafter.isWhole());
    QCOMPARE(draft(target, drafter, 3).size(), 0); // no row yet
    verify(target, drafter, {});
    for (int round = 0; round < 4; ++round) {
        const DraftTree found = draft(target, drafter, 3);
        QVERIFY(found.size() >= 3);
        QCOMPARE(drafter.cache().length(), target.length() - joined);
        const std::vector<TokenId> text = textOf(target);
        QVERIFY(std::equal(text.begin() + joined + 1, text.end(), drafter.following().begin()));
        verify(target, drafter, found);
    }
}

void FeatureDrafterTest::aPromptKeepsOnlyWhatItKnowsOfIt() {
    const auto model = support::layeredModel(4, 7);
    const auto adapter = draftModel(*model, AdapterKind::Random);
    Target target = targetOf(*model);
    FeatureDrafter drafter = drafterOf(*adapter);
    begin(target, drafter, std::vector<TokenId>{3, 1, 4, 1, 5, 9, 2, 6});
    verify(target, drafter, {});
    drafter.rest();
    verify(target, drafter, {});
    drafter.join(target);
    const auto joined = static_cast<std::size_t>(target.length());
    for (int round = 0; round < 4; ++round)
        verify(target, drafter, draft(target, drafter, 3));
    std::vector<TokenId> next = textOf(target); // the next turn of the chat
    next.insert(next.end(), {8, 8, 7});
    begin(target, drafter, next);
    QVERIFY(!drafter.isWhole());
    QCOMPARE(joined + drafter.knownRows(), next.size() - 1);
    verify(target, drafter, draft(target, drafter, 3));
    // Of another text it has nothing, so all of it is read, and it is whole again.
    begin(target, drafter, std::vector<TokenId>{3, 1, 4, 1, 7, 7});
    QVERIFY(drafter.isWhole());
    equalsAFreshOne(*model, target, drafter);
    equalsAFreshOne(*model, target, drafter);
}

void FeatureDrafterTest::weightsThatAreNotFiniteAreRefused() {
    const auto model = support::layeredModel(4, 7);
    DraftAdapter adapter = support::makeAdapter(model->config(), AdapterKind::Random, 3);
    adapter.tensors["draft.input.weight"][5] = std::numeric_limits<float>::quiet_NaN();
    const auto made = makeDraftModel(*model, adapter);
    QVERIFY(!made.hasValue());
    QVERIFY(made.error().message.find("in.weight") != std::string::npos);
}

/// What is finite as float32 may be none of the halves that scale a group of 4-bit numbers.
void FeatureDrafterTest::weightsThatHalvesDoNotHoldAreRefusedWhereTheyAreRounded() {
    ModelConfig config = support::layeredConfig(3);
    config.hiddenSize = 64;
    config.mlpSize = 96;
    config.headDim = 16;
    const support::StoredWeights weights(support::randomWeights(config, 4), TensorType::BF16);
    const auto make = [&](WeightForm form) {
        return makeCpuTransformer(config, weights, {.threads = 1, .weights = form}).value();
    };
    const auto rounding = make(WeightForm::File);
    const auto exact = make(WeightForm::F32);
    for (const float large : {1e6F, -70000.0F}) { // the step, the least number
        DraftAdapter adapter = support::makeAdapter(config, AdapterKind::Random, 3);
        adapter.tensors["model.layers.0.mlp.up_proj.weight"][5] = large;
        const auto refused = makeDraftModel(*rounding, adapter);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::Numeric);
        QVERIFY(refused.error().message.find("layer.0.mlp.up") != std::string::npos);
        QVERIFY(!refused.error().hint.empty());
        QVERIFY(makeDraftModel(*exact, adapter).hasValue());
    }
}

void FeatureDrafterTest::onlyModelsWithNarrowWeightsRoundTheirDraftNetworks() {
    const ModelConfig config = support::layeredConfig(3);
    const support::StoredWeights weights(support::randomWeights(config, 4), TensorType::BF16);
    const auto rounds = [&](WeightForm form) {
        return makeCpuTransformer(config, weights, {.threads = 1, .weights = form})
            .value()
            ->roundsDraftNetworks();
    };
    QVERIFY(rounds(WeightForm::File));
    QVERIFY(!rounds(WeightForm::F32));
    QVERIFY(!support::plainModel(config, support::randomWeights(config, 4))->roundsDraftNetworks());
}

void FeatureDrafterTest::onTheCpuItComputesWhatThePlainBackendDoes() {
    const ModelConfig config = support::layeredConfig(3);
    const support::MemoryWeights weights = support::randomWeights(config, 4);
    const auto fast = cpuModel(config, weights);
    const auto reference = support::plainModel(config, weights);
    const std::vector<int> sizes = {3, 1, 4, 1};
    const Passes found = passes(*draftModel(*fast, AdapterKind::Random)->network, sizes);
    const Passes wanted = passes(*draftModel(*reference, AdapterKind::Random)->network, sizes);
    for (std::size_t row = 0; row < wanted.summaries.size(); ++row) {
        const HeadSummary& a = found.summaries[row];
        const HeadSummary& b = wanted.summaries[row];
        QCOMPARE(a.best(), b.best());
        QVERIFY(std::abs(a.logits[0] - b.logits[0]) < 1e-3);
        QVERIFY(std::abs(a.logSumExp - b.logSumExp) < 1e-3);
    }
}

void FeatureDrafterTest::rowsAreTheSameBitsInAnyPass_data() {
    QTest::addColumn<int>("type");
    QTest::newRow("float32") << static_cast<int>(TensorType::F32);
    QTest::newRow("4 bits") << static_cast<int>(TensorType::Q4_1);
    QTest::newRow("bfloat16") << static_cast<int>(TensorType::BF16);
}

void FeatureDrafterTest::rowsAreTheSameBitsInAnyPass() {
    QFETCH(const int, type);
    ModelConfig config = support::layeredConfig(3);
    config.hiddenSize = 64;
    config.mlpSize = 96;
    config.headDim = 16;
    const support::StoredWeights weights(support::randomWeights(config, 4),
                                         static_cast<TensorType>(type));
    auto made = makeCpuTransformer(config, weights, {.threads = 2, .weights = WeightForm::File});
    QVERIFY(made.hasValue());
    const auto adapter = draftModel(*made.value(), AdapterKind::Random);
    QCOMPARE(adapter->network->arithmeticName().starts_with("4-bit"),
             static_cast<TensorType>(type) != TensorType::F32);
    // What is shared with the model is not counted again.
    QVERIFY(adapter->network->weightBytes() < 4 * 64 * (128 + 96 + 3 * 96 + 112 + 8));
    const Passes alone = passes(*adapter->network, std::vector<int>(9, 1));
    for (const std::vector<int>& sizes :
         {std::vector<int>{9}, {2, 2, 2, 3}, {1, 8}, {5, 4}, {7, 1, 1}})
        QVERIFY(areSameBits(passes(*adapter->network, sizes), alone));
}

void FeatureDrafterTest::aBackendWithoutDraftNetworksRefuses() {
    const auto model = support::layeredModel(4, 7);
    support::SpyTransformer other(*model); // makes none
    const auto made =
        makeDraftModel(other, support::makeAdapter(model->config(), AdapterKind::Random, 3));
    QVERIFY(!made.hasValue());
    QCOMPARE(made.error().code, ErrorCode::Unsupported);
}

QTEST_GUILESS_MAIN(FeatureDrafterTest)
#include "feature_drafter_test.moc"
