// SPDX-License-Identifier: Apache-2.0
// What the trainer unrolls is what drafting computes: against passes of the plain backend.
#include "engine/model/draft_model.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/plugins/trainer_torch/trainer_support.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/models/tiny_model.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using trainer_support::OwnedText;
using trainer_torch::DepthLogits;
using trainer_torch::WideArrays;

namespace {

/// A tiny model, an adapter for it, and both as the trainer takes them.
struct DraftCase {
    std::unique_ptr<Transformer> model;
    std::unique_ptr<DraftModel> drafting;
    TrainerPlan plan;
    TrainerModel numbers;
    WideArrays weights;
};

DraftAdapter adapterOf(const ModelConfig& config, int layers, int window) {
    DraftAdapter adapter = support::makeAdapter(config, support::AdapterKind::Random, 3);
    adapter.sizes.layerCount = layers;
    adapter.sizes.window = window;
    std::mt19937 random(9);
    for (const auto& [name, tensor] : adapterTensors(adapter.sizes)) {
        std::size_t count = 1;
        for (const std::uint64_t size : tensor.shape)
            count *= static_cast<std::size_t>(size);
        const bool isMatrix = tensor.shape.size() > 1;
        const float size =
            isMatrix ? 1.0F / std::sqrt(static_cast<float>(tensor.shape.back())) : 0.1F;
        std::vector<float>& values = adapter.tensors[name];
        values = trainer_support::normals(count, size, random);
        if (!isMatrix)
            for (float& value : values)
                value += 1.0F;
    }
    return adapter;
}

DraftCase draftCase(int layers, int window, Precision precision) {
    ModelConfig config = support::tinyConfig();
    config.logitSoftCap = 8.0;
    config.contextLength = 2048;
    support::MemoryWeights weights = support::randomWeights(config, 4);
    DraftCase made;
    auto model = makePlainTransformer(config, weights, {.precision = precision});
    ENGINE_CHECK(model.hasValue(), "{}", model.error().message);
    made.model = std::move(model).value();
    const DraftAdapter adapter = adapterOf(config, layers, window);
    auto drafting = makeDraftModel(*made.model, adapter);
    ENGINE_CHECK(drafting.hasValue(), "{}", drafting.error().message);
    made.drafting = std::move(drafting).value();
    made.plan.sizes = adapter.sizes;
    made.plan.headIds = adapter.headIds;
    made.numbers.vocabSize = config.vocabSize;
    made.numbers.normEpsilon = config.normEpsilon;
    made.numbers.logitSoftCap = config.logitSoftCap;
    made.numbers.embedding = weights.values("model.embed_tokens.weight");
    made.numbers.head = weights.values("lm_head.weight");
    made.numbers.finalNorm = weights.values("model.norm.weight");
    for (const auto& [name, tensor] : adapterTensors(adapter.sizes)) {
        const std::vector<float>& values = adapter.tensors.at(name);
        made.weights[tensor.name].assign(values.begin(), values.end());
    }
    return made;
}

/// Passes of a draft network over a text, each as FeatureDrafter runs it.
class Passes {
public:
    Passes(const DraftCase& drafted, const OwnedText& text)
        : m_network(*drafted.drafting->network)
        , m_text(text)
        , m_plan(LayerPlan::full(m_network.config().layerCount))
        , m_width(toSize(m_network.config().hiddenSize))
        , m_cache(m_network.makeCache(static_cast<Position>(text.tokens.size()) + 8).value()) {}

    /// Makes the slot behind the cached ones true and gives its logits.
    std::vector<double> catchUp() {
        const std::size_t slot = toSize(m_cache.length());
        const auto from = m_text.streams.begin() + static_cast<std::ptrdiff_t>(slot * m_width);
        m_own.assign(from, from + static_cast<std::ptrdiff_t>(m_width));
        auto logits = run(m_cache.length());
        m_cache.commit(1);
        return logits;
    }

    /// Goes on from the newest pass's own stream, in the slot `beyond` behind the cached ones.
    std::vector<double> goOn(int beyond) { return run(m_cache.length() + beyond); }

private:
    std::vector<double> run(Position slot) {
        const AttentionLayout layout = AttentionLayout::chain(slot, 1);
        const int row = 0;
        m_rows.clear();
        const HandOut handOut{m_plan.layerCount() - 1, &m_rows};
        auto result =
            m_network.forward({.plan = m_plan,
                               .layout = layout,
                               .tokens = std::span(m_text.tokens).subspan(toSize(slot) + 1, 1),
                               .streams = m_own,
                               .logitRows = std::span(&row, 1),
                               .handOuts = std::span(&handOut, 1)},
                              m_cache);
        ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
        ENGINE_CHECK(m_rows.read(0, m_own).hasValue(), "no stream");
        const auto logits = result.value().logits.row(0);
        ENGINE_CHECK(logits.hasValue(), "no logits");
        return {logits.value().begin(), logits.value().end()};
    }

    Transformer& m_network;
    const OwnedText& m_text;
    LayerPlan m_plan;
    std::size_t m_width;
    KvCache m_cache;
    HiddenRows m_rows;
    std::vector<double> m_own; // [hidden]
};

/// Logits of the draft behind each slot of the text: [slots][depths][head rows]. The tokens read
/// are those of the text.
std::vector<std::vector<std::vector<double>>> draftedLogits(const DraftCase& drafted,
                                                            const OwnedText& text) {
    Passes passes(drafted, text);
    const int rows = static_cast<int>(text.tokens.size());
    std::vector<std::vector<std::vector<double>>> found;
    for (int slot = 0; slot + 1 < rows; ++slot) {
        found.emplace_back();
        found.back().push_back(passes.catchUp());
        for (int depth = 2; depth <= kDepths && slot + depth < rows; ++depth)
            found.back().push_back(passes.goOn(depth - 2));
    }
    return found;
}

int longestDraft(const OwnedText& text, int slot) {
    int length = 0;
    const int rows = static_cast<int>(text.tokens.size());
    while (length < kDepths && slot + 2 + length < rows &&
           text.answers[toSize(slot + 2 + length)] != 0)
        ++length;
    return length;
}

} // namespace

class TrainerUnrollTest : public QObject {
    Q_OBJECT

private slots:
    void everyDepthHasTheLogitsOfDrafting_data();
    void everyDepthHasTheLogitsOfDrafting();
    void evaluationCountsTheHitsOfDrafting();
};

void TrainerUnrollTest::everyDepthHasTheLogitsOfDrafting_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("window");
    QTest::addColumn<int>("rows");
    QTest::addColumn<bool>("isWide");
    QTest::newRow("float32") << 1 << 6 << 40 << false;
    QTest::newRow("float64") << 1 << 6 << 40 << true;
    QTest::newRow("window of two") << 1 << 2 << 40 << true;
    QTest::newRow("window of one") << 1 << 1 << 40 << true;
    QTest::newRow("no window") << 1 << 0 << 40 << true;
    QTest::newRow("two layers") << 2 << 5 << 40 << true;
    QTest::newRow("a text of two packs") << 1 << 30 << 700 << true;
    QTest::newRow("two layers and two packs") << 2 << 30 << 700 << true;
}

void TrainerUnrollTest::everyDepthHasTheLogitsOfDrafting() {
    QFETCH(const int, layers);
    QFETCH(const int, window);
    QFETCH(const int, rows);
    QFETCH(const bool, isWide);
    const DraftCase drafted = draftCase(layers, window, isWide ? Precision::F64 : Precision::F32);
    std::mt19937 random(21);
    OwnedText text = trainer_support::randomText(rows, 12, 48, 160, random);
    text.answers[toSize(rows / 2)] = 0; // a second answer begins behind it
    const auto wanted = draftedLogits(drafted, text);
    const auto found = trainer_support::trainerChecks().logits(
        {drafted.plan, drafted.numbers, drafted.weights}, text.shown(), isWide);
    const std::size_t head = drafted.plan.headIds.size();
    QCOMPARE(found.size(), toSize(kDepths));
    double worst = 0.0;
    for (std::size_t depth = 0; depth < found.size(); ++depth) {
        std::size_t count = 0;
        for (int slot = 0; slot + 1 < rows; ++slot)
            count += longestDraft(text, slot) > static_cast<int>(depth) ? 1 : 0;
        QCOMPARE(found[depth].behind.size(), count);
        for (std::size_t row = 0; row < count; ++row)
            for (std::size_t i = 0; i < head; ++i)
                worst = std::max(worst,
                                 std::abs(found[depth].logits[row * head + i] -
                                          wanted[toSize(found[depth].behind[row])][depth][i]));
    }
    QVERIFY2(worst < (isWide ? 1e-9 : 1e-4), fmt::format("off by {}", worst).c_str());
}

/// The text holds what is drafted in two thirds of its places.
void TrainerUnrollTest::evaluationCountsTheHitsOfDrafting() {
    const DraftCase drafted = draftCase(1, 6, Precision::F32);
    std::mt19937 random(22);
    OwnedText text = trainer_support::randomText(120, 10, 48, 160, random);
    const auto bestOf = [&](const std::vector<double>& logits) {
        const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
        return drafted.plan.headIds[static_cast<std::size_t>(best)];
    };
    for (int token = 10; token < 120; ++token) // a token changes drafts behind it alone
        if (token % 3 != 0)
            text.tokens[toSize(token)] =
                bestOf(draftedLogits(drafted, text)[toSize(token - 2)].front());
    const auto logits = draftedLogits(drafted, text);
    DraftHits wanted;
    for (int slot = 0; slot < 118; ++slot)
        for (int depth = 0; depth < longestDraft(text, slot); ++depth) {
            ++wanted.tried[toSize(depth)];
            if (bestOf(logits[toSize(slot)][toSize(depth)]) !=
                text.tokens[toSize(slot + depth + 2)])
                break;
            ++wanted.hits[toSize(depth)];
        }
    const auto trainer = trainer_support::makeTrainer(drafted.plan, drafted.numbers);
    NamedArrays state = trainer->state();
    for (const auto& [name, values] : drafted.weights)
        state.at("average." + name).assign(values.begin(), values.end());
    QVERIFY(trainer->restore(state).hasValue());
    const auto found = trainer->evaluate(text.shown());
    QVERIFY(found.hasValue());
    QVERIFY(wanted.hits[0] > 60 && wanted.hits[0] < wanted.tried[0]);
    QVERIFY(found.value().tried == wanted.tried);
    QVERIFY(found.value().hits == wanted.hits);
}

QTEST_GUILESS_MAIN(TrainerUnrollTest)
#include "trainer_unroll_test.moc"
