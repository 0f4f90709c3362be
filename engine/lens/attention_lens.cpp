// SPDX-License-Identifier: Apache-2.0
#include "engine/lens/attention_lens.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

double entropyOf(std::span<const double> weights) {
    double bits = 0.0;
    for (const double weight : weights)
        if (weight > 0.0)
            bits -= weight * std::log2(weight);
    return std::max(bits, 0.0);
}

} // namespace

Result<AttentionLens> AttentionLens::begin(
    Transformer& transformer, std::vector<TokenId> text, int token, int layer, int contextLength) {
    if (!transformer.tellsAttention())
        return Error{ErrorCode::Unsupported,
                     "This backend does not tell where attention looks.",
                     "Load the model with the backend cpu, torch or plain."};
    if (token < 1 || toSize(token) >= text.size() || layer < 0 ||
        layer >= transformer.config().layerCount)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Attention was asked for token {} of {} at layer {} of {}.",
                                 token,
                                 text.size(),
                                 layer,
                                 transformer.config().layerCount),
                     "Choose a token that something stands before, and a layer of the model."};
    text.resize(toSize(token));
    ENGINE_TRY(LensText read, LensText::make(transformer, std::move(text), contextLength));
    return AttentionLens(std::move(read), layer);
}

double AttentionLens::part() const {
    return isDone()
               ? 1.0
               : static_cast<double>(m_text.length()) / static_cast<double>(m_text.tokens().size());
}

/// All but the last token is read as any text; the last one looks.
Result<void> AttentionLens::step() {
    const int last = static_cast<int>(m_text.tokens().size()) - 1;
    if (m_text.length() < last)
        return m_text.readPiece(last, m_layer + 1);
    const LayerPlan plan = LayerPlan::full(m_text.layerCount());
    ENGINE_TRY(
        const ForwardResult result,
        m_text.transformer().forward({.plan = plan,
                                      .layout = AttentionLayout::chain(m_text.length(), 1),
                                      .tokens = m_text.next(1),
                                      .endLayer = m_layer + 1,
                                      .attention = AttentionPlace{.layer = m_layer, .row = 0}},
                                     m_text.cache()));
    keep(result.attention);
    return {};
}

/// The keys that the row sees are the last ones of the text: a window leaves out the first.
void AttentionLens::keep(const std::vector<double>& weights) {
    const std::size_t heads = toSize(m_text.transformer().config().headCount);
    const std::size_t keys = weights.size() / heads;
    const std::size_t hidden = m_text.tokens().size() - keys;
    for (std::size_t head = 0; head < heads; ++head) {
        HeadAttention& kept = m_heads.emplace_back();
        kept.weights.assign(hidden, 0.0);
        const auto seen = std::span(weights).subspan(head * keys, keys);
        kept.weights.insert(kept.weights.end(), seen.begin(), seen.end());
        kept.entropy = entropyOf(kept.weights);
    }
}

} // namespace engine
