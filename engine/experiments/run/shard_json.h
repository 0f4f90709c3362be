// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/run/shard_result.h"

#include <string>
#include <string_view>
#include <variant>

namespace engine {

/// One record of a shard at work.
using ShardRecord =
    std::variant<ShardAnswer, ShardTrial, ShardPlan, ShardRound, ShardLeftOut, ShardResumed>;

/// {"answer":{...}}, {"trial":{...}}, {"plan":{...}}, {"round":{...}}, {"left_out":{...}} or
/// {"resumed":{...}}, in one line without its end.
std::string recordJson(const ShardRecord& record);

/// Errors: CorruptFile naming the member. `where` begins the message.
Result<ShardRecord> readRecord(std::string_view line, const std::string& where);

/// Adds a record to its list.
void addRecord(ShardResult& result, ShardRecord record);

/// A finished shard as one JSON object, and back: every number comes back bit for bit. Errors:
/// CorruptFile naming the member.
std::string shardJson(const ShardResult& result);
Result<ShardResult> readShard(std::string_view text, const std::string& where);

} // namespace engine
