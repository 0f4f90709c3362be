// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/safetensors_writer.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
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

template <typename T> std::string_view textOf(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

} // namespace

std::string safetensorsHeader(const std::string& key,
                              const std::string& text,
                              std::span<const HeaderTensor> tensors) {
    HeaderJson::object_t members;
    members.push_back({"__metadata__", HeaderJson::object({{key, text}})});
    std::uint64_t offset = 0;
    for (const HeaderTensor& tensor : tensors) {
        const std::uint64_t end = offset + tensor.bytes;
        members.push_back({tensor.name,
                           HeaderJson::object({{"dtype", tensor.type},
                                               {"shape", tensor.shape},
                                               {"data_offsets", {offset, end}}})});
        offset = end;
    }
    std::string header =
        HeaderJson(std::move(members)).dump(-1, ' ', true, HeaderJson::error_handler_t::replace);
    header.resize((header.size() + kHeaderUnit - 1) / kHeaderUnit * kHeaderUnit, ' ');
    const std::uint64_t length = header.size();
    return std::string(textOf(std::span<const std::uint64_t>(&length, 1))) + header;
}

std::uint64_t PlannedTensor::count() const {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape)
        count *= size;
    return count;
}

Result<SafetensorsWriter> SafetensorsWriter::begin(const std::filesystem::path& path,
                                                   std::vector<PlannedTensor> tensors) {
    std::vector<HeaderTensor> listed;
    for (const PlannedTensor& tensor : tensors)
        listed.push_back({tensor.name,
                          tensorTypeName(tensor.type),
                          tensor.shape,
                          tensor.count() * bytesOf(tensor.type)});
    const std::string header = safetensorsHeader("format", "pt", listed);
    ENGINE_TRY(PartFile file, PartFile::begin(path));
    SafetensorsWriter writer(std::move(file), std::move(tensors));
    ENGINE_TRY_DO(writer.m_file.write(header));
    writer.m_bytes = header.size();
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
                halves.push_back(bfloat16FromFloat(value));
                stored = floatFromBfloat16(halves.back());
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
