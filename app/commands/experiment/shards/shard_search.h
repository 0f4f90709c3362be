// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/shards/shard_log.h"
#include "app/commands/experiment/shards/shard_runner.h"

namespace app {

/// Searches for a skip set on the prompts of a shard; the log gets every trial, and the set at the
/// end. Errors: those of the search; Cancelled.
engine::Result<void> runSearch(const engine::RunFolder& folder,
                               const engine::PlannedShard& shard,
                               const engine::RunVariant& variant,
                               const AnswerRequest& request,
                               ShardLog& log,
                               const ShardWork& work);

} // namespace app
