// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"
#include "tests/support/programs/live_bytes.h"

#include <vector>

namespace support {

/// Watches the passes of another transformer: no pass may change what the cache holds below its
/// length. Fails by exception.
class SpyTransformer final : public engine::Transformer {
public:
    explicit SpyTransformer(engine::Transformer& watched)
        : m_watched(watched) {}

    const engine::ModelConfig& config() const override { return m_watched.config(); }

    engine::Precision precision() const override { return m_watched.precision(); }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override {
        return m_watched.makeCache(capacity);
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        ++passes;
        seenCache = &cache;
        const bool skips = request.plan != engine::LayerPlan::full(config().layerCount);
        draftPasses += skips ? 1 : 0;
        const int end = request.endLayer >= 0 ? request.endLayer : request.plan.exitAfterLayer + 1;
        rowLayers += static_cast<long>(request.layout.rowCount()) * (end - request.firstLayer);
        const std::vector<std::byte> before = liveBytes(cache);
        const engine::Position length = cache.length();
        auto ran = m_watched.forwardInto(request, cache, result);
        ENGINE_CHECK(cache.length() == length && liveBytes(cache) == before,
                     "a pass changed the live cache of {} rows",
                     length);
        return ran;
    }

    std::size_t weightBytes() const override { return m_watched.weightBytes(); }

    int preferredTreeNodes() const override { return m_watched.preferredTreeNodes(); }

    engine::Result<bool> makeCopyPiece() override { return m_watched.makeCopyPiece(); }

    void dropCopy() override { m_watched.dropCopy(); }

    double copyShare() const override { return m_watched.copyShare(); }

    engine::DraftModel* draftModel() override { return m_watched.draftModel(); }

    engine::KvCache* seenCache = nullptr; ///< of the last pass
    int passes = 0;
    int draftPasses = 0;
    long rowLayers = 0; ///< for each pass, its rows times the layers that they ran through

private:
    engine::Transformer& m_watched;
};

} // namespace support
