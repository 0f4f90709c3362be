// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

class JsonDocument;
struct JsonStorage;

enum class JsonType : std::uint8_t { Null, Bool, Integer, Number, String, Array, Object };

/// Bounds for JSON that nobody has reason to trust. Duplicate keys are always an error.
struct JsonLimits {
    std::uint64_t maxBytes = 100'000'000;
    int maxDepth = 64;
    std::uint64_t maxNodes = 50'000'000;
    bool allowsTwins = false; ///< a key may come twice: value[key] is the first, members() has all
};

/// One value of a JsonDocument: a cheap reference, valid as long as the document lives.
/// A default-made or missing value has type Null and answers every question with "nothing".
class JsonValue {
public:
    JsonValue() = default;

    JsonType type() const;

    bool isNull() const { return type() == JsonType::Null; }

    bool isObject() const { return type() == JsonType::Object; }

    bool isArray() const { return type() == JsonType::Array; }

    bool isString() const { return type() == JsonType::String; }

    /// Byte offset in the text just behind this value's first token; for error messages.
    std::uint64_t offset() const;

    std::optional<bool> asBool() const;
    std::optional<std::int64_t> asInteger() const; ///< integers only; 3.0 is not one
    std::optional<double> asNumber() const;        ///< integers and numbers
    std::optional<std::string_view> asString() const;

    /// Number of items or members; 0 for anything else.
    std::size_t size() const;

    /// Member by name (sorted index for large objects: no chosen keys make it slow); Null when
    /// absent or not an object.
    JsonValue operator[](std::string_view key) const;
    bool contains(std::string_view key) const;

    /// Items of an array, values of an object, in file order.
    std::vector<JsonValue> items() const;
    /// Members of an object, in file order.
    std::vector<std::pair<std::string_view, JsonValue>> members() const;

private:
    friend class JsonDocument;

    JsonValue(const JsonStorage* storage, std::uint32_t node)
        : m_storage(storage)
        , m_node(node) {}

    const JsonStorage* m_storage = nullptr;
    std::uint32_t m_node = 0;
};

/// A parsed JSON text in flat storage: about 32 bytes a value plus the characters of its strings.
/// Moving it leaves its values valid. Thread: read-only after parsing, so any.
class JsonDocument {
public:
    /// Parses by SAX with depth, size and duplicate-key checks; invalid UTF-8 is an error.
    /// `source` names the text in messages (a path). Errors: CorruptFile with the byte offset.
    static Result<JsonDocument>
    parse(std::string_view text, const std::string& source, const JsonLimits& limits = {});

    JsonDocument(JsonDocument&& other) noexcept;
    JsonDocument& operator=(JsonDocument&& other) noexcept;
    ~JsonDocument();

    JsonValue root() const;

private:
    explicit JsonDocument(std::unique_ptr<const JsonStorage> storage);

    std::unique_ptr<const JsonStorage> m_storage;
};

/// Reads a whole file and parses it. Errors: NotFound, Io, CorruptFile with path and byte offset.
Result<JsonDocument> readJsonFile(const std::string& path, const JsonLimits& limits = {});

} // namespace engine
