// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/safetensors_file.h"
#include "engine/loading/weight_source.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace support {

/// Writes tensors of any source as one safetensors file, a row at a time, without holding them in
/// memory.
class SafetensorsWriter {
public:
    explicit SafetensorsWriter(const engine::WeightSource& source)
        : m_source(source) {}

    void write(const std::filesystem::path& path,
               const std::vector<const engine::TensorInfo*>& tensors) const {
        std::ofstream file(path, std::ios::binary);
        const std::string header = headerOf(tensors);
        const std::uint64_t length = header.size();
        file.write(reinterpret_cast<const char*>(&length), sizeof length);
        file << header;
        for (const engine::TensorInfo* tensor : tensors)
            for (std::uint64_t row = 0; row < tensor->rows(); ++row) {
                std::vector<std::byte> raw(
                    static_cast<std::size_t>(tensor->byteSize / tensor->rows()));
                ENGINE_CHECK(m_source.readRawRows(*tensor, row, 1, raw).hasValue(), "row {}", row);
                file.write(reinterpret_cast<const char*>(raw.data()),
                           static_cast<std::streamsize>(raw.size()));
            }
    }

private:
    static std::string headerOf(const std::vector<const engine::TensorInfo*>& tensors) {
        std::string header;
        std::uint64_t offset = 0;
        for (const engine::TensorInfo* tensor : tensors) {
            std::string shape;
            for (const std::uint64_t size : tensor->shape)
                shape += fmt::format("{}{}", shape.empty() ? "" : ",", size);
            header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  header.empty() ? "{" : ",",
                                  tensor->name,
                                  tensor->typeName(),
                                  shape,
                                  offset,
                                  offset + tensor->byteSize);
            offset += tensor->byteSize;
        }
        return header + "}";
    }

    const engine::WeightSource& m_source;
};

/// All tensors of a source (float32 and bfloat16) in so many shards and their index, which is
/// opened.
inline engine::Result<std::unique_ptr<engine::WeightSource>>
writeShards(const engine::WeightSource& source, const std::filesystem::path& folder, int shards) {
    std::vector<std::vector<const engine::TensorInfo*>> parts(static_cast<std::size_t>(shards));
    std::string index;
    std::size_t next = 0;
    for (const engine::TensorInfo& tensor : source.tensors()) {
        const std::size_t part = next++ % parts.size();
        parts[part].push_back(&tensor);
        index += fmt::format(R"({}"{}":"part{}.safetensors")",
                             index.empty() ? R"({"weight_map":{)" : ",",
                             tensor.name,
                             part);
    }
    for (std::size_t part = 0; part < parts.size(); ++part)
        SafetensorsWriter(source).write(folder / fmt::format("part{}.safetensors", part),
                                        parts[part]);
    const std::filesystem::path path = folder / "model.safetensors.index.json";
    std::ofstream(path, std::ios::binary) << index + "}}";
    return engine::openSafetensorsIndex(path);
}

} // namespace support
