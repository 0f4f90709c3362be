// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model/model_config_text.h"

#include "engine/loading/files/byte_reader.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/network/family_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace engine {

namespace {

using ConfigJson = nlohmann::ordered_json;

constexpr std::uint64_t kMostConfigBytes = std::uint64_t{16} << 20U;

Error cannotSay(const ModelFiles& files, std::string_view what) {
    return {ErrorCode::Unsupported,
            fmt::format("{}: a model folder cannot be written for it, because {}.",
                        files.path().string(),
                        what),
            "Choose another model, or --recipe draft, which leaves the model as it is."};
}

const char* typeText(TensorType type) {
    if (type == TensorType::F32)
        return "float32";
    return type == TensorType::F16 ? "float16" : "bfloat16";
}

Result<ConfigJson> folderJson(const ModelFiles& files) {
    ENGINE_TRY(const std::string text,
               readTextFile(files.path() / "config.json", kMostConfigBytes));
    ConfigJson json = ConfigJson::parse(text, nullptr, false);
    if (!json.is_object() || json.contains("text_config"))
        return cannotSay(files, "its config.json describes more than a model of text");
    return json;
}

/// Families whose fields are written below.
Result<ConfigJson> ggufJson(const ModelFiles& files, const ModelConfig& config) {
    constexpr std::array<std::string_view, 3> kFamilies = {"llama", "qwen2", "qwen3"};
    if (std::ranges::count(kFamilies, config.architecture) == 0)
        return cannotSay(files,
                         fmt::format("of GGUF files only those of the families llama, qwen2 and "
                                     "qwen3 can be written so, and this one is of {}",
                                     config.architecture));
    if (!config.ropeFrequencyFactors.empty())
        return cannotSay(files, "it stores factors of its rotary frequencies");
    const Family& family = familyOf(config);
    ConfigJson json = {{"architectures", ConfigJson::array({family.className})},
                       {"model_type", family.modelType},
                       {"hidden_act", "silu"},
                       {"hidden_size", config.hiddenSize},
                       {"intermediate_size", config.mlpSize},
                       {"num_hidden_layers", config.layerCount},
                       {"num_attention_heads", config.headCount},
                       {"num_key_value_heads", config.kvHeadCount},
                       {"head_dim", config.headDim},
                       {"vocab_size", config.vocabSize},
                       {"max_position_embeddings", config.contextLength},
                       {"rms_norm_eps", config.normEpsilon},
                       {"rope_theta", config.ropeTheta}};
    if (family.reads("use_sliding_window"))
        json["use_sliding_window"] = false;
    if (family.bias == BiasRule::ByKeys)
        json["attention_bias"] = config.qkvBias;
    if (family.reads("mlp_bias"))
        json["mlp_bias"] = config.mlpBias;
    const RopeScaling& scaling = config.ropeScaling;
    if (scaling.kind == RopeScalingKind::Linear)
        json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", scaling.factor}};
    if (scaling.kind == RopeScalingKind::Llama3)
        json["rope_scaling"] = {{"rope_type", "llama3"},
                                {"factor", scaling.factor},
                                {"low_freq_factor", scaling.lowFrequencyFactor},
                                {"high_freq_factor", scaling.highFrequencyFactor},
                                {"original_max_position_embeddings",
                                 static_cast<std::int64_t>(scaling.originalContextLength)}};
    if (config.bosId != kNoToken)
        json["bos_token_id"] = config.bosId;
    if (!config.eosIds.empty())
        json["eos_token_id"] = config.eosIds;
    return json;
}

/// Whether both compute the same from the same tensors.
bool isSameNetwork(const ModelConfig& a, const ModelConfig& b) {
    const auto sizes = [](const ModelConfig& c) {
        return std::array{c.layerCount,
                          c.hiddenSize,
                          c.mlpSize,
                          c.headCount,
                          c.kvHeadCount,
                          c.headDim,
                          c.vocabSize,
                          c.rotatedWidth()};
    };
    const auto numbers = [](const ModelConfig& c) {
        return std::array{c.normEpsilon,
                          c.windowRopeTheta,
                          c.scoreScale(),
                          c.attentionSoftCap,
                          c.embeddingScale,
                          c.residualScale,
                          c.logitScale,
                          c.logitSoftCap};
    };
    const auto kinds = [](const ModelConfig& c) {
        return std::tuple(c.architecture,
                          c.qkvBias,
                          c.outputBias,
                          c.mlpBias,
                          c.tiedHead,
                          c.normPlace,
                          c.headNorm,
                          c.activation,
                          c.layerWindows);
    };
    if (sizes(a) != sizes(b) || numbers(a) != numbers(b) || kinds(a) != kinds(b))
        return false;
    for (int layer = 0; layer < a.layerCount; ++layer)
        if (a.ropeOf(layer) != b.ropeOf(layer) ||
            rotaryFrequencies(a, a.ropeOf(layer)) != rotaryFrequencies(b, b.ropeOf(layer)))
            return false;
    return true;
}

} // namespace

Result<std::string>
tunedConfigText(const ModelFiles& files, const ModelConfig& config, const ConfigChanges& changes) {
    if (const Family& family = familyOf(config);
        family.isFused || family.storedNormOffset != 0.0F || !family.expertBlock.empty())
        return cannotSay(files,
                         fmt::format("models of the family {} store their tensors in another way",
                                     config.architecture));
    ENGINE_TRY(ConfigJson json,
               files.format() == ModelFiles::Format::Gguf ? ggufJson(files, config)
                                                          : folderJson(files));
    json.erase("dtype");
    json["torch_dtype"] = typeText(changes.type);
    json["tie_word_embeddings"] = config.tiedHead;
    if (changes.maskToken != kNoToken)
        json["mask_token_id"] = changes.maskToken;
    std::string text = json.dump(2, ' ', false, ConfigJson::error_handler_t::replace) + "\n";
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(text, "config.json"));
    ENGINE_TRY(const ModelConfig read, readModelConfig(document.root()));
    if (!isSameNetwork(config, read))
        return cannotSay(files, "a config.json does not describe the same network");
    return text;
}

} // namespace engine
