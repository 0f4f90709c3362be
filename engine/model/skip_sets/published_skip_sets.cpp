// SPDX-License-Identifier: Apache-2.0
#include "engine/model/skip_sets/published_skip_sets.h"

#include "engine/loading/files/readable_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace engine {

namespace {

/// Sizes of the Llama 2 and Code Llama models, from their configurations.
struct KnownModel {
    std::string_view family; ///< how a set's name begins
    std::string_view size;
    int layerCount;
    int hiddenSize;
};

constexpr std::array kKnownModels = {
    KnownModel{"llama-2", "7b", 32, 4096},
    KnownModel{"llama-2", "13b", 40, 5120},
    KnownModel{"llama-2", "70b", 80, 8192},
    KnownModel{"codellama", "7b", 32, 4096},
    KnownModel{"codellama", "13b", 40, 5120},
    KnownModel{"codellama", "34b", 48, 8192},
    KnownModel{"codellama", "70b", 80, 8192},
};

/// Whether the name is FAMILY-SIZE, alone or with more behind '-' or '_'.
bool isNamedAfter(std::string_view name, const KnownModel& model) {
    const std::string start = fmt::format("{}-{}", model.family, model.size);
    if (!name.starts_with(start))
        return false;
    return name.size() == start.size() || name[start.size()] == '-' || name[start.size()] == '_';
}

} // namespace

Result<std::vector<PublishedSkipSet>> readPublishedSkipSets(const std::filesystem::path& path) {
    constexpr JsonLimits kLimits = {.maxBytes = 1'000'000, .maxDepth = 8, .maxNodes = 200'000};
    const std::string name = path.string();
    ENGINE_TRY(const JsonDocument document, readJsonFile(name, kLimits));
    if (!document.root().isObject())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} is no object of published skip sets", name),
                     "Install the program again."};
    std::vector<PublishedSkipSet> published;
    for (const auto& [origin, sets] : document.root().members()) {
        if (!sets.isObject())
            continue; // the note that tells the sources
        ENGINE_TRY(const auto collection,
                   readSkipSetCollection(sets, fmt::format("{}, {}", name, readable(origin))));
        for (const auto& [setName, set] : collection)
            published.push_back({setName, std::string(origin), set});
    }
    return published;
}

bool fits(const PublishedSkipSet& published, const ModelConfig& config) {
    const auto known =
        std::find_if(kKnownModels.begin(), kKnownModels.end(), [&](const KnownModel& model) {
            return isNamedAfter(published.name, model);
        });
    return known != kKnownModels.end() && config.architecture == "llama" && !config.isPlanted &&
           config.layerCount == known->layerCount && config.hiddenSize == known->hiddenSize &&
           planOf(published.set, config.layerCount).hasValue();
}

} // namespace engine
