// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/models/tiny_safetensors.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Writes small GGUF files: valid ones and, with raw values and counts, invalid ones.
namespace test_support {

/// Metadata value types of the format.
enum class GgufType : std::uint32_t {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64
};

/// u64 length and the characters.
inline std::string ggufString(std::string_view text) {
    return bytesOf(static_cast<std::uint64_t>(text.size())) + std::string(text);
}

/// Element type, count and the items, whose bytes are given.
inline std::string ggufArray(GgufType itemType, std::uint64_t count, std::string_view items) {
    return bytesOf(static_cast<std::uint32_t>(itemType)) + bytesOf(count) + std::string(items);
}

inline std::string ggufStrings(const std::vector<std::string>& texts) {
    std::string items;
    for (const std::string& text : texts)
        items += ggufString(text);
    return ggufArray(GgufType::String, texts.size(), items);
}

/// Collects metadata and tensors and writes the file. Public numbers may be changed to wrong
/// values.
class TinyGguf {
public:
    std::uint32_t version = 3;
    std::uint32_t alignment = 32; ///< of the data; not written as a key by itself
    std::uint64_t keyCount = 0;
    std::uint64_t tensorCount = 0;

    /// Any value, given as the bytes that follow its type.
    void addValue(std::string_view key, GgufType type, std::string_view bytes) {
        m_metadata += ggufString(key) + bytesOf(static_cast<std::uint32_t>(type));
        m_metadata += bytes;
        ++keyCount;
    }

    void addU32(std::string_view key, std::uint32_t value) {
        addValue(key, GgufType::U32, bytesOf(value));
    }

    void addF32(std::string_view key, float value) { addValue(key, GgufType::F32, bytesOf(value)); }

    void addString(std::string_view key, std::string_view value) {
        addValue(key, GgufType::String, ggufString(value));
    }

    void addStrings(std::string_view key, const std::vector<std::string>& values) {
        addValue(key, GgufType::Array, ggufStrings(values));
    }

    template <typename T>
    void addArray(std::string_view key, GgufType itemType, const std::vector<T>& values) {
        const std::string items = bytesOf(std::span<const T>(values));
        addValue(key, GgufType::Array, ggufArray(itemType, values.size(), items));
    }

    /// A tensor by its dimensions (contiguous one first), ggml type id and bytes.
    void addTensor(std::string_view name,
                   const std::vector<std::uint64_t>& dimensions,
                   std::uint32_t type,
                   std::string_view bytes) {
        addTensorInfo(name, dimensions, type, m_data.size());
        m_data += bytes;
        m_data.resize((m_data.size() + alignment - 1) / alignment * alignment);
    }

    /// Adds only the entry; its offset may point anywhere.
    void addTensorInfo(std::string_view name,
                       const std::vector<std::uint64_t>& dimensions,
                       std::uint32_t type,
                       std::uint64_t offset) {
        m_infos += ggufString(name) + bytesOf(static_cast<std::uint32_t>(dimensions.size()));
        for (const std::uint64_t size : dimensions)
            m_infos += bytesOf(size);
        m_infos += bytesOf(type) + bytesOf(offset);
        ++tensorCount;
    }

    /// A float32 tensor whose values are small and all different.
    void addFloats(std::string_view name, const std::vector<std::uint64_t>& dimensions) {
        std::uint64_t count = 1;
        for (const std::uint64_t size : dimensions)
            count *= size;
        std::vector<float> values;
        for (std::uint64_t i = 0; i < count; ++i)
            values.push_back(0.25F + 0.125F * static_cast<float>(i));
        addTensor(name, dimensions, 0, bytesOf(std::span<const float>(values)));
    }

    std::string toBytes() const {
        std::string bytes = "GGUF" + bytesOf(version) + bytesOf(tensorCount) + bytesOf(keyCount);
        bytes += m_metadata + m_infos;
        bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
        return bytes + m_data;
    }

private:
    std::string m_metadata;
    std::string m_infos;
    std::string m_data;
};

} // namespace test_support
