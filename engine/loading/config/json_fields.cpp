// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/config/json_fields.h"

#include <cmath>

namespace engine {

Error corruptConfig(const JsonValue& place, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{} (byte {})", problem, place.offset()),
            "Fetch config.json again, or check what wrote it."};
}

Result<int> JsonFields::size(std::string_view key, std::int64_t max) const {
    const JsonValue found = m_object[key];
    if (found.isNull())
        return missing(key);
    const auto number = found.asInteger();
    if (!number || *number < 1 || *number > max)
        return corruptConfig(found,
                             fmt::format("\"{}\" is no whole number from 1 to {}", key, max));
    return static_cast<int>(*number);
}

Result<int> JsonFields::sizeOr(std::string_view key, std::int64_t max, int absent) const {
    return has(key) ? size(key, max) : Result<int>(absent);
}

Result<double> JsonFields::positive(std::string_view key) const {
    if (!contains(key))
        return missing(key);
    const JsonValue found = m_object[key];
    const auto number = found.asNumber();
    if (!number || !std::isfinite(*number) || *number <= 0)
        return corruptConfig(found, fmt::format("\"{}\" is no positive number", key));
    return *number;
}

Result<double> JsonFields::positiveOr(std::string_view key, double absent) const {
    return contains(key) ? positive(key) : Result<double>(absent);
}

Result<bool> JsonFields::flagOr(std::string_view key, bool absent) const {
    const JsonValue found = m_object[key];
    if (found.isNull())
        return absent;
    const auto flag = found.asBool();
    if (!flag)
        return corruptConfig(found, fmt::format("\"{}\" is neither true nor false", key));
    return *flag;
}

Result<std::string> JsonFields::textOr(std::string_view key, std::string_view absent) const {
    const JsonValue found = m_object[key];
    if (found.isNull())
        return std::string(absent);
    const auto text = found.asString();
    if (!text)
        return corruptConfig(found, fmt::format("\"{}\" is no string", key));
    return std::string(*text);
}

Error JsonFields::missing(std::string_view key) const {
    return corruptConfig(m_object, fmt::format("the key \"{}\" is missing", key));
}

} // namespace engine
