// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json/json_document.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace engine {

/// "PROBLEM (byte OFFSET)" of a place in config.json.
Error corruptConfig(const JsonValue& place, std::string_view problem);

/// Reads typed members of one object of a config.json. "...Or" gives `absent` where the member is
/// absent; null counts as absent for sizes, flags and texts, and as no number for numbers.
/// Errors: CorruptFile with the name of the member and its byte offset.
class JsonFields {
public:
    explicit JsonFields(const JsonValue& object)
        : m_object(object) {}

    JsonValue value(std::string_view key) const { return m_object[key]; }

    bool contains(std::string_view key) const { return m_object.contains(key); }

    /// It is there and not null.
    bool has(std::string_view key) const { return !m_object[key].isNull(); }

    /// A whole number from 1 to `max`.
    Result<int> size(std::string_view key, std::int64_t max) const;
    Result<int> sizeOr(std::string_view key, std::int64_t max, int absent) const;

    /// A finite number above 0.
    Result<double> positive(std::string_view key) const;
    Result<double> positiveOr(std::string_view key, double absent) const;

    Result<bool> flagOr(std::string_view key, bool absent) const;
    Result<std::string> textOr(std::string_view key, std::string_view absent) const;

private:
    Error missing(std::string_view key) const;

    JsonValue m_object;
};

} // namespace engine
