// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cache/kv_cache.h"

#include "engine/base/checked_math.h"
#include "engine/base/to_size.h"

#include <sys/mman.h>

#include <cstring>

namespace engine {

KvCache::KvCache(std::unique_ptr<KvStorage> storage)
    : m_storage(std::move(storage)) {}

void KvCache::commit(int count) {
    ENGINE_CHECK(count >= 0 && m_length + count <= capacity(),
                 "commit of {} rows behind {} of {}",
                 count,
                 m_length,
                 capacity());
    m_length += count;
}

void KvCache::keepPath(std::span<const Position> slots) {
    m_copies.clear();
    for (const Position slot : slots) {
        ENGINE_CHECK(slot >= m_length && slot < capacity(),
                     "kept slot {} lies outside [{}, {})",
                     slot,
                     m_length,
                     capacity());
        if (slot != m_length)
            m_copies.push_back({slot, m_length});
        ++m_length;
    }
    if (!m_copies.empty())
        m_storage->copySlots(m_copies);
}

void KvCache::truncate(Position length) {
    ENGINE_CHECK(length >= 0 && length <= m_length, "truncate to {} of {}", length, m_length);
    m_length = length;
}

std::string_view kvTypeName(KvType type) {
    switch (type) {
    case KvType::F32:
        return "float32";
    case KvType::F64:
        return "float64";
    case KvType::BF16:
        return "bfloat16";
    case KvType::F16:
        return "float16";
    case KvType::Int8:
        return "int8";
    }
    return "unknown";
}

std::optional<KvElement> kvElement(KvType type) {
    switch (type) {
    case KvType::F32:
        return KvElement::F32;
    case KvType::BF16:
        return KvElement::BF16;
    case KvType::F16:
        return KvElement::F16;
    case KvType::Int8:
        return KvElement::Int8;
    case KvType::F64:
        break;
    }
    return std::nullopt;
}

std::size_t kvRowBytes(KvType type, int headDim) {
    const auto element = kvElement(type);
    return element ? toSize(kvRowBytes(*element, headDim)) : toSize(headDim) * sizeof(double);
}

namespace {

/// Bytes of all planes, or nothing when the number does not fit.
std::optional<std::uint64_t> totalBytes(const KvShape& shape) {
    std::optional<std::uint64_t> total = kvRowBytes(shape.type, shape.headDim) * 2;
    for (const int factor : {shape.layerCount, shape.kvHeadCount, shape.capacity})
        total = total ? checked::mul(*total, static_cast<std::uint64_t>(factor)) : std::nullopt;
    return total;
}

} // namespace

Result<std::unique_ptr<HostKvStorage>> HostKvStorage::make(const KvShape& shape) {
    ENGINE_CHECK(shape.layerCount > 0 && shape.kvHeadCount > 0 && shape.headDim > 0 &&
                     shape.capacity > 0,
                 "a cache of {} layers, {} heads of {}, {} slots",
                 shape.layerCount,
                 shape.kvHeadCount,
                 shape.headDim,
                 shape.capacity);
    const auto bytes = totalBytes(shape);
    void* memory = bytes ? mmap(nullptr,
                                *bytes,
                                PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                -1,
                                0)
                         : MAP_FAILED;
    if (memory == MAP_FAILED)
        return Error{ErrorCode::NoMemory,
                     fmt::format("A key-value cache of {} tokens ({} bytes) cannot be reserved.",
                                 shape.capacity,
                                 bytes ? fmt::to_string(*bytes) : "too many"),
                     "Ask for a shorter context with --context."};
    return std::unique_ptr<HostKvStorage>(
        new HostKvStorage(shape, static_cast<std::byte*>(memory), *bytes));
}

HostKvStorage::HostKvStorage(const KvShape& shape, std::byte* memory, std::size_t byteSize)
    : m_shape(shape)
    , m_memory(memory)
    , m_byteSize(byteSize)
    , m_rowBytes(kvRowBytes(shape.type, shape.headDim))
    , m_planeBytes(byteSize / 2 / static_cast<std::size_t>(shape.layerCount)) {}

HostKvStorage::~HostKvStorage() { munmap(m_memory, m_byteSize); }

void HostKvStorage::copySlots(std::span<const SlotCopy> copies) {
    for (const auto [from, to] : copies)
        ENGINE_CHECK(from >= 0 && from < capacity() && to >= 0 && to < capacity(),
                     "copy of slot {} to {} of {}",
                     from,
                     to,
                     capacity());
    const std::size_t headBytes = static_cast<std::size_t>(capacity()) * m_rowBytes;
    for (int index = 0; index < 2 * m_shape.layerCount; ++index)
        for (int head = 0; head < m_shape.kvHeadCount; ++head) {
            std::byte* rows = plane(index) + static_cast<std::size_t>(head) * headBytes;
            for (const auto [from, to] : copies)
                std::memcpy(rows + static_cast<std::size_t>(to) * m_rowBytes,
                            rows + static_cast<std::size_t>(from) * m_rowBytes,
                            m_rowBytes);
        }
}

void checkCacheShape(const KvShape& found, const KvShape& shape) {
    ENGINE_CHECK(
        found.layerCount == shape.layerCount && found.kvHeadCount == shape.kvHeadCount &&
            found.headDim == shape.headDim && found.type == shape.type,
        "the cache is of {} layers, {} heads of {} in {}, the network of {}, {} of {} in {}",
        found.layerCount,
        found.kvHeadCount,
        found.headDim,
        kvTypeName(found.type),
        shape.layerCount,
        shape.kvHeadCount,
        shape.headDim,
        kvTypeName(shape.type));
}

HostKvStorage& hostStorage(KvCache& cache, const KvShape& shape) {
    auto* storage = dynamic_cast<HostKvStorage*>(&cache.storage());
    ENGINE_CHECK(storage != nullptr, "the cache was made by another backend");
    checkCacheShape(storage->shape(), shape);
    return *storage;
}

} // namespace engine
