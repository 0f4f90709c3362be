// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_metadata.h"

#include "engine/base/checked_math.h"
#include "engine/loading/files/readable_text.h"

#include <array>

namespace engine {

namespace {

constexpr std::uint64_t kMaxKeys = 65'536;
constexpr std::uint64_t kMaxMetadataKeyBytes = 65'536;
constexpr std::uint64_t kMaxStringBytes = std::uint64_t(16) << 20U;
constexpr std::uint64_t kFreeBudget = std::uint64_t(32) << 20U;
/// A key's length, no characters, a type and a one-byte value.
constexpr std::uint64_t kSmallestPair = 8 + 4 + 1;

/// Smallest size in the file, by type number; 0: not allowed as an item.
constexpr std::array<std::uint64_t, 13> kItemBytes = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};

constexpr std::array<std::string_view, 13> kItemNames = {"integers",
                                                         "integers",
                                                         "integers",
                                                         "integers",
                                                         "integers",
                                                         "integers",
                                                         "numbers",
                                                         "truth values",
                                                         "strings",
                                                         "arrays",
                                                         "integers",
                                                         "integers",
                                                         "numbers"};

/// Reads values of one file and keeps account of the memory they take.
class ValueReader {
public:
    explicit ValueReader(ByteCursor& cursor)
        : m_cursor(cursor)
        , m_budget(checked::add(cursor.bytesLeft(), kFreeBudget).value_or(kFreeBudget)) {}

    Result<GgufValue> readValue(const std::string& key) {
        GgufValue value;
        ENGINE_TRY(value.type, readType(key));
        if (value.type == GgufValueType::Array)
            ENGINE_TRY_DO(readArray(value, key));
        else
            ENGINE_TRY_DO(readScalar(value, key));
        return value;
    }

    /// Takes memory from the budget. Errors: CorruptFile: more than the bytes of the file justify.
    Result<void> spend(std::uint64_t count, std::uint64_t bytesEach, const std::string& key) {
        const auto bytes = checked::mul(count, bytesEach);
        if (!bytes || *bytes > m_budget)
            return m_cursor.corrupt(
                fmt::format("{} needs more memory than the size of the file justifies", key));
        m_budget -= *bytes;
        return {};
    }

private:
    Result<GgufValueType> readType(const std::string& key) {
        ENGINE_TRY(const auto number, m_cursor.number<std::uint32_t>(key));
        if (number >= kItemBytes.size())
            return m_cursor.corrupt(fmt::format("{} has the unknown type {}", key, number));
        return static_cast<GgufValueType>(number);
    }

    Result<std::string> readString(const std::string& key) {
        ENGINE_TRY(std::string text, m_cursor.string(kMaxStringBytes, key));
        // Short strings live inside the object, long ones in an allocation with its overhead.
        if (text.size() > 15)
            ENGINE_TRY_DO(spend(text.size() + 17, 1, key));
        return text;
    }

    Result<bool> readBool(const std::string& key) {
        ENGINE_TRY(const auto byte, m_cursor.number<std::uint8_t>(key));
        if (byte > 1)
            return m_cursor.corrupt(
                fmt::format("{} is a truth value, but its byte is {}", key, byte));
        return byte == 1;
    }

    template <typename Stored, typename Kept>
    Result<void> readNumber(GgufValue& value, const std::string& key) {
        ENGINE_TRY(const auto number, m_cursor.number<Stored>(key));
        value.content = static_cast<Kept>(number);
        return {};
    }

    Result<void> readScalar(GgufValue& value, const std::string& key) {
        switch (value.type) {
        case GgufValueType::U8:
            return readNumber<std::uint8_t, std::uint64_t>(value, key);
        case GgufValueType::I8:
            return readNumber<std::int8_t, std::int64_t>(value, key);
        case GgufValueType::U16:
            return readNumber<std::uint16_t, std::uint64_t>(value, key);
        case GgufValueType::I16:
            return readNumber<std::int16_t, std::int64_t>(value, key);
        case GgufValueType::U32:
            return readNumber<std::uint32_t, std::uint64_t>(value, key);
        case GgufValueType::I32:
            return readNumber<std::int32_t, std::int64_t>(value, key);
        case GgufValueType::F32:
            return readNumber<float, double>(value, key);
        case GgufValueType::U64:
            return readNumber<std::uint64_t, std::uint64_t>(value, key);
        case GgufValueType::I64:
            return readNumber<std::int64_t, std::int64_t>(value, key);
        case GgufValueType::F64:
            return readNumber<double, double>(value, key);
        case GgufValueType::Bool: {
            ENGINE_TRY(value.content, readBool(key));
            return {};
        }
        case GgufValueType::String: {
            ENGINE_TRY(value.content, readString(key));
            return {};
        }
        case GgufValueType::Array:
            break;
        }
        return m_cursor.corrupt(fmt::format("{} is no single value", key));
    }

    template <typename Stored>
    Result<void> readIntegers(GgufValue& value, std::uint64_t count, const std::string& key) {
        ENGINE_TRY_DO(spend(count, sizeof(std::int64_t), key));
        std::vector<std::int64_t> items;
        items.reserve(static_cast<std::size_t>(count));
        for (std::uint64_t i = 0; i < count; ++i) {
            ENGINE_TRY(const auto item, m_cursor.number<Stored>(key));
            const auto kept = checked::narrow<std::int64_t>(item);
            if (!kept)
                return m_cursor.corrupt(fmt::format("item {} of {} is too large", i, key));
            items.push_back(*kept);
        }
        value.content = std::move(items);
        return {};
    }

    template <typename Stored>
    Result<void> readReals(GgufValue& value, std::uint64_t count, const std::string& key) {
        ENGINE_TRY_DO(spend(count, sizeof(float), key));
        std::vector<float> items;
        items.reserve(static_cast<std::size_t>(count));
        for (std::uint64_t i = 0; i < count; ++i) {
            ENGINE_TRY(const auto item, m_cursor.number<Stored>(key));
            items.push_back(static_cast<float>(item));
        }
        value.content = std::move(items);
        return {};
    }

    Result<void> readBools(GgufValue& value, std::uint64_t count, const std::string& key) {
        std::vector<bool> items;
        items.reserve(static_cast<std::size_t>(count));
        for (std::uint64_t i = 0; i < count; ++i) {
            ENGINE_TRY(const bool item, readBool(key));
            items.push_back(item);
        }
        value.content = std::move(items);
        return {};
    }

    Result<void> readStrings(GgufValue& value, std::uint64_t count, const std::string& key) {
        ENGINE_TRY_DO(spend(count, sizeof(std::string), key));
        std::vector<std::string> items;
        items.reserve(static_cast<std::size_t>(count));
        for (std::uint64_t i = 0; i < count; ++i) {
            ENGINE_TRY(std::string item, readString(key));
            items.push_back(std::move(item));
        }
        value.content = std::move(items);
        return {};
    }

    Result<void> readArray(GgufValue& value, const std::string& key) {
        ENGINE_TRY(value.itemType, readType(key));
        ENGINE_TRY(const auto count, m_cursor.number<std::uint64_t>(key));
        if (value.itemType == GgufValueType::Array)
            return m_cursor.corrupt(fmt::format("{} is an array of arrays", key));
        const std::uint64_t itemBytes = kItemBytes[static_cast<std::size_t>(value.itemType)];
        ENGINE_TRY_DO(m_cursor.checkFits(count, itemBytes, key));
        switch (value.itemType) {
        case GgufValueType::U8:
            return readIntegers<std::uint8_t>(value, count, key);
        case GgufValueType::I8:
            return readIntegers<std::int8_t>(value, count, key);
        case GgufValueType::U16:
            return readIntegers<std::uint16_t>(value, count, key);
        case GgufValueType::I16:
            return readIntegers<std::int16_t>(value, count, key);
        case GgufValueType::U32:
            return readIntegers<std::uint32_t>(value, count, key);
        case GgufValueType::I32:
            return readIntegers<std::int32_t>(value, count, key);
        case GgufValueType::U64:
            return readIntegers<std::uint64_t>(value, count, key);
        case GgufValueType::I64:
            return readIntegers<std::int64_t>(value, count, key);
        case GgufValueType::F32:
            return readReals<float>(value, count, key);
        case GgufValueType::F64:
            return readReals<double>(value, count, key);
        case GgufValueType::Bool:
            return readBools(value, count, key);
        default:
            return readStrings(value, count, key);
        }
    }

    ByteCursor& m_cursor;
    std::uint64_t m_budget;
};

struct Describer {
    GgufValueType itemType;

    std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }

    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }

    std::string operator()(double value) const { return fmt::format("{:.9g}", value); }

    std::string operator()(bool value) const { return value ? "true" : "false"; }

    std::string operator()(const std::string& value) const {
        return isValidUtf8(value) ? value : readable(value, value.size());
    }

    template <typename Item> std::string operator()(const std::vector<Item>& items) const {
        return fmt::format("[{} {}]", items.size(), kItemNames[static_cast<std::size_t>(itemType)]);
    }
};

} // namespace

std::string GgufValue::describe() const { return std::visit(Describer{itemType}, content); }

Result<GgufMetadata> GgufMetadata::read(ByteCursor& cursor, std::uint64_t count) {
    if (count > kMaxKeys)
        return cursor.corrupt(fmt::format(
            "the file is said to have {} metadata keys; at most {} are allowed", count, kMaxKeys));
    ENGINE_TRY_DO(cursor.checkFits(count, kSmallestPair, "the metadata"));
    GgufMetadata metadata;
    ValueReader reader(cursor);
    for (std::uint64_t i = 0; i < count; ++i) {
        ENGINE_TRY(std::string key, cursor.string(kMaxMetadataKeyBytes, "a metadata key"));
        const std::string shown = fmt::format("metadata key \"{}\"", readable(key));
        ENGINE_TRY_DO(reader.spend(key.size(), 1, shown));
        if (!isValidUtf8(key))
            return cursor.corrupt(fmt::format("{} is not UTF-8", shown));
        if (metadata.m_values.contains(key))
            return cursor.corrupt(fmt::format("{} appears twice", shown));
        ENGINE_TRY(GgufValue value, reader.readValue(shown));
        const auto place = metadata.m_values.emplace(std::move(key), std::move(value)).first;
        metadata.m_order.push_back(place->first);
    }
    return metadata;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
    const auto found = m_values.find(key);
    return found == m_values.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> GgufMetadata::unsignedValue(std::string_view key) const {
    if (const auto* value = get<std::uint64_t>(key))
        return *value;
    const auto* value = get<std::int64_t>(key);
    return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> GgufMetadata::describe() const {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string_view key : m_order)
        pairs.emplace_back(key, find(key)->describe());
    return pairs;
}

} // namespace engine
