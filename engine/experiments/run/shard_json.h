// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/run/shard_result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace engine {

/// One record of a shard at work.
using ShardRecord = std::
    variant<ShardAnswer, ShardDraw, ShardTrial, ShardPlan, ShardRound, ShardLeftOut, ShardResumed>;

/// {"answer":{...}}, {"draw":{...}}, {"trial":{...}}, {"plan":{...}}, {"round":{...}},
/// {"left_out":{...}} or {"resumed":{...}}, in one line without its end.
std::string recordJson(const ShardRecord& record);

/// `prompts`: how many the run has. Errors: CorruptFile naming the member, and for a record of a
/// prompt that the run has not. `where` begins the message.
Result<ShardRecord>
readRecord(std::string_view line, const std::string& where, std::size_t prompts);

/// Adds a record to its list.
void addRecord(ShardResult& result, ShardRecord record);

/// A finished shard as one JSON object, and back: every number comes back bit for bit. `prompts`
/// and errors: as readRecord().
std::string shardJson(const ShardResult& result);
Result<ShardResult> readShard(std::string_view text, const std::string& where, std::size_t prompts);

} // namespace engine
