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

} // namespace engine
