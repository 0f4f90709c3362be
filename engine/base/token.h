// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace engine {

/// Index of a vocabulary entry.
using TokenId = std::int32_t;

/// Index of a token in the sequence of prompt and output, from 0.
using Position = std::int32_t;

/// Marks "no such token".
inline constexpr TokenId kNoToken = -1;

} // namespace engine
