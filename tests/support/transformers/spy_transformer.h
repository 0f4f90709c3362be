// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/programs/live_bytes.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <vector>

namespace support {

/// Watches the passes of another transformer: no pass may change what the cache holds below its
/// length. Fails by exception.
class SpyTransformer final : public WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

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
        auto ran = inner().forwardInto(request, cache, result);
        ENGINE_CHECK(cache.length() == length && liveBytes(cache) == before,
                     "a pass changed the live cache of {} rows",
                     length);
        return ran;
    }

    int preferredTreeNodes() const override { return inner().preferredTreeNodes(); }

    engine::Result<bool> makeCopyPiece() override { return inner().makeCopyPiece(); }

    void dropCopy() override { inner().dropCopy(); }

    double copyShare() const override { return inner().copyShare(); }

    engine::DraftModel* draftModel() override { return inner().draftModel(); }

    engine::KvCache* seenCache = nullptr; ///< of the last pass
    int passes = 0;
    int draftPasses = 0;
    long rowLayers = 0; ///< for each pass, its rows times the layers that they ran through
};

} // namespace support
