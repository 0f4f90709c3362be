// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine {

/// Converts a count or an index that is known not to be negative to the type that containers need.
constexpr std::size_t toSize(std::int64_t value) { return static_cast<std::size_t>(value); }

} // namespace engine
