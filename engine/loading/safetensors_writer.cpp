// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/safetensors_writer.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace engine {

namespace {

using HeaderJson = nlohmann::ordered_json;

constexpr std::size_t kHeaderUnit = 8;
constexpr std::size_t kPieceValues = std::size_t{1} << 18U;

std::uint64_t bytesOf(TensorType type) {
    ENGINE_CHECK(type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16,
                 "tensors of type {} are not written",
                 tensorTypeName(type));
    return type == TensorType::F32 ? sizeof(float) : sizeof(std::uint16_t);
}

/// The upper half of a float32, rounded to nearest, ties to even.
std::uint16_t brainFloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t odd = (bits >> 16U) & 1U;
    return static_cast<std::uint16_t>((bits + 0x7FFFU + odd) >> 16U);
}

float fromBrainFloat(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

template <typename T> std::string_view textOf(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

} // namespace

std::uint64_t PlannedTensor::count() const {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape)
        count *= size;
    return count;
}

Result<SafetensorsWriter> SafetensorsWriter::begin(const std::filesystem::path& path,
                                                   std::vector<PlannedTensor> tensors) {
    HeaderJson::object_t members;
    members.push_back({"__metadata__", HeaderJson::object({{"format", "pt"}})});
    std::uint64_t offset = 0;
    for (const PlannedTensor& tensor : tensors) {
        const std::uint64_t end = offset + tensor.count() * bytesOf(tensor.type);
        members.push_back({tensor.name,
                           HeaderJson::object({{"dtype", tensorTypeName(tensor.type)},
                                               {"shape", tensor.shape},
                                               {"data_offsets", {offset, end}}})});
        offset = end;
    }
    std::string header = HeaderJson(std::move(members)).dump();
    header.resize((header.size() + kHeaderUnit - 1) / kHeaderUnit * kHeaderUnit, ' ');
    const std::uint64_t length = header.size();
    ENGINE_TRY(PartFile file, PartFile::begin(path));
    SafetensorsWriter writer(std::move(file), std::move(tensors));
    ENGINE_TRY_DO(writer.m_file.write(textOf(std::span<const std::uint64_t>(&length, 1))));
    ENGINE_TRY_DO(writer.m_file.write(header));
    writer.m_bytes = sizeof length + header.size();
    return writer;
}

Result<void> SafetensorsWriter::add(std::span<const float> values) {
    ENGINE_CHECK(m_next < m_tensors.size() && m_tensors[m_next].count() == values.size(),
                 "{} values are none of the tensors planned",
                 values.size());
    const PlannedTensor& tensor = m_tensors[m_next++];
    std::vector<std::uint16_t> halves;
    for (std::size_t first = 0; first < values.size(); first += kPieceValues) {
        const auto piece = values.subspan(first, std::min(kPieceValues, values.size() - first));
        bool isFinite = true;
        halves.clear();
        for (const float value : piece) {
            float stored = value;
            if (tensor.type == TensorType::BF16) {
                halves.push_back(brainFloat(value));
                stored = fromBrainFloat(halves.back());
            } else if (tensor.type == TensorType::F16) {
                halves.push_back(halfFromFloat(value));
                stored = floatFromHalf(halves.back());
            }
            isFinite = isFinite && std::isfinite(value) && std::isfinite(stored);
        }
        if (!isFinite)
            return Error{ErrorCode::Numeric,
                         fmt::format("The numbers of {} are not finite, or too large for {}.",
                                     tensor.name,
                                     tensorTypeName(tensor.type)),
                         "Train with a lower rate."};
        ENGINE_TRY_DO(m_file.write(tensor.type == TensorType::F32
                                       ? textOf(piece)
                                       : textOf(std::span<const std::uint16_t>(halves))));
    }
    m_bytes += tensor.count() * bytesOf(tensor.type);
    return {};
}

Result<std::uint64_t> SafetensorsWriter::finish() {
    ENGINE_CHECK(m_next == m_tensors.size(), "{} tensors are missing", m_tensors.size() - m_next);
    ENGINE_TRY_DO(m_file.sync());
    ENGINE_TRY_DO(m_file.close());
    ENGINE_TRY_DO(m_file.publish());
    ENGINE_TRY_DO(m_file.syncFolder());
    return m_bytes;
}

} // namespace engine
