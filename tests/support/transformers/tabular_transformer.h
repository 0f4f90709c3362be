// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <vector>

namespace support {

/// Logits of the next token for each pair of the two newest ones.
class BigramTable {
public:
    /// Random logits of standard deviation `spread`; about `emptyPart` of the tokens of each row
    /// cannot follow (their probability is 0), but never all.
    BigramTable(int vocabSize, unsigned seed, double spread, double emptyPart = 0.0);

    /// This table moved towards another one: (1 - part) * this + part * other.
    BigramTable mixedWith(const BigramTable& other, double part) const;

    int vocabSize() const { return m_vocabSize; }

    /// Shapes: [vocab]. `before` may be kNoToken: the sequence has but one token.
    std::span<const double> row(engine::TokenId before, engine::TokenId last) const;

private:
    int m_vocabSize;
    std::vector<double> m_logits; // [vocab + 1, vocab, vocab]
};

/// A network without weights: the logits come from a table, by the two newest tokens that a row
/// sees. There is one table for plans that run everything and one for plans that skip something.
/// The visible tokens are read from the slots that the layout names and that passes have written,
/// so a wrong layout, a wrong slot or a draft's row left in the cache gives wrong logits or throws.
class TabularTransformer final : public engine::Transformer {
public:
    TabularTransformer(BigramTable full, BigramTable skipping);

    const BigramTable& full() const { return m_full; }

    const BigramTable& skipping() const { return m_skipping; }

    /// A plan that is looked up in the second table.
    engine::LayerPlan skippingPlan() const;

    const engine::ModelConfig& config() const override { return m_config; }

    engine::Precision precision() const override { return engine::Precision::F64; }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override;

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override;

    std::size_t weightBytes() const override { return 0; }

    /// The second table is that of the copy, too, which is there at once if this says so.
    bool makesCopies = false;

    engine::Result<bool> makeCopyPiece() override {
        m_hasCopy = makesCopies;
        return makesCopies ? engine::Result<bool>(true) : Transformer::makeCopyPiece();
    }

    void dropCopy() override { m_hasCopy = false; }

    double copyShare() const override { return m_hasCopy ? 0.3 : 1.0; }

private:
    BigramTable m_full;
    BigramTable m_skipping;
    engine::ModelConfig m_config;
    bool m_hasCopy = false;
    std::shared_ptr<engine::HostLogits<double>> m_logits; // of the newest pass
};

} // namespace support
