// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace app {

/// "1 trial", "2 trials": a number and what it counts, whose plural ends in s.
template <typename Number> std::string counted(Number number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

} // namespace app
