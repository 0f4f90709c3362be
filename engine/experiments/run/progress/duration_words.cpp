// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/progress/duration_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace engine {

std::string durationWords(double seconds) {
    constexpr double kSecondsOfMinute = 60.0;
    constexpr double kRoundedUp = 45.0;
    constexpr long kMinutesOfHour = 60;
    constexpr long kMinutesOfDay = 24 * kMinutesOfHour;
    constexpr long kDaysReported = 2; ///< below so many, hours say more
    const auto two = [](long first, const char* unit, long second, const char* smaller) {
        return second == 0 ? fmt::format("{} {}", first, unit)
                           : fmt::format("{} {} {} {}", first, unit, second, smaller);
    };
    if (seconds < kRoundedUp)
        return "less than a minute";
    const long minutes = std::max(1L, std::lround(seconds / kSecondsOfMinute));
    if (minutes < kMinutesOfHour)
        return fmt::format("{} min", minutes);
    if (minutes < kDaysReported * kMinutesOfDay)
        return two(minutes / kMinutesOfHour, "h", minutes % kMinutesOfHour, "min");
    const long hours = (minutes + kMinutesOfHour / 2) / kMinutesOfHour;
    return two(hours / 24, "days", hours % 24, "h");
}

} // namespace engine
