// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/skip_set_memory.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// A skip set of a memory, with the task that it is stored for. A plain value.
struct NamedSkipSet {
    std::string task;
    StoredSkipSet stored;

    bool operator==(const NamedSkipSet&) const = default;
};

/// The skip sets that are kept for one model. A plain value.
struct ModelSkipSets {
    std::string fingerprint;
    std::string model; ///< its name for people; empty where an older program kept the sets
    int layerCount = 0;
    std::vector<NamedSkipSet> sets = {}; ///< by task

    bool operator==(const ModelSkipSets&) const = default;
};

/// The skip sets that are kept for all models. A plain value.
struct AllSkipSets {
    static constexpr std::size_t kMostSets = 1000; ///< of a model
    static constexpr std::size_t kMostModels = 64;

    std::vector<ModelSkipSets> models; ///< those with sets, by their names
    /// Sentences: what cannot be read, and how much is left out because there is too much.
    std::vector<std::string> problems;
};

/// Reads the files of skip-sets/ in a data folder; nothing where there is none. What cannot be read
/// costs only itself. Thread: any.
AllSkipSets readAllSkipSets(const std::filesystem::path& folder);

} // namespace engine
