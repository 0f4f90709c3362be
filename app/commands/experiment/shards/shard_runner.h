// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executor.h"
#include "app/commands/experiment/shards/shard_model.h"
#include "engine/decoding/decoder_registry.h"

#include <functional>
#include <memory>
#include <stop_token>

namespace app {

/// What running a shard needs besides its folder.
struct ShardWork {
    const ShardModel& model;
    engine::DecoderRegistry& registry;
    RunPause& pause;
    std::stop_token stop;
    std::function<void(const engine::ShardRecord&)> onRecord = {}; ///< see ShardHooks
    std::function<void(const std::string&)> onNote = {};
    std::function<std::shared_ptr<void>()> takeTurn = {}; ///< see AnswerRequest
};

/// Runs one shard from its beginning to its file; a stream goes on behind the prompts that are
/// done. Vanilla and the variants answer each prompt in the order of the plan, then in reverse
/// order, if the stage says so. A variant that fails is dropped and named in the result; prompts
/// that do not fit into the context are left out and named, as is a line of a stream's part file
/// that cannot be read. The caller has claimed the shard.
/// Errors: those of the model and of vanilla; Io; Cancelled, and what a stream has finished is
/// kept.
engine::Result<void> runShard(const engine::RunFolder& folder, int shard, const ShardWork& work);

} // namespace app
