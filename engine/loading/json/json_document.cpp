// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/json/json_document.h"

#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <deque>
#include <iterator>
#include <limits>
#include <utility>

namespace engine {

namespace {

/// Objects with more members than this get a sorted index; smaller ones are searched in order.
constexpr std::uint32_t kLargestPlainObject = 8;

} // namespace

/// One value; no part of the interface.
struct JsonNode {
    /// Bool, integer or number bits; first character of a string; first index entry of an object.
    std::uint64_t payload = 0;
    std::uint32_t keyStart = 0;
    std::uint32_t keyLength = 0;
    std::uint32_t count = 0; ///< characters of a string, items of an array, members of an object
    std::uint32_t next = 0;  ///< the node behind this one and all that is in it
    std::uint32_t offset = 0;
    JsonType type = JsonType::Null;
};

/// Nodes in the order of the text: the first child of a container is the node behind it.
struct JsonStorage {
    std::deque<JsonNode> nodes; // grows without ever holding two copies
    std::string characters;     // of all strings and keys
    std::vector<std::uint32_t> sortedMembers;

    std::string_view key(std::uint32_t node) const {
        return std::string_view(characters).substr(nodes[node].keyStart, nodes[node].keyLength);
    }
};

namespace {

/// Reads characters and tells how far reading has come.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, const char** reached)
        : m_at(at)
        , m_reached(reached) {}

    reference operator*() const { return *m_at; }

    CountingIterator& operator++() {
        *m_reached = ++m_at;
        return *this;
    }

    bool operator==(const CountingIterator& other) const { return m_at == other.m_at; }

private:
    const char* m_at;
    const char** m_reached;
};

/// As corruptAt, of a text that may come from a file or have been typed.
Error textError(const std::string& source, std::uint64_t offset, std::string_view problem) {
    Error error = corruptAt(source, offset, problem);
    error.hint = "Mend the JSON at this byte; if it came with a model, fetch its file again.";
    return error;
}

/// The parser's reason without its own names for things: of "[json.exception...] parse error at
/// line 1, column 5: syntax error while parsing value - invalid literal; last read: '[nul]'" it is
/// "invalid literal".
std::string reasonOf(const nlohmann::json::exception& exception, const std::string& lastToken) {
    constexpr int kNumberOverflow = 406;
    if (exception.id == kNumberOverflow)
        return fmt::format("the number {} is too large", readable(lastToken, 40));
    std::string_view reason = exception.what();
    const std::size_t dash = reason.find(" - ");
    if (dash == std::string_view::npos)
        return "it cannot be read on from here";
    reason.remove_prefix(dash + 3);
    return readable(reason.substr(0, reason.find("; last read")), 200);
}

/// Receives the parser's events and fills the storage; `false` stops the parser.
class StorageBuilder final : public nlohmann::json_sax<nlohmann::json> {
public:
    StorageBuilder(std::string_view text, const std::string& source, const JsonLimits& limits)
        : m_text(text)
        , m_source(source)
        , m_limits(limits)
        , m_reached(text.data()) {
        // Unescaped characters never outnumber the escaped ones, so views into this stay valid.
        m_storage->characters.reserve(text.size());
    }

    bool parse() {
        const char* end = m_text.data() + m_text.size();
        return nlohmann::json::sax_parse(
            CountingIterator(m_text.data(), &m_reached), CountingIterator(end, &m_reached), this);
    }

    Error takeError() { return std::move(m_error); }

    std::unique_ptr<const JsonStorage> takeStorage() { return std::move(m_storage); }

    bool null() override { return addNode(JsonType::Null, 0); }

    bool boolean(bool value) override { return addNode(JsonType::Bool, value ? 1 : 0); }

    bool number_integer(number_integer_t value) override {
        return addNode(JsonType::Integer, std::bit_cast<std::uint64_t>(value));
    }

    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            return number_float(static_cast<double>(value), {});
        return addNode(JsonType::Integer, value);
    }

    bool number_float(number_float_t value, const string_t&) override {
        return addNode(JsonType::Number, std::bit_cast<std::uint64_t>(value));
    }

    bool string(string_t& value) override {
        if (!addNode(JsonType::String, m_storage->characters.size()))
            return false;
        m_storage->nodes.back().count = static_cast<std::uint32_t>(value.size());
        m_storage->characters += value;
        return true;
    }

    bool binary(binary_t&) override { return fail("binary data is not JSON"); }

    bool start_object(std::size_t) override { return openContainer(JsonType::Object); }

    bool start_array(std::size_t) override { return openContainer(JsonType::Array); }

    bool key(string_t& value) override {
        m_keyStart = static_cast<std::uint32_t>(m_storage->characters.size());
        m_keyLength = static_cast<std::uint32_t>(value.size());
        m_storage->characters += value;
        return true;
    }

    bool end_array() override {
        closeContainer();
        return true;
    }

    bool end_object() override {
        const std::uint32_t object = m_open.back();
        closeContainer();
        return indexMembers(object);
    }

    bool parse_error(std::size_t position,
                     const std::string& lastToken,
                     const nlohmann::json::exception& exception) override {
        m_error =
            textError(m_source, position, "not valid JSON: " + reasonOf(exception, lastToken));
        return false;
    }

private:
    bool fail(std::string_view problem) { return failAt(reachedOffset(), problem); }

    bool failAt(std::uint32_t offset, std::string_view problem) {
        m_error = textError(m_source, offset, problem);
        return false;
    }

    std::uint32_t reachedOffset() const {
        return static_cast<std::uint32_t>(m_reached - m_text.data());
    }

    /// The parser reads one character behind a number to see its end.
    std::uint32_t offsetBehind(JsonType type) const {
        const std::uint32_t reached = reachedOffset();
        const bool isNumber = type == JsonType::Integer || type == JsonType::Number;
        return isNumber && (m_text[reached - 1] < '0' || m_text[reached - 1] > '9') ? reached - 1
                                                                                    : reached;
    }

    bool addNode(JsonType type, std::uint64_t payload) {
        if (m_storage->nodes.size() >= m_limits.maxNodes)
            return failAt(offsetBehind(type),
                          fmt::format("more than {} values", m_limits.maxNodes));
        JsonNode node;
        node.payload = payload;
        node.type = type;
        node.offset = offsetBehind(type);
        node.keyStart = std::exchange(m_keyStart, 0);
        node.keyLength = std::exchange(m_keyLength, 0);
        node.next = static_cast<std::uint32_t>(m_storage->nodes.size() + 1);
        if (!m_open.empty())
            ++m_storage->nodes[m_open.back()].count;
        m_storage->nodes.push_back(node);
        return true;
    }

    bool openContainer(JsonType type) {
        if (m_open.size() >= static_cast<std::size_t>(m_limits.maxDepth))
            return fail(fmt::format("nested deeper than {} levels", m_limits.maxDepth));
        if (!addNode(type, 0))
            return false;
        m_open.push_back(static_cast<std::uint32_t>(m_storage->nodes.size() - 1));
        return true;
    }

    void closeContainer() {
        m_storage->nodes[m_open.back()].next = static_cast<std::uint32_t>(m_storage->nodes.size());
        m_open.pop_back();
    }

    /// Sorts the members by name, which also brings duplicates side by side.
    bool indexMembers(std::uint32_t object) {
        JsonStorage& storage = *m_storage;
        const std::size_t start = storage.sortedMembers.size();
        for (std::uint32_t i = object + 1; i < storage.nodes[object].next;
             i = storage.nodes[i].next)
            storage.sortedMembers.push_back(i);
        const auto first = storage.sortedMembers.begin() + static_cast<std::ptrdiff_t>(start);
        std::sort(first, storage.sortedMembers.end(), [&](std::uint32_t a, std::uint32_t b) {
            const int order = storage.key(a).compare(storage.key(b));
            return order != 0 ? order < 0 : a < b;
        });
        const auto twice = std::adjacent_find(
            first, storage.sortedMembers.end(), [&](std::uint32_t a, std::uint32_t b) {
                return storage.key(a) == storage.key(b);
            });
        if (twice != storage.sortedMembers.end() && !m_limits.allowsTwins)
            return failAt(storage.nodes[*(twice + 1)].offset,
                          fmt::format("the key \"{}\" appears twice in one object",
                                      readable(storage.key(*twice))));
        if (storage.nodes[object].count <= kLargestPlainObject)
            storage.sortedMembers.resize(start);
        storage.nodes[object].payload = start;
        return true;
    }

    std::string_view m_text;
    const std::string& m_source;
    const JsonLimits& m_limits;
    const char* m_reached;
    std::unique_ptr<JsonStorage> m_storage = std::make_unique<JsonStorage>();
    std::vector<std::uint32_t> m_open;
    std::uint32_t m_keyStart = 0;
    std::uint32_t m_keyLength = 0;
    Error m_error;
};

} // namespace

JsonDocument::JsonDocument(std::unique_ptr<const JsonStorage> storage)
    : m_storage(std::move(storage)) {}

JsonDocument::JsonDocument(JsonDocument&& other) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&& other) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument>
JsonDocument::parse(std::string_view text, const std::string& source, const JsonLimits& limits) {
    // Offsets are kept in 32 bits.
    const std::uint64_t maxBytes =
        std::min<std::uint64_t>(limits.maxBytes, std::numeric_limits<std::uint32_t>::max() - 1U);
    if (text.size() > maxBytes)
        return Error{
            ErrorCode::CorruptFile,
            fmt::format("{}: {} bytes of JSON; at most {} are read", source, text.size(), maxBytes),
            "Check that this is the file you meant."};
    // The library takes a NUL for the end of the text; what hides behind it would go unread.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        return textError(source, nul, "not valid JSON: a NUL character");
    StorageBuilder builder(text, source, limits);
    if (!builder.parse())
        return builder.takeError();
    return JsonDocument(builder.takeStorage());
}

JsonValue JsonDocument::root() const { return {m_storage.get(), 0}; }

JsonType JsonValue::type() const {
    return m_storage ? m_storage->nodes[m_node].type : JsonType::Null;
}

std::uint64_t JsonValue::offset() const { return m_storage ? m_storage->nodes[m_node].offset : 0; }

std::optional<bool> JsonValue::asBool() const {
    if (type() != JsonType::Bool)
        return std::nullopt;
    return m_storage->nodes[m_node].payload != 0;
}

std::optional<std::int64_t> JsonValue::asInteger() const {
    if (type() != JsonType::Integer)
        return std::nullopt;
    return std::bit_cast<std::int64_t>(m_storage->nodes[m_node].payload);
}

std::optional<double> JsonValue::asNumber() const {
    if (type() == JsonType::Integer)
        return static_cast<double>(*asInteger());
    if (type() != JsonType::Number)
        return std::nullopt;
    return std::bit_cast<double>(m_storage->nodes[m_node].payload);
}

std::optional<std::string_view> JsonValue::asString() const {
    if (type() != JsonType::String)
        return std::nullopt;
    const JsonNode& node = m_storage->nodes[m_node];
    return std::string_view(m_storage->characters).substr(node.payload, node.count);
}

std::size_t JsonValue::size() const {
    return isArray() || isObject() ? m_storage->nodes[m_node].count : 0;
}

JsonValue JsonValue::operator[](std::string_view key) const {
    if (!isObject())
        return {};
    const JsonNode& object = m_storage->nodes[m_node];
    if (object.count <= kLargestPlainObject) {
        for (std::uint32_t i = m_node + 1; i < object.next; i = m_storage->nodes[i].next) {
            if (m_storage->key(i) == key)
                return {m_storage, i};
        }
        return {};
    }
    const auto first =
        m_storage->sortedMembers.begin() + static_cast<std::ptrdiff_t>(object.payload);
    const auto last = first + object.count;
    const auto found =
        std::lower_bound(first, last, key, [&](std::uint32_t member, std::string_view wanted) {
            return m_storage->key(member) < wanted;
        });
    if (found == last || m_storage->key(*found) != key)
        return {};
    return {m_storage, *found};
}

bool JsonValue::contains(std::string_view key) const { return (*this)[key].m_storage != nullptr; }

std::vector<JsonValue> JsonValue::items() const {
    std::vector<JsonValue> found;
    if (size() == 0)
        return found;
    found.reserve(size());
    const std::uint32_t end = m_storage->nodes[m_node].next;
    for (std::uint32_t i = m_node + 1; i < end; i = m_storage->nodes[i].next)
        found.push_back({m_storage, i});
    return found;
}

std::vector<std::pair<std::string_view, JsonValue>> JsonValue::members() const {
    std::vector<std::pair<std::string_view, JsonValue>> found;
    if (!isObject())
        return found;
    found.reserve(size());
    for (const JsonValue& value : items())
        found.emplace_back(m_storage->key(value.m_node), value);
    return found;
}

Result<JsonDocument> readJsonFile(const std::string& path, const JsonLimits& limits) {
    ENGINE_TRY(const std::string text, readTextFile(path, limits.maxBytes));
    return JsonDocument::parse(text, path, limits);
}

} // namespace engine
