// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/tensor_table.h"

#include "engine/base/checked_math.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace engine {

namespace {

/// Bytes that are converted at a time.
constexpr std::size_t kPieceBytes = std::size_t(1) << 20U;

void checkRows(const TensorInfo& tensor, std::uint64_t firstRow, std::uint64_t rowCount) {
    ENGINE_CHECK(firstRow <= tensor.rows() && rowCount <= tensor.rows() - firstRow,
                 "rows {} to {} of tensor {}, which has {}",
                 firstRow,
                 firstRow + rowCount,
                 tensor.name,
                 tensor.rows());
}

} // namespace

std::optional<std::uint64_t> valueCount(std::span<const std::uint64_t> shape) {
    std::optional<std::uint64_t> product = 1;
    bool isEmpty = false;
    for (const std::uint64_t size : shape) {
        isEmpty = isEmpty || size == 0;
        product = checked::mul(*product, std::max<std::uint64_t>(size, 1));
        if (!product)
            return std::nullopt;
    }
    return isEmpty ? 0 : product;
}

std::optional<std::size_t> TensorNames::sort(std::span<const TensorInfo> tensors) {
    m_order.resize(tensors.size());
    std::iota(m_order.begin(), m_order.end(), 0U);
    std::sort(m_order.begin(), m_order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const int order = tensors[a].name.compare(tensors[b].name);
        return order != 0 ? order < 0 : a < b;
    });
    const auto twice =
        std::adjacent_find(m_order.begin(), m_order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return tensors[a].name == tensors[b].name;
        });
    return twice == m_order.end() ? std::nullopt : std::optional<std::size_t>(*(twice + 1));
}

const TensorInfo* TensorNames::find(std::span<const TensorInfo> tensors,
                                    std::string_view name) const {
    const auto found = std::lower_bound(
        m_order.begin(), m_order.end(), name, [&](std::uint32_t i, std::string_view wanted) {
            return tensors[i].name < wanted;
        });
    return found != m_order.end() && tensors[*found].name == name ? &tensors[*found] : nullptr;
}

std::uint32_t TensorTable::addFile(ByteReader file) {
    m_files.push_back(std::move(file));
    return static_cast<std::uint32_t>(m_files.size() - 1);
}

void TensorTable::reserve(std::size_t count) {
    m_tensors.reserve(m_tensors.size() + count);
    m_places.reserve(m_places.size() + count);
}

void TensorTable::add(TensorInfo info, std::uint32_t file, std::uint64_t offset) {
    m_tensors.push_back(std::move(info));
    m_places.push_back({offset, file});
}

Result<void> TensorTable::finish() {
    const auto twice = m_names.sort(m_tensors);
    if (!twice)
        return {};
    return corruptAt(m_files[m_places[*twice].file].path(),
                     m_places[*twice].offset,
                     fmt::format("tensor {} appears twice", readable(m_tensors[*twice].name)));
}

std::string TensorTable::fileState() const {
    std::string state;
    for (const ByteReader& file : m_files)
        state += file.state() + ";";
    return state;
}

const TensorTable::Place& TensorTable::placeOf(const TensorInfo& tensor) const {
    const auto index = static_cast<std::size_t>(&tensor - m_tensors.data());
    ENGINE_CHECK(index < m_tensors.size() && &m_tensors[index] == &tensor,
                 "tensor {} belongs to another source",
                 tensor.name);
    return m_places[index];
}

Result<void> TensorTable::readRows(const TensorInfo& tensor,
                                   std::uint64_t firstRow,
                                   std::uint64_t rowCount,
                                   std::span<float> out) const {
    checkRows(tensor, firstRow, rowCount);
    const ByteReader& file = fileOf(tensor);
    if (tensor.type == TensorType::Other)
        return Error{ErrorCode::Unsupported,
                     fmt::format("{}: tensor {} is stored as {}, which cannot be computed with",
                                 file.path().string(),
                                 readable(tensor.name),
                                 tensor.typeName()),
                     "Convert the model to float32, float16 or bfloat16."};
    ENGINE_CHECK(out.size() == rowCount * tensor.columns(),
                 "{} rows of tensor {} do not fit {} values",
                 rowCount,
                 tensor.name,
                 out.size());
    const BlockLayout layout = blockLayout(tensor.type);
    const std::uint64_t rowBytes = tensor.columns() / layout.values * layout.bytes;
    std::uint64_t offset = placeOf(tensor).offset + firstRow * rowBytes;
    if (tensor.type == TensorType::F32)
        return file.readAt(offset, std::as_writable_bytes(out), readable(tensor.name));

    const std::string shownName = readable(tensor.name);
    const std::size_t pieceValues = kPieceBytes / layout.bytes * layout.values;
    std::vector<std::byte> piece(std::min(pieceValues, out.size()) / layout.values * layout.bytes);
    while (!out.empty()) {
        const std::span<float> values = out.first(std::min(pieceValues, out.size()));
        const auto bytes = std::span(piece).first(values.size() / layout.values * layout.bytes);
        ENGINE_TRY_DO(file.readAt(offset, bytes, shownName));
        dequantize(tensor.type, bytes, values);
        out = out.subspan(values.size());
        offset += bytes.size();
    }
    return {};
}

Result<void> TensorTable::readRawRows(const TensorInfo& tensor,
                                      std::uint64_t firstRow,
                                      std::uint64_t rowCount,
                                      std::span<std::byte> out) const {
    checkRows(tensor, firstRow, rowCount);
    const ByteReader& file = fileOf(tensor);
    if (tensor.byteSize == 0 || rowCount == 0)
        return {};
    const std::uint64_t rowBytes = tensor.byteSize / tensor.rows();
    if (rowBytes * tensor.rows() != tensor.byteSize)
        return Error{ErrorCode::Unsupported,
                     fmt::format("{}: a row of tensor {} ({}) is no whole number of bytes",
                                 file.path().string(),
                                 readable(tensor.name),
                                 tensor.typeName()),
                     "Convert the model to float32, float16 or bfloat16."};
    ENGINE_CHECK(out.size() == rowCount * rowBytes,
                 "{} rows of tensor {} do not fit {} bytes",
                 rowCount,
                 tensor.name,
                 out.size());
    return file.readAt(placeOf(tensor).offset + firstRow * rowBytes, out, readable(tensor.name));
}

} // namespace engine
