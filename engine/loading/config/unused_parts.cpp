// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/config/unused_parts.h"

#include "engine/loading/readable_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace engine {

namespace {

constexpr std::size_t kMostTensors = 24; // of the list in a remark

/// "7.mlp.up_proj.weight" -> "mlp.up_proj.weight" if the network has a layer 7; else nothing.
std::string_view behindLayer(std::string_view name, int layerCount) {
    const std::size_t numberEnd = name.find('.');
    if (numberEnd == std::string_view::npos || numberEnd == 0 || (name[0] == '0' && numberEnd > 1))
        return {};
    int layer = -1;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + numberEnd, layer);
    const bool isLayer = failure == std::errc() && end == name.data() + numberEnd && layer >= 0 &&
                         layer < layerCount;
    return isLayer ? name.substr(numberEnd + 1) : std::string_view();
}

/// Of a part of a layer, such as "self_attn.q_proj": whether the network has a bias there.
bool hasBias(const ModelConfig& config, std::string_view linear) {
    if (linear == "self_attn.o_proj")
        return config.outputBias;
    return linear.starts_with("mlp.") ? config.mlpBias : config.qkvBias;
}

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

bool computesWith(const ModelConfig& config, std::string_view tensor) {
    constexpr std::string_view kLayers = "model.layers.";
    if (tensor == "model.embed_tokens.weight" || tensor == "model.norm.weight")
        return true;
    if (tensor == "lm_head.weight")
        return !config.tiedHead;
    if (!tensor.starts_with(kLayers))
        return false;
    const std::string_view part = behindLayer(tensor.substr(kLayers.size()), config.layerCount);
    if (part == "input_layernorm.weight" || part == "post_attention_layernorm.weight")
        return true;
    static constexpr auto kLinears = std::to_array<std::string_view>({"self_attn.q_proj",
                                                                      "self_attn.k_proj",
                                                                      "self_attn.v_proj",
                                                                      "self_attn.o_proj",
                                                                      "mlp.gate_proj",
                                                                      "mlp.up_proj",
                                                                      "mlp.down_proj"});
    return std::any_of(kLinears.begin(), kLinears.end(), [&](std::string_view linear) {
        if (!part.starts_with(linear))
            return false;
        const std::string_view kind = part.substr(linear.size());
        return kind == ".weight" || (kind == ".bias" && hasBias(config, linear));
    });
}

void noteUnusedTensors(std::span<const std::string> unused, ModelConfig& config) {
    if (!unused.empty())
        config.notes.push_back(
            fmt::format("The model's files hold tensors that have no effect: {}.",
                        listOf(foldNumbers(unused), kMostTensors)));
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
