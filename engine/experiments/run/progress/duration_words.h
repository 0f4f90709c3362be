// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace engine {

/// A time as people say it, in its two largest units: "less than a minute", "12 min",
/// "3 h 20 min", "8 days 3 h".
std::string durationWords(double seconds);

} // namespace engine
