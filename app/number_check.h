// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>
#include <type_traits>

namespace app {

/// Checks the text of an option that takes a number from `least` to `most`; the error names the
/// range. For whole numbers, 1.5 and 1e3 are refused, and 010 is ten.
template <typename Number> CLI::Validator numberFrom(Number least, Number most) {
    const std::string range = fmt::format(
        "a {}number from {} to {}", std::is_integral_v<Number> ? "whole " : "", least, most);
    const auto check = [least, most, range](std::string& typed) {
        Number number{};
        const char* const end = typed.data() + typed.size();
        const auto [next, failure] = std::from_chars(typed.data(), end, number);
        const bool isGood =
            failure == std::errc() && next == end && number >= least && number <= most;
        if (!isGood)
            return fmt::format("\"{}\" is not {}.", typed, range);
        if constexpr (std::is_integral_v<Number>) // the library would read 010 as eight
            typed = fmt::format("{}", number);
        return std::string();
    };
    return CLI::Validator(check, fmt::format("{} to {}", least, most));
}

/// A whole number from `least` on.
inline CLI::Validator wholeFrom(int least) {
    return numberFrom(least, std::numeric_limits<int>::max());
}

} // namespace app
