// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/config/unused_parts.h"

#include "engine/loading/config/config_parts.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <map>

namespace engine {

namespace {

constexpr std::size_t kMostTensors = 24; // of the list in a note

/// Names that differ in their numbers alone become one: "model.layers.*.mlp.up_proj.bias (4)".
std::vector<std::string> foldNumbers(std::span<const std::string> names) {
    struct Kind {
        std::string first;
        std::size_t count = 0;
    };

    std::map<std::string, Kind, std::less<>> kinds;
    std::vector<std::string> order;
    for (const std::string& name : names) {
        std::string pattern;
        for (const char c : name) {
            const bool isDigit = c >= '0' && c <= '9';
            if (!isDigit)
                pattern += c;
            else if (pattern.empty() || pattern.back() != '*')
                pattern += '*';
        }
        Kind& kind = kinds[pattern];
        if (kind.count++ == 0) {
            kind.first = name;
            order.push_back(std::move(pattern));
        }
    }
    std::vector<std::string> folded;
    for (const std::string& pattern : order) {
        const Kind& kind = kinds[pattern];
        folded.push_back(kind.count == 1 ? kind.first
                                         : fmt::format("{} ({})", pattern, kind.count));
    }
    return folded;
}

} // namespace

void noteUnusedTensors(std::span<const std::string> unused, ModelConfig& config) {
    if (!unused.empty())
        config.notes.push_back(
            fmt::format("The model's files hold tensors that have no effect: {}.",
                        listOf(foldNumbers(unused), kMostTensors)));
}

Result<void> refuseUnreadNorms(std::span<const std::string> unused, const ModelConfig& config) {
    for (const std::string_view name : unused)
        for (const std::string_view layers : {"model.layers.", "blk."})
            if (name.starts_with(layers) && name.ends_with("norm.weight") &&
                splitNumber(name.substr(layers.size()), config.storedLayerCount()).number >= 0)
                return unsupportedConfig(
                    fmt::format("the tensor {}, a norm in a place where architecture {} has none, "
                                "is not supported",
                                readable(name),
                                config.architecture));
    return {};
}

std::vector<std::string> fieldsWithoutEffect(const JsonValue& object,
                                             std::span<const std::string_view> known,
                                             std::span<const std::string_view> alsoKnown) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.members()) {
        const bool isKnown = std::find(known.begin(), known.end(), key) != known.end() ||
                             std::find(alsoKnown.begin(), alsoKnown.end(), key) != alsoKnown.end();
        if (!isKnown && !value.isNull())
            names.emplace_back(key);
    }
    return names;
}

std::string listOf(std::span<const std::string> names, std::size_t most) {
    const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) {
        const bool isLast = i > 0 && i + 1 == names.size();
        text += fmt::format("{}{}", i == 0 ? "" : (isLast ? " and " : ", "), readable(names[i]));
    }
    return shown == names.size() ? text : text + fmt::format(" and {} more", names.size() - shown);
}

} // namespace engine
