// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/files/byte_reader.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

/// The type numbers of metadata values, in the order of gguf.h.
enum class GgufValueType : std::uint32_t {
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

/// One metadata value; integers and reals are widened, arrays hold one kind of items.
struct GgufValue {
    GgufValueType type = GgufValueType::U8;
    GgufValueType itemType = GgufValueType::U8; ///< of an array
    std::variant<std::uint64_t,
                 std::int64_t,
                 double,
                 bool,
                 std::string,
                 std::vector<std::string>,
                 std::vector<std::int64_t>,
                 std::vector<float>,
                 std::vector<bool>>
        content;

    /// The value, if it is of kind T; else null.
    template <typename T> const T* as() const { return std::get_if<T>(&content); }

    /// For people: the value itself, arrays as "[3 strings]".
    std::string describe() const;
};

/// The key-value part of a GGUF file. Thread: read-only once read.
class GgufMetadata {
public:
    /// Reads `count` pairs from the cursor on. Memory stays within the size of the file and 32 MB.
    /// Errors: CorruptFile with the byte offset.
    static Result<GgufMetadata> read(ByteCursor& cursor, std::uint64_t count);

    /// The value under `key`, or null.
    const GgufValue* find(std::string_view key) const;

    /// The value under `key` if it is of kind T; else null.
    template <typename T> const T* get(std::string_view key) const {
        const GgufValue* value = find(key);
        return value ? value->as<T>() : nullptr;
    }

    /// The whole number under `key`, whatever its type, unless it is negative.
    std::optional<std::uint64_t> unsignedValue(std::string_view key) const;

    /// All pairs as text, in the order of the file.
    std::vector<std::pair<std::string, std::string>> describe() const;

private:
    std::map<std::string, GgufValue, std::less<>> m_values; // no chosen keys make it slow
    std::vector<std::string_view> m_order;                  // the map's own keys
};

} // namespace engine
