// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lens/lens_text.h"

#include <vector>

namespace engine {

/// Where one head of a layer looks from one token. A plain value.
struct HeadAttention {
    std::vector<double> weights; ///< [positions] that add up to 1; 0 outside the layer's window
    double entropy = 0.0;        ///< of them, bits: 0 = one position alone
};

/// Reads where the heads of one layer look while the model predicts a token: one pass over the text
/// before it, piece by piece, up to this layer. Thread: engine.
class AttentionLens : public LensWork {
public:
    /// From the row that predicts token `token` of the text, at 0-based `layer`. Errors:
    /// Unsupported by a backend that does not tell it; InvalidInput for a token or a layer that is
    /// not there; those of LensText.
    static Result<AttentionLens> begin(Transformer& transformer,
                                       std::vector<TokenId> text,
                                       int token,
                                       int layer,
                                       int contextLength);

    Result<void> step() override;

    bool isDone() const override { return !m_heads.empty(); }

    double part() const override;

    /// [heads] once it is done.
    const std::vector<HeadAttention>& heads() const { return m_heads; }

private:
    AttentionLens(LensText text, int layer)
        : m_text(std::move(text))
        , m_layer(layer) {}

    void keep(const std::vector<double>& weights);

    LensText m_text; // up to the row that looks
    int m_layer;
    std::vector<HeadAttention> m_heads;
};

} // namespace engine
