// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/weight_source.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Most tensors of one file, and most dimensions of one tensor, that any reader accepts.
inline constexpr std::uint64_t kMaxTensors = 200'000;
inline constexpr std::uint64_t kMaxDimensions = 8;

/// Number of values of a shape; 0 when a dimension is 0; nothing when the product wraps, zeros
/// left out: a zero must not hide a product that does not fit.
std::optional<std::uint64_t> valueCount(std::span<const std::uint64_t> shape);

/// Finds tensors by name in a list that stays as it is. Sorted, so no chosen names make it slow.
class TensorNames {
public:
    /// The position of a tensor whose name comes twice, or nothing: the names are unique.
    std::optional<std::size_t> sort(std::span<const TensorInfo> tensors);

    const TensorInfo* find(std::span<const TensorInfo> tensors, std::string_view name) const;

private:
    std::vector<std::uint32_t> m_order;
};

/// The tensors of one or several files and where their bytes lie: what both formats share.
/// Filled once, then read-only. Thread: reads from any thread.
class TensorTable {
public:
    /// Takes a file over; returns its number.
    std::uint32_t addFile(ByteReader file);

    const ByteReader& file(std::uint32_t number) const { return m_files[number]; }

    /// Makes room for so many tensors more: growing by itself would hold them twice.
    void reserve(std::size_t count);

    /// A tensor whose bytes begin at `offset` of file `file`; the reader has checked that they lie
    /// inside it and agree with shape and type.
    void add(TensorInfo info, std::uint32_t file, std::uint64_t offset);

    /// To be called once after the last add. Errors: CorruptFile for a name that comes twice.
    Result<void> finish();

    std::span<const TensorInfo> tensors() const { return m_tensors; }

    const TensorInfo* find(std::string_view name) const { return m_names.find(m_tensors, name); }

    /// The file that holds a tensor of this table.
    const ByteReader& fileOf(const TensorInfo& tensor) const {
        return m_files[placeOf(tensor).file];
    }

    /// As WeightSource::fileState, readRows and readRawRows.
    std::string fileState() const;
    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const;
    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const;

private:
    struct Place {
        std::uint64_t offset = 0;
        std::uint32_t file = 0;
    };

    const Place& placeOf(const TensorInfo& tensor) const;

    std::vector<ByteReader> m_files;
    std::vector<TensorInfo> m_tensors;
    std::vector<Place> m_places;
    TensorNames m_names;
};

/// A WeightSource whose tensors are those of a table. `Source` is WeightSource or derives from it.
template <typename Source> class TableSource : public Source {
public:
    explicit TableSource(TensorTable table)
        : m_table(std::move(table)) {}

    std::span<const TensorInfo> tensors() const override { return m_table.tensors(); }

    const TensorInfo* find(std::string_view name) const override { return m_table.find(name); }

    std::string fileState() const override { return m_table.fileState(); }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const override {
        return m_table.readRows(tensor, firstRow, rowCount, out);
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override {
        return m_table.readRawRows(tensor, firstRow, rowCount, out);
    }

private:
    TensorTable m_table;
};

} // namespace engine
