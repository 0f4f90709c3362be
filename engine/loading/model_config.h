// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/json/json_document.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class RopeScalingKind { None, Linear, Llama3, LongRope };

/// How rotary frequencies are stretched for contexts beyond the training length.
struct RopeScaling {
    RopeScalingKind kind = RopeScalingKind::None;
    double factor = 1.0;
    double lowFrequencyFactor = 1.0;       ///< Llama3 only
    double highFrequencyFactor = 4.0;      ///< Llama3 only
    double originalContextLength = 8192.0; ///< Llama3 and LongRope, tokens
    /// LongRope only, one for each rotary pair: each frequency is divided by its factor, by the
    /// long one where the context is longer than the original one.
    std::vector<float> shortFactors = {};
    std::vector<float> longFactors = {};
    double attentionFactor = 1.0; ///< cosines and sines are multiplied by it
};

/// How a layer turns queries and keys by their positions: as the model's rotary numbers say, by
/// `windowRopeTheta` without scaling, or not at all.
enum class LayerRope : std::uint8_t { Model, Window, None };

/// Where the norms of a sublayer stand: in front of it, in front and behind, or behind alone.
enum class NormPlace : std::uint8_t { Before, Around, Behind };

/// Norms of queries and keys before they are turned: none, one of each head (weights [headDim]), or
/// one over all heads together (weights [heads * headDim]).
enum class HeadNorm : std::uint8_t { None, EachHead, FullWidth };

/// What is applied to the MLP's gate. GeluTanh is GELU by its formula with tanh.
enum class Activation : std::uint8_t { Silu, GeluTanh };

/// An MLP that is cut into experts, of which a router chooses some for each row: those with the
/// highest logits, each weighed by its softmax over all experts.
struct ExpertChoice {
    int count = 0;            ///< experts of a layer; 0: the model has none
    int used = 0;             ///< experts of a row
    int size = 0;             ///< width of one expert
    bool renormalises = true; ///< the weights of the chosen ones are made to sum up to 1
};

/// The description of one network, whatever file it came from: all that a backend needs to know
/// beside the weights. The tensors that it calls for are listed by network_tensors.h; what a
/// family's files leave unsaid stands in family_table.cpp. A checked value: every instance that a
/// reader returns has passed `validate()`.
struct ModelConfig {
    std::string architecture; ///< the family, as "llama"
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
    // Behind this line, what a LLaMA does without: the values below stand for its network.
    int rotatedDim = 0;           ///< the first dimensions of a head are turned; 0: all of them
    double windowRopeTheta = 0.0; ///< rotary base of LayerRope::Window
    std::vector<LayerRope> layerRopes; ///< one a layer; empty: all LayerRope::Model
    NormPlace normPlace = NormPlace::Before;
    HeadNorm headNorm = HeadNorm::None;
    Activation activation = Activation::Silu;
    double attentionScale = 0.0;   ///< of scores; 0: 1 / sqrt(headDim)
    double attentionSoftCap = 0.0; ///< scores become cap * tanh(score / cap); 0: they stay
    double embeddingScale = 1.0;   ///< of the stream that enters the first layer
    double residualScale = 1.0;    ///< of what a sublayer adds to the stream
    double logitScale = 1.0;
    double logitSoftCap = 0.0; ///< behind the scale; 0: logits stay
    ExpertChoice experts;
    std::vector<int> denseLayers; ///< ascending; layers with a whole MLP where others have experts
    /// A lesson model (see withSilentCopies): layers 2i and 2i + 1 both compute with the weights of
    /// the files' layer i, and one of the two is a near-silent copy.
    bool isPlanted = false;
    /// The network drafts for another one: its first layer reads what draftInputTensors() make of
    /// that one's last stream and the embedding of the token behind, and its head has only this
    /// many rows. 0: an ordinary network. Source: arXiv 2401.15077.
    int draftHeadSize = 0;
    TokenId bosId = kNoToken;
    std::vector<TokenId> eosIds;
    /// Stands for a token that is not known yet (arXiv 2402.11809); no decoder ever emits it.
    TokenId maskTokenId = kNoToken;
    // What a training that has made this model told of how to draft with it; 0: nothing.
    int tunedExit = 0;      ///< layers of the exit that it judged (arXiv 2404.16710)
    int tunedMasks = 0;     ///< masks of a group that it trained with (arXiv 2402.11809)
    std::string storedType; ///< e.g. "bfloat16" or "Q4_1"; for people, may be empty
    /// Notes for `inspect`, e.g. which tensors have no effect.
    std::vector<std::string> notes;

    /// Dimensions of each head that are turned.
    int rotatedWidth() const { return rotatedDim > 0 ? rotatedDim : headDim; }

    bool isDraft() const { return draftHeadSize > 0; }

    /// Rows of the head.
    int headSize() const { return isDraft() ? draftHeadSize : vocabSize; }

    LayerRope ropeOf(int layer) const {
        return layerRopes.empty() ? LayerRope::Model : layerRopes[static_cast<std::size_t>(layer)];
    }

    bool hasExperts(int layer) const {
        return experts.count > 0 &&
               !std::binary_search(denseLayers.begin(), denseLayers.end(), layer);
    }

    /// The layer of the files whose weights this layer computes with.
    int storedLayer(int layer) const { return isPlanted ? layer / 2 : layer; }

    /// Layers of the files.
    int storedLayerCount() const { return storedLayer(layerCount); }

    /// The first layer that computes with the weights of this layer of the files.
    int firstLayerWith(int storedLayer) const { return isPlanted ? 2 * storedLayer : storedLayer; }

    /// Whether the layer is a near-silent copy, which can be skipped without harm. Which one of a
    /// pair is the copy changes irregularly, because otherwise a set that skips every second layer
    /// would be the right answer; neither the first nor the last layer is one.
    bool isSilentCopy(int layer) const;

    /// All of them, ascending.
    std::vector<int> silentCopies() const;

    /// The context in tokens where none is asked for: contextLength, at most 8192, and no more than
    /// the original one where longer contexts change all rotary numbers (LongRope): short texts
    /// then get those that transformers gives them.
    int usualContext() const;

    /// What the sublayers of this layer add to the stream is multiplied by this.
    double residualScaleOf(int layer) const;

    bool hasNormsBefore() const { return normPlace != NormPlace::Behind; }

    bool hasNormsBehind() const { return normPlace != NormPlace::Before; }

    /// What scores are multiplied by.
    double scoreScale() const;

    /// Checks all numbers against each other once, before any tensor is made.
    /// Errors: CorruptFile, Unsupported; the message names the field.
    Result<void> validate() const;
};

/// The network in which each layer is followed or preceded by a near-silent copy of itself, a
/// lesson model: whatever searches for layers to skip has a known right answer there. Copies share
/// the weights of their originals, so only keys and values need more memory. Their sublayers add
/// 0.001 of what the originals add, behind all norms, so this works for every family.
/// Errors: Unsupported for a single layer, for too many, and for a model that has copies already.
Result<ModelConfig> withSilentCopies(ModelConfig config);

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

/// Leaves out begin and end tokens that the vocabulary does not have, and tells so in `notes`. No
/// answer could hold one; small models are often written with the ids of their family's large ones.
void leaveOutUnknownIds(ModelConfig& config);

/// Rotary frequencies in radians per position, [rotatedWidth() / 2], scaling and factors applied;
/// none for LayerRope::None. `contextLength` is the number of tokens that the model is run with,
/// which LongRope chooses its factors by; 0: all that it was trained for. Scaling: "linear" divides
/// by a factor, "llama3" does so by wavelength (Llama 3.1), LongRope is arXiv 2402.13753.
std::vector<double> rotaryFrequencies(const ModelConfig& config,
                                      LayerRope rope = LayerRope::Model,
                                      int contextLength = 0);

} // namespace engine
