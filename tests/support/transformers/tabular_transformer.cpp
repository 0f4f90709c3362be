// SPDX-License-Identifier: Apache-2.0
#include "tests/support/transformers/tabular_transformer.h"

#include <algorithm>
#include <random>

namespace support {

using namespace engine;

namespace {

constexpr double kImpossible = -1e4; // a logit whose probability is 0 in float64
constexpr int kLayers = 2;

/// The content of a slot: the token, and whether a pass that skipped something wrote it.
struct SlotContent {
    TokenId token = kNoToken;
    bool isDraft = false;
};

class SlotStorage final : public KvStorage {
public:
    explicit SlotStorage(Position capacity)
        : contents(static_cast<std::size_t>(capacity)) {}

    Position capacity() const override { return static_cast<Position>(contents.size()); }

    void copySlots(std::span<const SlotCopy> copies) override {
        for (const auto [from, to] : copies)
            at(to) = at(from);
    }

    std::size_t byteSize() const override { return contents.size() * sizeof(SlotContent); }

    SlotContent& at(Position slot) { return contents.at(static_cast<std::size_t>(slot)); }

    std::vector<SlotContent> contents;
};

/// Calls back for the two newest keys of a row, the older first.
template <typename Visit>
void forEachNewKey(const AttentionLayout& layout, int row, Visit&& visit) {
    int count = 0;
    layout.forEachKey(row, 2, [&](Position slot) {
        ++count;
        visit(slot);
    });
    const int expected = layout.position(row) == 0 ? 1 : 2;
    ENGINE_CHECK(count == expected, "row {} sees {} of {} new keys", row, count, expected);
}

} // namespace

BigramTable::BigramTable(int vocabSize, unsigned seed, double spread, double emptyPart)
    : m_vocabSize(vocabSize) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.0, spread);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const auto width = static_cast<std::size_t>(vocabSize);
    m_logits.resize((width + 1) * width * width);
    for (std::size_t i = 0; i < m_logits.size(); ++i) {
        const bool isKept = i % width == (i / width) % width; // one of each row
        m_logits[i] = !isKept && uniform(random) < emptyPart ? kImpossible : normal(random);
    }
}

BigramTable BigramTable::mixedWith(const BigramTable& other, double part) const {
    BigramTable mixed = *this;
    for (std::size_t i = 0; i < m_logits.size(); ++i)
        mixed.m_logits[i] = (1.0 - part) * m_logits[i] + part * other.m_logits[i];
    return mixed;
}

std::span<const double> BigramTable::row(TokenId before, TokenId last) const {
    const auto width = static_cast<std::size_t>(m_vocabSize);
    const std::size_t first = before == kNoToken ? width : static_cast<std::size_t>(before);
    const std::size_t place = (first * width + static_cast<std::size_t>(last)) * width;
    return std::span(m_logits).subspan(place, width);
}

TabularTransformer::TabularTransformer(BigramTable full, BigramTable skipping)
    : m_full(std::move(full))
    , m_skipping(std::move(skipping)) {
    m_config.architecture = "llama";
    m_config.layerCount = kLayers;
    m_config.hiddenSize = m_config.mlpSize = m_config.headDim = 8; // for shares of weights
    m_config.headCount = m_config.kvHeadCount = 1;
    m_config.vocabSize = m_full.vocabSize();
    m_config.contextLength = 4096;
    m_config.layerWindows.assign(kLayers, 0);
    m_logits = std::make_shared<HostLogits<double>>(m_config.vocabSize);
}

LayerPlan TabularTransformer::skippingPlan() const {
    LayerPlan plan = LayerPlan::full(kLayers);
    plan.mlp[0] = SublayerAction::Skip;
    return plan;
}

Result<KvCache> TabularTransformer::makeCache(Position capacity) const {
    return KvCache(std::make_unique<SlotStorage>(capacity));
}

Result<void> TabularTransformer::forwardInto(const ForwardRequest& request,
                                             KvCache& cache,
                                             ForwardResult& result) {
    const bool isFull = request.plan == LayerPlan::full(kLayers);
    const AttentionLayout& layout = request.layout;
    auto& storage = dynamic_cast<SlotStorage&>(cache.storage());
    for (int row = 0; row < layout.rowCount(); ++row)
        storage.at(layout.firstSlot() + row) = {request.tokens[static_cast<std::size_t>(row)],
                                                !isFull};
    result.clear();
    const HeadRows wanted(request.logitRows, request.summaryRows);
    const auto width = static_cast<std::size_t>(m_config.vocabSize);
    double* const logits = m_logits->begin(wanted.rows.size());
    double* next = logits;
    result.logits.show(m_logits, static_cast<int>(request.logitRows.size()));
    for (const int row : wanted.rows) {
        TokenId before = kNoToken;
        TokenId last = kNoToken;
        forEachNewKey(layout, row, [&](Position slot) {
            const SlotContent& content = storage.at(slot);
            ENGINE_CHECK(content.token != kNoToken, "row {} sees slot {}, unwritten", row, slot);
            ENGINE_CHECK(!(isFull && content.isDraft), "a full pass sees draft slot {}", slot);
            before = last;
            last = content.token;
        });
        const auto found = (isFull ? m_full : m_skipping).row(before, last);
        next = std::copy(found.begin(), found.end(), next);
    }
    for (const int place : wanted.summaryPlaces)
        result.summaries.push_back(
            summarise({logits + static_cast<std::size_t>(place) * width, width}));
    if (request.wantsInfluence)
        result.influence.assign(2 * kLayers, 0.0);
    return {};
}

} // namespace support
