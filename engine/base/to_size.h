// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine {

/// A count or an index that is known not to be negative, as containers want it.
constexpr std::size_t toSize(std::int64_t value) { return static_cast<std::size_t>(value); }

} // namespace engine
