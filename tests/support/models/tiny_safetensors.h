// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Writes small safetensors files: valid ones and, with hand-made headers, invalid ones.
namespace test_support {

/// The bytes of plain values as stored in a file.
template <typename T> std::string bytesOf(std::span<const T> values) {
    std::string bytes(values.size_bytes(), '\0');
    if (!values.empty())
        std::memcpy(bytes.data(), values.data(), values.size_bytes());
    return bytes;
}

template <typename T> std::string bytesOf(const T& value) {
    return bytesOf(std::span<const T>(&value, 1));
}

/// Concatenates length, header and data without any check.
inline std::string safetensorsFile(std::string_view header, std::string_view data) {
    return bytesOf(static_cast<std::uint64_t>(header.size())) + std::string(header) +
           std::string(data);
}

/// Collects tensors and writes a file with them one after another.
class TinySafetensors {
public:
    void add(const std::string& name,
             const std::string& type,
             const std::vector<std::uint64_t>& shape,
             std::string_view bytes) {
        std::string dimensions;
        for (const std::uint64_t size : shape)
            dimensions += fmt::format("{}{}", dimensions.empty() ? "" : ",", size);
        m_header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},)",
                                m_header.empty() ? "{" : ",",
                                name,
                                type,
                                dimensions,
                                m_data.size());
        m_data += bytes;
        m_header += fmt::format("{}]}}", m_data.size());
    }

    /// A float32 tensor of `shape` whose values are small and all different.
    void addFloats(const std::string& name, const std::vector<std::uint64_t>& shape) {
        std::uint64_t count = 1;
        for (const std::uint64_t size : shape)
            count *= size;
        std::vector<float> values;
        for (std::uint64_t i = 0; i < count; ++i)
            values.push_back(0.25F + 0.125F * static_cast<float>(i));
        add(name, "F32", shape, bytesOf(std::span<const float>(values)));
    }

    std::string toBytes() const {
        return safetensorsFile(m_header.empty() ? "{}" : m_header + "}", m_data);
    }

private:
    std::string m_header;
    std::string m_data;
};

} // namespace test_support
