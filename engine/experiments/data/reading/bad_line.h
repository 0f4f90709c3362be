// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string_view>

namespace engine {

/// The error of a line without a usable prompt: "line 3: PROBLEM".
inline Error badLineError(std::int64_t line, std::string_view problem) {
    return {ErrorCode::CorruptFile, fmt::format("line {}: {}", line, problem), ""};
}

/// Whether a text has nothing but white space of ASCII.
inline bool isBlankText(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

/// A text without the white space of ASCII around it.
inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kWhite = " \t\r\n\f\v";
    if (isBlankText(text))
        return {};
    const std::size_t begin = text.find_first_not_of(kWhite);
    return text.substr(begin, text.find_last_not_of(kWhite) + 1 - begin);
}

} // namespace engine
