// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/config/tuned_copy.h"

#include "engine/loading/json/json_document.h"

#include <system_error>

namespace engine {

namespace {

constexpr std::uint64_t kMostConfigBytes = 16'000'000;
constexpr int kMostMasks = 64;

/// The number of this name, from 1 to `most`; 0 for one that cannot be used, which is noted.
int numberOf(const JsonValue& recipe, const char* name, int most, ModelConfig& config) {
    const JsonValue value = recipe[name];
    const auto number = value.asInteger();
    if (number && *number >= 1 && *number <= most)
        return static_cast<int>(*number);
    if (!value.isNull())
        config.notes.push_back(fmt::format(
            "\"{}\" of {} is not a number from 1 to {} and is not used", name, kTuningFile, most));
    return 0;
}

} // namespace

void adoptTuning(const std::filesystem::path& folder, ModelConfig& config) {
    const std::filesystem::path path = folder / kTuningFile;
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure))
        return;
    const auto document = readJsonFile(path.string(), {.maxBytes = kMostConfigBytes});
    if (!document) {
        config.notes.push_back(fmt::format("{}: {} The decoders draft as with other models.",
                                           kTuningFile,
                                           document.error().message));
        return;
    }
    const JsonValue root = document.value().root();
    if (!root.contains(kTuningMark))
        return;
    const JsonValue recipe = root["recipe"];
    if (recipe["name"].asString() == "layerskip")
        config.tunedExit = numberOf(recipe, "exit", config.layerCount - 1, config);
    else if (recipe["name"].asString() == "space")
        config.tunedMasks = numberOf(recipe, "masks", kMostMasks, config);
}

} // namespace engine
