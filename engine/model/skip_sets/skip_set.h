// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json/json_document.h"
#include "engine/model/skip_sets/layer_plan.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a plan leaves out, as people write it down. A plain value.
struct SkipSet {
    std::vector<int> attention; ///< 0-based layers, ascending, each once
    std::vector<int> mlp;       ///< 0-based layers, ascending, each once

    bool operator==(const SkipSet&) const = default;
};

/// How many sublayers two sets have in common. A plain value.
struct SkipSetComparison {
    int both = 0;
    int onlyFirst = 0;
    int onlySecond = 0;

    int hamming() const { return onlyFirst + onlySecond; }

    /// Of two empty sets: 1.
    double jaccard() const;
};

SkipSetComparison compareSkipSets(const SkipSet& first, const SkipSet& second);

/// What the plan skips; the layer after which it exits is not part of a skip set.
SkipSet skipSetOf(const LayerPlan& plan);

/// The plan that skips these and runs all layers else.
/// Errors: InvalidInput when the set names a layer that the model does not have.
Result<LayerPlan> planOf(const SkipSet& set, int layerCount);

/// Reads {"attention":[1,2],"mlp":[3]}; one list may be missing, other members are passed over.
/// `where` begins the messages (a path). Errors: CorruptFile with the byte offset.
Result<SkipSet> readSkipSet(const JsonValue& value, std::string_view where);

/// The same from a text that was typed. Errors: InvalidInput.
Result<SkipSet> typedSkipSet(std::string_view text, std::string_view where);

/// {"attention":[1,2],"mlp":[3]}, in one line.
std::string skipSetJson(const SkipSet& set);

/// Reads the published shape, {"model_task":{"attention":[...],"mlp":[...]},...}.
/// Errors: CorruptFile with the entry's name and the byte offset.
Result<std::map<std::string, SkipSet>> readSkipSetCollection(const JsonValue& collection,
                                                             std::string_view where);

/// The published shape, one entry a line.
std::string skipSetCollectionJson(const std::map<std::string, SkipSet>& sets);

/// The plan in a file of either shape. `entry` names the set of a collection; it may be left out
/// when there is only one. Errors: as readJsonFile, readSkipSet and planOf; InvalidInput, listing
/// the names, when the entry is missing or not named; all messages begin with the path.
Result<LayerPlan> readSkipSetFile(const std::filesystem::path& path,
                                  int layerCount,
                                  const std::optional<std::string>& entry = {});

} // namespace engine
