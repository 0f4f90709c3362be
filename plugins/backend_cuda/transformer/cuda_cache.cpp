// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/cuda_cache.h"

#include "engine/base/to_size.h"

namespace backend_cuda {

using namespace engine;

std::size_t slotBytes(const KvShape& shape, int headWidth) {
    return 2 * toSize(shape.layerCount) * toSize(shape.kvHeadCount) *
           kvRowBytes(shape.type, headWidth);
}

Result<std::unique_ptr<CudaCache>>
CudaCache::make(const std::shared_ptr<Device>& device, const KvShape& shape, int headWidth) {
    ENGINE_CHECK(shape.capacity > 0, "a cache of {} slots", shape.capacity);
    const std::size_t bytes = slotBytes(shape, headWidth) * toSize(shape.capacity);
    auto made = std::make_unique<CudaCache>();
    made->m_shape = shape;
    made->m_headWidth = headWidth;
    ENGINE_TRY(made->m_memory, DeviceMemory::make(device, bytes));
    ENGINE_TRY_DO(device->fillWithZeros(made->m_memory.data(), bytes));
    return made;
}

void CudaCache::copySlots(std::span<const SlotCopy> copies) {
    for (const auto [from, to] : copies) {
        ENGINE_CHECK(from >= 0 && from < capacity() && to >= 0 && to < capacity(),
                     "copy of slot {} to {} of {}",
                     from,
                     to,
                     capacity());
        m_moves.push_back({from, to});
    }
}

std::size_t CudaCache::planeBytes() const {
    return toSize(m_shape.capacity) * kvRowBytes(m_shape.type, m_headWidth);
}

CudaCache& cudaStorage(KvCache& cache, const KvShape& shape) {
    auto* storage = dynamic_cast<CudaCache*>(&cache.storage());
    ENGINE_CHECK(storage != nullptr, "the cache was made by another backend");
    checkCacheShape(storage->shape(), shape);
    return *storage;
}

} // namespace backend_cuda
