// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace engine {

/// Conversations from this number on are asides: answers that are compared, and then forgotten or
/// kept by hand. An aside leaves nothing behind: its decoder finds what earlier answers have stored
/// (skip sets, successors), but stores nothing itself; it does not go on working in the pause
/// behind an answer; and no step of it is made as a baseline, so that its time is that of its
/// decoder alone.
inline constexpr std::uint64_t kFirstAside = std::uint64_t{1} << 32U;

constexpr bool isAside(std::uint64_t conversation) { return conversation >= kFirstAside; }

} // namespace engine
