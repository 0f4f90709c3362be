// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"
#include "engine/model/weight_share.h"

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
class TimedTransformer final : public engine::Transformer {
public:
    /// `timed` must outlive this.
    explicit TimedTransformer(engine::Transformer& timed)
        : m_timed(timed) {
        const auto [attention, mlp] = engine::sublayerWeights(timed.config());
        const auto full = engine::LayerPlan::full(timed.config().layerCount);
        engine::LayerPlan without = full;
        without.attention.front() = engine::SublayerAction::Skip;
        m_attentionShare = 1.0 - engine::weightShare(without, timed.config());
        m_mlpShare = m_attentionShare * mlp / attention;
        m_passes.reserve(1U << 16U);
    }

    const engine::ModelConfig& config() const override { return m_timed.config(); }

    engine::Precision precision() const override { return m_timed.precision(); }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override {
        return m_timed.makeCache(capacity);
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        const auto start = std::chrono::steady_clock::now();
        auto ran = m_timed.forwardInto(request, cache, result);
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - start;
        m_passes.push_back({shareOf(request.plan), request.layout.rowCount(), passed.count()});
        return ran;
    }

    std::size_t weightBytes() const override { return m_timed.weightBytes(); }

    engine::Result<bool> makeCopyPiece() override { return m_timed.makeCopyPiece(); }

    void dropCopy() override { m_timed.dropCopy(); }

    double copyShare() const override { return m_timed.copyShare(); }

    std::string arithmeticName() const override { return m_timed.arithmeticName(); }

    std::string_view kvTypeName() const override { return m_timed.kvTypeName(); }

    std::string_view instructionSet() const override { return m_timed.instructionSet(); }

    int preferredTreeNodes() const override { return m_timed.preferredTreeNodes(); }

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

    engine::Transformer& m_timed;
    double m_attentionShare = 0.0; // of one attention sublayer
    double m_mlpShare = 0.0;
    std::vector<TimedPass> m_passes;
};

} // namespace study
