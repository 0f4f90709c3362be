// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/model/skip_sets/skip_set.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// A skip set that the authors of a method published.
struct PublishedSkipSet {
    std::string name;   ///< model and task, as "llama-2-13b_cnndm"
    std::string origin; ///< the method: "swift" or "self_sd"
    SkipSet set;
};

/// Reads resources/published_skip_sets.json: a collection of skip sets for each method.
/// Errors: NotFound, Io, CorruptFile with the byte offset.
Result<std::vector<PublishedSkipSet>> readPublishedSkipSets(const std::filesystem::path& path);

/// Whether the set was made for a model of this family and size, as its name tells. A base and a
/// chat variant have the same numbers, so both are offered. False for a name of unknown size.
bool fits(const PublishedSkipSet& published, const ModelConfig& config);

} // namespace engine
