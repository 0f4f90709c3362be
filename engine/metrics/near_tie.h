// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace engine {

/// Two logits that are closer than this may swap because of the order of summation alone.
inline constexpr double kNearTie = 1e-3;

/// `gap`: between the full model's two best logits at a position.
constexpr bool isNearTie(double gap) { return gap < kNearTie; }

} // namespace engine
