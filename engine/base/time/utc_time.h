// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/chrono.h>

#include <cstdint>
#include <ctime>
#include <string>

namespace engine {

/// "2026-11-22T09:30:00Z" for seconds since 1970; a time that no calendar holds is the number.
inline std::string utcText(std::int64_t seconds) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    if (gmtime_r(&time, &parts) == nullptr)
        return fmt::format("{}", seconds);
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

inline std::string utcNow() { return utcText(std::time(nullptr)); }

} // namespace engine
