// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <cstring>
#include <vector>

namespace support {

/// The numbers below the cache's length, plane by plane.
inline std::vector<std::byte> liveBytes(engine::KvCache& cache) {
    auto& storage = dynamic_cast<engine::HostKvStorage&>(cache.storage());
    const engine::KvShape& shape = storage.shape();
    const std::size_t number = shape.type == engine::KvType::F64 ? 8 : 4;
    const std::size_t row = static_cast<std::size_t>(shape.headDim) * number;
    const std::size_t used = static_cast<std::size_t>(cache.length()) * row;
    std::vector<std::byte> bytes;
    for (int layer = 0; layer < shape.layerCount; ++layer)
        for (const std::byte* plane : {storage.keys(layer), storage.values(layer)})
            for (int head = 0; head < shape.kvHeadCount; ++head) {
                const std::byte* from =
                    plane + static_cast<std::size_t>(head * shape.capacity) * row;
                bytes.insert(bytes.end(), from, from + used);
            }
    return bytes;
}

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

    engine::KvCache* seenCache = nullptr; ///< of the last pass
    int passes = 0;
    int draftPasses = 0;
    long rowLayers = 0; ///< for each pass its rows times the layers that they went through

private:
    engine::Transformer& m_watched;
};

} // namespace support
