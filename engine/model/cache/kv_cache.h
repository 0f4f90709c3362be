// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/kernels/rows/attention/attend_arguments.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// One slot's keys and values, to be copied over those of another.
struct SlotCopy {
    Position from = 0;
    Position to = 0;
};

/// Where a backend keeps keys and values: `capacity()` slots, each holding one token's keys and
/// values of all layers. Made by Transformer::makeCache; only that backend looks inside.
class KvStorage {
public:
    virtual ~KvStorage() = default;

    virtual Position capacity() const = 0;

    /// Makes these copies in all layers, in this order: a backend may put them off until the next
    /// pass, all together.
    virtual void copySlots(std::span<const SlotCopy> copies) = 0;

    /// Memory reserved for all slots, bytes; pages are touched only as slots are written.
    virtual std::size_t byteSize() const = 0;

    /// Whether that is memory of the computer, not that of a GPU, which gives all of it at once.
    virtual bool isInHostMemory() const { return true; }
};

/// The keys and values of one sequence: slots [0, length()) belong to its tokens, in order.
/// Passes may write further slots; those are drafts, kept or forgotten by the calls below, and
/// simply overwritten by the next pass. Nothing is ever cloned. Thread: engine.
class KvCache {
public:
    explicit KvCache(std::unique_ptr<KvStorage> storage);

    Position capacity() const { return m_storage->capacity(); }

    /// Tokens whose rows are committed.
    Position length() const { return m_length; }

    /// Commits the next `count` slots, which the last passes have written in order.
    void commit(int count);

    /// Commits the drafted slots of an accepted path, which need not be neighbours: `slots` are
    /// ascending, at or beyond length(); they move to [length(), length() + slots.size()).
    void keepPath(std::span<const Position> slots);

    /// Forgets all tokens from `length` on. O(1).
    void truncate(Position length);

    KvStorage& storage() { return *m_storage; }

    const KvStorage& storage() const { return *m_storage; }

private:
    std::unique_ptr<KvStorage> m_storage;
    Position m_length = 0;
    std::vector<SlotCopy> m_copies; // of keepPath(), kept for its memory
};

/// Type of the numbers in a HostKvStorage.
enum class KvType { F32, F64, BF16, F16, Int8 };

std::string_view kvTypeName(KvType type); ///< "float32", "float64", "bfloat16", "float16", "int8"

/// As the kernels call it; they have no float64.
std::optional<KvElement> kvElement(KvType type);

/// Bytes of one head's keys or values of a token; with 8 bits also of their scales, one for each
/// group of kQuantGroup numbers.
std::size_t kvRowBytes(KvType type, int headDim);

/// Sizes of the cache of one model.
struct KvShape {
    int layerCount = 0;
    int kvHeadCount = 0;
    int headDim = 0;
    Position capacity = 0;
    KvType type = KvType::F32;
};

/// Keys and values in host memory: for each layer keys and values [kvHeads, capacity] of rows,
/// reserved at once and paged in by the system as it is written.
class HostKvStorage : public KvStorage {
public:
    /// Errors: NoMemory with the number of bytes asked for.
    static Result<std::unique_ptr<HostKvStorage>> make(const KvShape& shape);

    ~HostKvStorage() override;
    HostKvStorage(const HostKvStorage&) = delete;
    HostKvStorage& operator=(const HostKvStorage&) = delete;

    Position capacity() const override { return m_shape.capacity; }

    void copySlots(std::span<const SlotCopy> copies) override;

    std::size_t byteSize() const override { return m_byteSize; }

    const KvShape& shape() const { return m_shape; }

    /// Keys [kvHeads, capacity] of a layer, in rows of kvRowBytes().
    std::byte* keys(int layer) { return plane(2 * layer); }

    /// Values, laid out alike.
    std::byte* values(int layer) { return plane(2 * layer + 1); }

private:
    HostKvStorage(const KvShape& shape, std::byte* memory, std::size_t byteSize);

    std::byte* plane(int index) {
        return m_memory + static_cast<std::size_t>(index) * m_planeBytes;
    }

    KvShape m_shape;
    std::byte* m_memory; // an anonymous mapping of m_byteSize bytes
    std::size_t m_byteSize;
    std::size_t m_rowBytes;
    std::size_t m_planeBytes; // keys or values of one layer
};

/// A cache of other sizes than the network's, its capacity aside, is a bug (ENGINE_CHECK).
void checkCacheShape(const KvShape& found, const KvShape& shape);

/// What is in a cache that makeCache() of such a backend made: `shape` as there, its capacity
/// aside. The cache of another backend, or of a model with other sizes, is a bug (ENGINE_CHECK).
HostKvStorage& hostStorage(KvCache& cache, const KvShape& shape);

} // namespace engine
