// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/run_plan.h"
#include "engine/experiments/run/shard_result.h"

#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace engine {

// A baseline is judged within blocks: vanilla answers the same prompt at the beginning and at the
// end of a block, and the variants answer in between. A part that asks in the order of the variants
// and then in reverse order has a block for each prompt. A part that asks each prompt once has a
// block for every kPromptsOfBlock prompts, at whose end vanilla answers the first of them again.

inline constexpr std::size_t kPromptsOfBlock = 4;

/// The share by which vanilla may move; beyond it no speedup is printed.
inline constexpr double kBaselineLimit = 0.05;

/// "vanilla", or "vanilla@MODEL".
bool isVanillaName(std::string_view name);

/// Whether the prompt at this place of its part is the last one of its block, in a part that asks
/// each prompt once.
bool endsBlock(const PlannedShard& shard, std::size_t place);

/// By prompt: vanilla's time for a token at the end of the prompt's block over that at its
/// beginning, minus 1. A prompt is missing as long as its block is not complete.
std::map<int, double> vanillaMoves(const PlannedShard& shard, std::span<const ShardAnswer> answers);

/// Whether a speedup may be printed. Without a judgement it may.
bool isSteady(std::optional<double> moved);

} // namespace engine
