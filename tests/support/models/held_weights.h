// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/aligned_buffer.h"
#include "engine/kernels/tiles/packing/tile_packing.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace support {

/// The matrices of a model as float32 of exactly the values that the cpu backend holds when they
/// are packed in some form; vectors as they are. So a reference can compute with the same weights.
class HeldWeights final : public engine::WeightSource {
public:
    /// `source` must outlive this.
    HeldWeights(const engine::WeightSource& source, engine::WeightForm form)
        : m_source(source)
        , m_form(form)
        , m_tensors(source.tensors().begin(), source.tensors().end()) {
        for (engine::TensorInfo& tensor : m_tensors)
            if (tensor.shape.size() == 2) {
                tensor.type = engine::TensorType::F32;
                tensor.byteSize = tensor.rows() * tensor.columns() * sizeof(float);
            }
    }

    std::span<const engine::TensorInfo> tensors() const override { return m_tensors; }

    const engine::TensorInfo* find(std::string_view name) const override {
        const auto found = std::find_if(m_tensors.begin(), m_tensors.end(), [&](const auto& each) {
            return each.name == name;
        });
        return found == m_tensors.end() ? nullptr : &*found;
    }

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t first,
                                  std::uint64_t count,
                                  std::span<float> out) const override {
        const engine::TensorInfo& stored = *m_source.find(tensor.name);
        if (tensor.shape.size() != 2)
            return m_source.readRows(stored, first, count, out);
        ENGINE_TRY(const engine::TileMatrix matrix, packed(stored));
        std::vector<float> row(static_cast<std::size_t>(matrix.columns)); // may be wider
        const auto columns = static_cast<std::size_t>(tensor.columns());
        for (std::size_t i = 0; i < count; ++i) {
            engine::readPackedRow(matrix, static_cast<int>(first + i), row);
            std::copy_n(
                row.begin(), columns, out.begin() + static_cast<std::ptrdiff_t>(i * columns));
        }
        return {};
    }

    engine::Result<void> readRawRows(const engine::TensorInfo& tensor,
                                     std::uint64_t first,
                                     std::uint64_t count,
                                     std::span<std::byte> out) const override {
        if (tensor.shape.size() != 2)
            return m_source.readRawRows(*m_source.find(tensor.name), first, count, out);
        std::vector<float> values(static_cast<std::size_t>(count * tensor.columns()));
        ENGINE_TRY_DO(readRows(tensor, first, count, values));
        std::memcpy(out.data(), values.data(), values.size() * sizeof(float));
        return {};
    }

private:
    /// Packed on first use; all are kept.
    engine::Result<engine::TileMatrix> packed(const engine::TensorInfo& stored) const {
        const std::scoped_lock lock(m_mutex);
        const engine::TileFormat format = engine::tileFormat(stored.type, m_form);
        engine::TileMatrix matrix = engine::outlineMatrix(
            format, static_cast<int>(stored.rows()), static_cast<int>(stored.columns()));
        const auto [place, isNew] = m_tiles.try_emplace(stored.name);
        if (isNew) {
            const std::size_t bytes = engine::matrixBytes(matrix);
            place->second.reserve(bytes);
            std::memset(place->second.data(), 0, bytes);
            ENGINE_TRY_DO(engine::packMatrix(m_source, stored, format, place->second.data()));
        }
        matrix.data = place->second.data();
        return matrix;
    }

    const engine::WeightSource& m_source;
    engine::WeightForm m_form;
    std::vector<engine::TensorInfo> m_tensors;
    mutable std::mutex m_mutex;
    mutable std::map<std::string, engine::AlignedBuffer<std::byte>> m_tiles;
};

} // namespace support
