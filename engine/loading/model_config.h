// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/json_document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class RopeScalingKind { None, Linear, Llama3 };

/// How rotary frequencies are stretched for contexts beyond the training length.
struct RopeScaling {
    RopeScalingKind kind = RopeScalingKind::None;
    double factor = 1.0;
    double lowFrequencyFactor = 1.0;       ///< Llama3 only
    double highFrequencyFactor = 4.0;      ///< Llama3 only
    double originalContextLength = 8192.0; ///< Llama3 only, tokens
};

/// Sizes and switches of one network, whatever file they came from. A checked value:
/// every instance that a reader returns has passed `validate()`.
struct ModelConfig {
    std::string architecture; ///< "llama", "mistral" or "qwen2"
    int layerCount = 0;
    int hiddenSize = 0;
    int mlpSize = 0;
    int headCount = 0;
    int kvHeadCount = 0;   ///< divides headCount
    int headDim = 0;       ///< even; need not be hiddenSize / headCount
    int vocabSize = 0;     ///< rows of the embedding
    int contextLength = 0; ///< tokens the model was trained for
    double normEpsilon = 0.0;
    double ropeTheta = 10000.0;
    RopeScaling ropeScaling;
    /// Empty, or headDim / 2 numbers (GGUF rope_freqs): each rotary frequency is divided by its
    /// entry.
    std::vector<float> ropeFrequencyFactors;
    /// One entry a layer: how many keys a query sees, itself included; 0 = all of them.
    std::vector<int> layerWindows;
    bool qkvBias = false;
    bool outputBias = false; ///< o_proj
    bool mlpBias = false;
    bool tiedHead = false; ///< the output head is the embedding
    TokenId bosId = kNoToken;
    std::vector<TokenId> eosIds;
    /// Stands for a token that is not known yet (arXiv 2402.11809); no decoder ever emits it.
    TokenId maskTokenId = kNoToken;
    std::string storedType; ///< e.g. "bfloat16" or "Q4_1"; for people, may be empty
    /// Remarks for `inspect`, e.g. that a llama GGUF carries no sliding window.
    std::vector<std::string> notes;

    /// Checks all numbers against each other once, before any tensor is made.
    /// Errors: CorruptFile, Unsupported; the message names the field.
    Result<void> validate() const;
};

/// Reads config.json in either key style (transformers 4 or 5).
/// Errors: Unsupported architecture or activation by name; CorruptFile with field and byte offset.
Result<ModelConfig> readModelConfig(const JsonValue& config);

/// "architecture NAME is not supported; supported: ...".
Error unsupportedArchitecture(std::string_view name);

/// Appends an eos_token_id, one id or a list, leaving out what is already there; null and -1 mean
/// none. Errors: CorruptFile with the byte offset.
Result<void> addEosIds(const JsonValue& value, std::vector<TokenId>& eosIds);

/// Takes this id, or tells in `notes` why not: nothing is lost without it.
void adoptMaskToken(std::int64_t id, ModelConfig& config);

/// Rotary frequencies in radians per position, [headDim / 2], scaling and factors applied.
/// Source: formats.md 4.2 (llama3, linear), 4.3 (rope_freqs).
std::vector<double> rotaryFrequencies(const ModelConfig& config);

} // namespace engine
