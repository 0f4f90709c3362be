// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/weight_share.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace study {

/// What one pass read and how long it took.
struct TimedPass {
    double share = 1.0; ///< of the weights, as weightShare()
    int rows = 0;
    double ms = 0.0;
};

/// Passes everything on to another transformer and notes the passes. Thread: one.
class TimedTransformer final : public support::WrappingTransformer {
public:
    /// `timed` must outlive this.
    explicit TimedTransformer(engine::Transformer& timed)
        : WrappingTransformer(timed) {
        const auto [attention, mlp] = engine::sublayerWeights(timed.config());
        const auto full = engine::LayerPlan::full(timed.config().layerCount);
        engine::LayerPlan without = full;
        without.attention.front() = engine::SublayerAction::Skip;
        m_attentionShare = 1.0 - engine::weightShare(without, timed.config());
        m_mlpShare = m_attentionShare * mlp / attention;
        m_passes.reserve(1U << 16U);
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        const auto start = std::chrono::steady_clock::now();
        auto ran = inner().forwardInto(request, cache, result);
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - start;
        m_passes.push_back({shareOf(request.plan), request.layout.rowCount(), passed.count()});
        return ran;
    }

    engine::Result<bool> makeCopyPiece() override { return inner().makeCopyPiece(); }

    void dropCopy() override { inner().dropCopy(); }

    double copyShare() const override { return inner().copyShare(); }

    std::string arithmeticName() const override { return inner().arithmeticName(); }

    std::string_view kvTypeName() const override { return inner().kvTypeName(); }

    std::string_view instructionSet() const override { return inner().instructionSet(); }

    int preferredTreeNodes() const override { return inner().preferredTreeNodes(); }

    /// Those since the last call.
    std::vector<TimedPass> takePasses() {
        std::vector<TimedPass> taken = m_passes;
        m_passes.clear(); // keeps its memory
        return taken;
    }

private:
    double shareOf(const engine::LayerPlan& plan) const {
        double share = 1.0;
        for (int layer = 0; layer < plan.layerCount(); ++layer) {
            const bool isBehindExit = layer > plan.exitAfterLayer;
            share -= isBehindExit || !plan.runsAttention(layer) ? m_attentionShare : 0.0;
            share -= isBehindExit || !plan.runsMlp(layer) ? m_mlpShare : 0.0;
        }
        return plan.weights == engine::WeightSet::Copy ? share * copyShare() : share;
    }

    double m_attentionShare = 0.0; // of one attention sublayer
    double m_mlpShare = 0.0;
    std::vector<TimedPass> m_passes;
};

} // namespace study
