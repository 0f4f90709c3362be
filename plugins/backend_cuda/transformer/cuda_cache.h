// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/cache/kv_cache.h"
#include "plugins/backend_cuda/device/device.h"

#include <vector>

namespace backend_cuda {

/// Keys and values in a GPU's memory: [layer][keys, values][kvHeads][capacity][headWidth], zero at
/// the beginning. Copies of slots are put off until the next pass makes them all at once.
class CudaCache final : public engine::KvStorage {
public:
    /// Errors: NoMemory; those of the device.
    static engine::Result<std::unique_ptr<CudaCache>>
    make(const std::shared_ptr<Device>& device, const engine::KvShape& shape, int headWidth);

    engine::Position capacity() const override { return m_shape.capacity; }

    void copySlots(std::span<const engine::SlotCopy> copies) override;

    std::size_t byteSize() const override { return m_memory.size(); }

    const engine::KvShape& shape() const { return m_shape; }

    std::byte* data() const { return m_memory.data(); }

    /// Of one kv head of one layer.
    std::size_t planeBytes() const;

    /// The copies that were put off, in their order; they are forgotten when a launch makes them.
    const std::vector<Move>& moves() const { return m_moves; }

    void forgetMoves() { m_moves.clear(); }

    bool isInHostMemory() const override { return false; }

private:
    engine::KvShape m_shape;
    int m_headWidth = 0;
    DeviceMemory m_memory;
    std::vector<Move> m_moves;
};

/// What is in a cache that makeCache() of this backend made: `shape` as there, its capacity aside.
/// The cache of another backend, or of a model with other sizes, is a bug (ENGINE_CHECK).
CudaCache& cudaStorage(engine::KvCache& cache, const engine::KvShape& shape);

/// Bytes of a slot in all layers.
std::size_t slotBytes(const engine::KvShape& shape, int headWidth);

} // namespace backend_cuda
