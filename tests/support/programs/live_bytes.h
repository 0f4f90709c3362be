// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/cache/kv_cache.h"

#include <cstddef>
#include <vector>

namespace support {

/// The same of caches that are not in host memory; the test of their backend sets it.
inline std::vector<std::byte> (*liveBytesElsewhere)(engine::KvCache&) = nullptr;

/// The bytes of all slots below the length of a cache, whatever its capacity.
inline std::vector<std::byte> liveBytes(engine::KvCache& cache) {
    if (dynamic_cast<engine::HostKvStorage*>(&cache.storage()) == nullptr &&
        liveBytesElsewhere != nullptr)
        return liveBytesElsewhere(cache);
    auto& storage = dynamic_cast<engine::HostKvStorage&>(cache.storage());
    const engine::KvShape& shape = storage.shape();
    const std::size_t slotCount = static_cast<std::size_t>(shape.layerCount) * 2 *
                                  static_cast<std::size_t>(shape.kvHeadCount) *
                                  static_cast<std::size_t>(shape.capacity);
    const std::size_t rowBytes = storage.byteSize() / slotCount; // of one head
    const std::size_t live = static_cast<std::size_t>(cache.length()) * rowBytes;
    std::vector<std::byte> bytes;
    for (int layer = 0; layer < shape.layerCount; ++layer)
        for (const std::byte* plane : {storage.keys(layer), storage.values(layer)})
            for (int head = 0; head < shape.kvHeadCount; ++head) {
                const std::byte* start = plane + static_cast<std::size_t>(head) *
                                                     static_cast<std::size_t>(shape.capacity) *
                                                     rowBytes;
                bytes.insert(bytes.end(), start, start + live);
            }
    return bytes;
}

} // namespace support
