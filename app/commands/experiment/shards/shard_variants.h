// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/shards/shard_model.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/model/skip_sets/skip_set.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// A variant of a shard, ready to answer: a decoder for each pass over the prompts, so that neither
/// pass has seen the other's prompts.
struct ShardVariant {
    std::string name;
    std::optional<int> lockedLayers = {};                        ///< see DecoderInfo::lockedCount
    std::array<std::unique_ptr<engine::Decoder>, 2> passes = {}; ///< the second may be null
    std::optional<engine::Error> failure = {};                   ///< why it was dropped

    bool isVanilla() const { return name == "vanilla"; }
};

/// How the variants of a shard are made.
struct VariantRequest {
    const engine::RunFolder& folder;
    const engine::PlannedShard& shard;
    const ShardModel& model;
    engine::DecoderRegistry& registry;
    engine::SamplingOptions sampling;
    int contextLength = 0;
    bool isTwice = true;
    /// By variant: the set that it used when the stream was stopped; it begins with it.
    std::map<std::string, engine::SkipSet> learnt = {};
};

/// Those that answer; searches are left out. A variant with the setting "search_seed" gets the
/// shard's seed, unless the recipe sets it. One that cannot be made, because the model or the set
/// that it needs is not there, has a failure and no decoder. Errors: those of vanilla; Io,
/// CorruptFile, NoMemory.
engine::Result<std::vector<ShardVariant>> makeVariants(const VariantRequest& request);

/// The decoder of a variant as it begins, of one that drafts with no found set. Errors: those of
/// parseSettings and DecoderRegistry::make.
engine::Result<std::unique_ptr<engine::Decoder>> makeUnbegun(engine::DecoderRegistry& registry,
                                                             const engine::RunVariant& variant,
                                                             engine::DecoderContext context);

/// Whether every decoder and setting of a recipe's variants exists. Errors: those of
/// DecoderRegistry::info and parseSettings, with the variant's name.
engine::Result<void> checkVariants(engine::DecoderRegistry& registry,
                                   const std::vector<engine::RunVariant>& variants);

} // namespace app
