// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/packing/tile_packing.h"

#include "engine/base/to_size.h"
#include "engine/kernels/tiles/packing/group_place.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/quant_groups.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace engine {

namespace {

std::size_t roundUp(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// Whether the tile keeps the file's own quantised numbers.
bool isPackedByGroups(TensorType type) {
    return isQuantised(type) && quantTraits(type).fitsTiles();
}

/// The position of a plain number, in elements.
std::size_t plainPlace(TileForm form, std::size_t lane, std::size_t column) {
    return form == TileForm::Bf16 ? column / 2 * 2 * kTileRows + lane * 2 + column % 2
                                  : column * kTileRows + lane;
}

/// Eight bits per value, with a scale from the largest magnitude.
QuantGroup roundedGroup(std::span<const float> values) {
    QuantGroup group;
    float largest = 0.0F;
    for (const float value : values)
        largest = std::max(largest, std::fabs(value));
    std::uint16_t bits = halfFromFloat(largest / 127.0F);
    // Where scales are so small that they lie far apart, the nearest one may leave no number for
    // the largest magnitude: then it is the one above.
    if (largest > floatFromHalf(bits) * 127.5F)
        ++bits;
    const float scale = floatFromHalf(bits);
    group.scales = {scale, scale};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float stored = scale > 0.0F ? std::nearbyint(values[i] / scale) : 0.0F;
        group.stored[i] = static_cast<std::uint8_t>(std::clamp(stored, -127.0F, 127.0F) + 128.0F);
    }
    for (std::size_t i = values.size(); i < group.stored.size(); ++i)
        group.stored[i] = 128;
    return group;
}

/// Writes the tiles of one matrix, row by row.
class TilePacker {
public:
    TilePacker(const TensorInfo& tensor, const TileFormat& format, std::byte* memory)
        : m_tensor(tensor)
        , m_matrix(outlineMatrix(
              format, static_cast<int>(tensor.rows()), static_cast<int>(tensor.columns())))
        , m_memory(memory)
        , m_raise(isPackedByGroups(tensor.type) ? format.offset - quantTraits(tensor.type).offset
                                                : 0)
        , m_values(m_tensor.columns()) {
        for (std::uint8_t i = 0; m_matrix.table != nullptr && i < 16; ++i)
            m_places[m_matrix.table[i]] = i;
    }

    /// Errors: Numeric. `raw` is the row as stored.
    Result<void> pack(int row, std::span<const std::byte> raw) {
        if (holdsQuants(m_matrix.form) && isPackedByGroups(m_tensor.type))
            return packGroups(row, raw);
        dequantize(m_tensor.type, raw, m_values);
        const auto bad = std::find_if_not(
            m_values.begin(), m_values.end(), [](float value) { return std::isfinite(value); });
        if (bad != m_values.end())
            return notFinite(row);
        if (!holdsQuants(m_matrix.form)) {
            packPlain(row);
            return {};
        }
        for (std::size_t group = 0; group * kGroupColumns < m_values.size(); ++group) {
            const std::size_t first = group * kGroupColumns;
            const auto values = std::span(m_values).subspan(
                first, std::min<std::size_t>(kGroupColumns, m_values.size() - first));
            write(row, group, roundedGroup(values));
        }
        return {};
    }

private:
    Error notFinite(int row) const {
        return {ErrorCode::Numeric,
                fmt::format("tensor {} holds a value that is infinite or not a number in row {}",
                            readable(m_tensor.name),
                            row),
                "The weights are damaged: fetch or convert the model again."};
    }

    std::byte* tileOf(int row) const {
        return m_memory + toSize(row / kTileRows) * m_matrix.tileBytes;
    }

    void packPlain(int row) {
        std::byte* tile = tileOf(row);
        const std::size_t lane = toSize(row % kTileRows);
        for (std::size_t column = 0; column < m_values.size(); ++column) {
            const std::size_t place = plainPlace(m_matrix.form, lane, column);
            if (m_matrix.form == TileForm::F32) {
                std::memcpy(tile + place * 4, &m_values[column], 4);
                continue;
            }
            const std::uint16_t bits = m_matrix.form == TileForm::Bf16
                                           ? bfloat16FromFloat(m_values[column])
                                           : halfFromFloat(m_values[column]);
            std::memcpy(tile + place * 2, &bits, 2);
        }
    }

    Result<void> packGroups(int row, std::span<const std::byte> raw) {
        const BlockLayout block = blockLayout(m_tensor.type);
        const std::size_t groupsOfBlock = block.values / kQuantGroupValues;
        std::array<QuantGroup, 8> groups;
        for (std::size_t at = 0, group = 0; at < raw.size(); at += block.bytes) {
            readQuantBlock(m_tensor.type, raw.data() + at, groups.data());
            for (std::size_t i = 0; i < groupsOfBlock; ++i, ++group) {
                const QuantGroup& read = groups[i];
                if (!std::isfinite(read.scales[0] + read.scales[1] + read.minima[0]))
                    return notFinite(row);
                write(row, group, read);
            }
        }
        return {};
    }

    /// 32 values, which are one or two groups of the tile.
    void write(int row, std::size_t index, const QuantGroup& values) {
        std::byte* tile = tileOf(row);
        const std::size_t lane = toSize(row % kTileRows);
        const std::size_t columns = toSize(m_matrix.groupColumns);
        const std::size_t parts = kGroupColumns / columns;
        std::array<std::uint8_t, kGroupColumns> stored;
        for (std::size_t i = 0; i < stored.size(); ++i)
            stored[i] = static_cast<std::uint8_t>(values.stored[i] + m_raise);
        for (std::size_t i = 0; m_matrix.table != nullptr && i < stored.size(); ++i)
            stored[i] = m_places[stored[i]];
        for (std::size_t part = 0; part < parts; ++part) {
            const GroupPlace place = groupPlace(m_matrix, index * parts + part);
            writeStored(m_matrix, tile + place.storedAt, lane, stored.data() + part * columns);
            writeGroupScale(m_matrix, tile + place.header, place.inChunk, lane, values, part);
        }
    }

    const TensorInfo& m_tensor;
    TileMatrix m_matrix;
    std::byte* m_memory;
    int m_raise;                                 // of a stored number above the file's
    std::array<std::uint8_t, 256> m_places = {}; // in the table, of each number
    std::vector<float> m_values;                 // [columns]
};

} // namespace

TileFormat tileFormat(TensorType type, WeightForm wanted) {
    const bool isAsStored = wanted == WeightForm::File || wanted == WeightForm::Auto;
    if (wanted == WeightForm::F32)
        return {.form = TileForm::F32};
    if (wanted == WeightForm::Bf16 || (type == TensorType::BF16 && isAsStored))
        return {.form = TileForm::Bf16};
    if (!isPackedByGroups(type)) {
        if (wanted == WeightForm::Int8)
            return {.form = TileForm::Int8, .offset = 128};
        return {.form = type == TensorType::F16 ? TileForm::F16 : TileForm::F32};
    }
    const QuantTraits traits = quantTraits(type);
    TileFormat format{.form = TileForm::Int8,
                      .scaleForm = traits.isNested   ? ScaleForm::Nested
                                   : traits.fitsHalf ? ScaleForm::F16
                                                     : ScaleForm::F32,
                      .groupColumns = traits.scaleValues,
                      .hasMinima = traits.hasMinima,
                      .offset = traits.offset};
    if (traits.bits <= 6 && isAsStored)
        format.form = traits.bits <= 4 ? TileForm::Int4 : TileForm::Int6;
    else if (traits.table != nullptr && isAsStored)
        format = {TileForm::Table4, format.scaleForm, kGroupColumns, false, 128, traits.table};
    else if (!traits.hasMinima)
        format.offset = 128;
    return format;
}

std::string_view tileFormatName(const TileFormat& format) {
    switch (format.form) {
    case TileForm::F32:
        return "float32";
    case TileForm::F16:
        return "float16";
    case TileForm::Bf16:
        return "bfloat16";
    case TileForm::Int8:
        return format.groupColumns == 16 ? "8-bit, scale per 16"
               : format.hasMinima        ? "8-bit, scale and minimum per 32"
                                         : "8-bit, scale per 32";
    case TileForm::Int6:
        return format.groupColumns == 16 ? "6-bit, scale per 16"
               : format.hasMinima        ? "6-bit, scale and minimum per 32"
                                         : "6-bit, scale per 32";
    case TileForm::Table4:
    case TileForm::Int4:
        return format.groupColumns == 16 ? "4-bit, scale per 16"
               : format.hasMinima        ? "4-bit, scale and minimum per 32"
                                         : "4-bit, scale per 32";
    }
    return "";
}

TileMatrix outlineMatrix(const TileFormat& format, int rows, int columns) {
    TileMatrix matrix;
    matrix.rows = rows;
    matrix.columns = static_cast<int>(roundUp(toSize(columns), kGroupColumns));
    matrix.form = format.form;
    matrix.scaleForm = format.scaleForm;
    matrix.groupColumns = format.groupColumns;
    matrix.hasMinima = format.hasMinima;
    matrix.offset = format.offset;
    matrix.table = format.table == nullptr ? nullptr : format.table->data();
    const std::size_t values = toSize(matrix.columns) * kTileRows;
    switch (format.form) {
    case TileForm::F32:
        matrix.tileBytes = values * 4;
        break;
    case TileForm::F16:
    case TileForm::Bf16:
        matrix.tileBytes = values * 2;
        break;
    case TileForm::Int8:
    case TileForm::Int6:
    case TileForm::Table4:
    case TileForm::Int4: {
        const std::size_t kinds = format.hasMinima ? 2U : 1U; // of numbers in a header
        const std::size_t groups = toSize(matrix.columns / format.groupColumns);
        if (format.scaleForm == ScaleForm::Nested) {
            ENGINE_CHECK(matrix.columns % kNestedColumns == 0, "{} columns", matrix.columns);
            matrix.chunkGroups = kNestedColumns / format.groupColumns;
            matrix.headerBytes = toSize(matrix.chunkGroups) * kTileRows * kinds + kLineBytes;
        } else {
            const std::size_t groupHeader =
                kTileRows * kinds * (format.scaleForm == ScaleForm::F32 ? 4U : 2U);
            matrix.chunkGroups =
                groupHeader < kLineBytes ? static_cast<int>(kLineBytes / groupHeader) : 1;
            matrix.headerBytes = groupHeader * toSize(matrix.chunkGroups);
        }
        const std::size_t bits = format.form == TileForm::Int8   ? 8
                                 : format.form == TileForm::Int6 ? 6
                                                                 : 4;
        matrix.groupBytes = toSize(format.groupColumns) * kTileRows * bits / 8;
        matrix.tileBytes = roundUp(groups, toSize(matrix.chunkGroups)) /
                               toSize(matrix.chunkGroups) * matrix.headerBytes +
                           groups * matrix.groupBytes;
        break;
    }
    }
    return matrix;
}

std::size_t matrixBytes(const TileMatrix& matrix) {
    return toSize(tileCount(matrix)) * matrix.tileBytes;
}

Result<void> packMatrix(const WeightSource& source,
                        const TensorInfo& tensor,
                        const TileFormat& format,
                        std::byte* memory) {
    constexpr std::uint64_t kPieceBytes = 1U << 20U;
    const std::uint64_t rows = tensor.rows();
    if (rows == 0)
        return {};
    const std::uint64_t rowBytes = tensor.byteSize / rows;
    const std::uint64_t piece = std::clamp<std::uint64_t>(kPieceBytes / rowBytes, 1, rows);
    std::vector<std::byte> raw(static_cast<std::size_t>(piece * rowBytes));
    TilePacker packer(tensor, format, memory);
    for (std::uint64_t first = 0; first < rows; first += piece) {
        const std::uint64_t count = std::min(piece, rows - first);
        const auto bytes = std::span(raw).first(static_cast<std::size_t>(count * rowBytes));
        ENGINE_TRY_DO(source.readRawRows(tensor, first, count, bytes));
        for (std::uint64_t row = 0; row < count; ++row)
            ENGINE_TRY_DO(packer.pack(static_cast<int>(first + row),
                                      bytes.subspan(static_cast<std::size_t>(row * rowBytes),
                                                    static_cast<std::size_t>(rowBytes))));
    }
    return {};
}

namespace {

/// A row of a matrix whose numbers have no scales.
void readPlainRow(TileForm form, const std::byte* tile, std::size_t lane, std::span<float> out) {
    for (std::size_t column = 0; column < out.size(); ++column) {
        const std::size_t place = plainPlace(form, lane, column);
        if (form == TileForm::F32) {
            std::memcpy(&out[column], tile + place * 4, 4);
            continue;
        }
        std::uint16_t bits = 0;
        std::memcpy(&bits, tile + place * 2, 2);
        out[column] = form == TileForm::Bf16 ? floatFromBfloat16(bits) : floatFromHalf(bits);
    }
}

} // namespace

PackedGroup readPackedGroup(const TileMatrix& matrix, int row, int group) {
    ENGINE_CHECK(holdsQuants(matrix.form), "the groups of a matrix that has none");
    const std::byte* tile = matrix.data + toSize(row / kTileRows) * matrix.tileBytes;
    const std::size_t lane = toSize(row % kTileRows);
    const GroupPlace place = groupPlace(matrix, toSize(group));
    PackedGroup read;
    const auto [scale, minimum] = readGroupScale(matrix, tile + place.header, place.inChunk, lane);
    read.scale = scale;
    read.minimum = minimum;
    for (std::size_t i = 0; i < toSize(matrix.groupColumns); ++i) {
        const unsigned stored = readStored(matrix, tile + place.storedAt, lane, i);
        read.quants[i] = static_cast<std::int8_t>(static_cast<int>(stored) - matrix.offset);
    }
    return read;
}

void readPackedRow(const TileMatrix& matrix, int row, std::span<float> out) {
    ENGINE_CHECK(row >= 0 && row < matrix.rows && out.size() == toSize(matrix.columns),
                 "row {} of {}, {} numbers of {}",
                 row,
                 matrix.rows,
                 out.size(),
                 matrix.columns);
    if (!holdsQuants(matrix.form)) {
        const std::byte* tile = matrix.data + toSize(row / kTileRows) * matrix.tileBytes;
        return readPlainRow(matrix.form, tile, toSize(row % kTileRows), out);
    }
    const std::size_t groupColumns = toSize(matrix.groupColumns);
    for (std::size_t first = 0; first < out.size(); first += groupColumns) {
        const PackedGroup group =
            readPackedGroup(matrix, row, static_cast<int>(first / groupColumns));
        for (std::size_t i = 0; i < groupColumns; ++i) {
            const float value = static_cast<float>(group.quants[i]) * group.scale;
            out[first + i] = matrix.hasMinima ? value + group.minimum : value;
        }
    }
}

} // namespace engine
