// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/drafts/draft_adapter.h"
#include "engine/loading/model_config.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// What `tune` trains: a network beside the model that drafts, or the model itself, so that it
/// drafts with its first layers (arXiv 2404.16710) or with mask tokens (arXiv 2402.11809).
enum class TuningRecipe : std::uint8_t { Draft, LayerSkip, Space };

/// How many of the model's best tokens are kept for each row.
inline constexpr int kTeacherTokens = 10;

/// The depths that a draft is trained and judged for.
inline constexpr int kDepths = 4;

/// What the model said behind one row: its best tokens, best first, and their log-probabilities.
struct TeacherRow {
    std::array<TokenId, kTeacherTokens> ids;
    std::array<float, kTeacherTokens> logProbabilities;
};

/// Of places that have no token, whatever id stands there: finite, and far below what any of ten
/// best tokens has.
inline constexpr float kNoLogProbability = -60.0F;

/// What a place of a TeacherRow counts: 0 where there is no token.
inline double teacherPart(float logProbability) {
    return logProbability <= kNoLogProbability ? 0.0
                                               : std::exp(static_cast<double>(logProbability));
}

/// Rows of one text, in order: prompt and answer as the model read and wrote them. Row t has the
/// stream behind the model's last layer, before the final norm. Slot t of a draft network reads the
/// stream of row t and the token of row t + 1, and is to say what teacher[t + 1] says.
struct TrainingText {
    std::span<const float> streams;  ///< [rows, hidden]
    std::span<const TokenId> tokens; ///< [rows] read by each row
    std::span<const std::uint8_t>
        answers; ///< [rows] 1: the token of this row was written by the model
    std::span<const TeacherRow> teacher; ///< [rows]
};

/// Numbers of the model that a draft network uses or starts from, in float32. Values that are never
/// trained.
struct TrainerModel {
    int vocabSize = 0;
    double normEpsilon = 0.0;     ///< for people: a draft network has DraftSizes::normEpsilon
    double logitScale = 1.0;      ///< of logits, as ModelConfig::logitScale
    double logitSoftCap = 0.0;    ///< as ModelConfig::logitSoftCap; 0: logits stay
    std::vector<float> embedding; ///< [vocab, hidden]
    std::vector<float> head;      ///< [vocab, hidden]; empty: the embedding
    std::vector<float> finalNorm; ///< [hidden]
    /// Last layer of the model by the names of adapter files (layer.0.attn.q); empty: random start.
    std::map<std::string, std::vector<float>, std::less<>> lastLayer;
};

/// Arrays of numbers by their names.
using NamedArrays = std::map<std::string, std::vector<float>, std::less<>>;

/// What is trained, and how. A plain value.
struct TrainerPlan {
    DraftSizes sizes;
    std::vector<TokenId> headIds; ///< tokens that can be drafted, ascending
    int unroll = 3;               ///< depths of the loss, 1 to kDepths
    double depthDecay = 0.6;      ///< weight of a depth over that of the one before
    double streamLoss = 0.5;      ///< weight of the loss of streams at the start
    double averaging = 0.999;     ///< of the moving average of the weights; early steps keep less
    std::uint64_t seed = 0;
    int threads = 1;
    bool usesBfloat16 = false; ///< in matrix products of steps; evaluation is in float32
    NamedArrays start = {};    ///< all weights, by the names of adapter files; empty: the model's
};

/// How a recipe changes the model. A plain value.
struct ModelTrainerPlan {
    TuningRecipe recipe = TuningRecipe::LayerSkip;
    bool isFull = false;      ///< all weights are trained; otherwise LoRA of all linear layers
    int rank = 32;            ///< of LoRA (arXiv 2106.09685)
    double averaging = 0.999; ///< as in TrainerPlan
    std::uint64_t seed = 0;
    int threads = 1;
    // LayerSkip
    double dropout = 0.1;   ///< of the last layer; of the others less, see layerDropout()
    double exitScale = 1.0; ///< of the weights of exits, see exitWeight()
    int rotation = 8;   ///< each exit has its turn once in so many steps, or in as many as needed
    int judgedExit = 1; ///< the layers that drafts are judged with, 1 .. layers - 1
    // SPACE
    TokenId maskToken = kNoToken;
    int masks = 2;           ///< tokens that a group of masks foretells, at least 1
    int places = 8;          ///< groups of masks beside one text, at most
    double plainShare = 0.5; ///< of texts without masks
    bool isSoft = true;      ///< rows that are no masks are held to what the untouched model said,
                             ///< otherwise to the tokens of the text
};

/// Whether the plan can be carried out for this model. Errors: Unsupported for a model that
/// computes what the trainer cannot; InvalidInput for a plan that does not fit it.
Result<void> checkModelPlan(const ModelTrainerPlan& plan, const ModelConfig& config);

/// The model as it is read from its files, in float32. Its tensors are handed over with it.
struct ModelNumbers {
    ModelConfig config;
    std::map<std::string, std::vector<float>, std::less<>> tensors; ///< by their network's names
};

// What LoRA trains for the linear layer NAME ("model.layers.0.mlp.up_proj"): NAME.lora_down [rank,
// inputs] and NAME.lora_up [outputs, rank]. The layer's weights become W + scale * up * down.
inline constexpr const char* kLoraDown = ".lora_down";
inline constexpr const char* kLoraUp = ".lora_up";
inline constexpr double kLoraScale = 2.0;

/// With LoRA, the row of the embedding that the mask token has. [hidden]
inline constexpr const char* kMaskEmbedding = "mask.embedding";

/// What one step is told by the schedule.
struct StepTerms {
    double rate = 0.0;       ///< of AdamW
    double streamLoss = 0.0; ///< weight of the loss of streams
    double overlap = 0.0;    ///< weight of the loss of acceptance beside that of likelihood, 0 to 1
    std::stop_token stop = {}; ///< asked for between texts
};

struct StepLosses {
    double likelihood = 0.0;
    double stream = 0.0;
    double overlap = 0.0;
    double drafting = 0.0;     ///< of recipes that change the model: cross-entropy of exit or masks
    double gradientNorm = 0.0; ///< before clipping
};

/// Drafts of at most kDepths tokens, begun at each token of an answer, chained as in drafting. A
/// token is a hit if it is the one that stands in the text; a draft ends with the answer.
struct DraftHits {
    std::array<std::int64_t, kDepths> tried{}; ///< all earlier depths were hits
    std::array<std::int64_t, kDepths> hits{};
    /// Of a model with exits: how many of the first tokens the exit behind each layer but the last
    /// has said. [layers - 1] or empty
    std::vector<std::int64_t> exits = {};
};

/// Trains the draft network of an adapter, or a model. One thread calls it. The same plan, texts
/// and terms give the same bits on the same processor with the same number of threads.
class Trainer {
public:
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;
    Trainer(Trainer&&) = delete;
    Trainer& operator=(Trainer&&) = delete;
    virtual ~Trainer() = default;

    /// One step of the optimiser on all these texts; they are cut into parts by memory alone.
    /// Losses are means over the step's rows of each depth, weighted by depth. Texts without a
    /// token of an answer behind their second row change nothing and have no loss. Spans that do
    /// not fit together are a bug (ENGINE_CHECK). Errors: Numeric for a loss that is not finite,
    /// Cancelled for a step that was stopped: the weights are then those before it; NoMemory.
    virtual Result<StepLosses> step(std::span<const TrainingText> texts,
                                    const StepTerms& terms) = 0;

    /// With the averaged weights, which before the first step are those of the start. Errors:
    /// NoMemory.
    virtual Result<DraftHits> evaluate(const TrainingText& text) = 0;

    /// Weights, moments, average and the number of steps: all that the next step depends on.
    virtual NamedArrays state() const = 0;

    /// Errors: CorruptFile for arrays of other names or sizes, or numbers that are not finite.
    virtual Result<void> restore(const NamedArrays& state) = 0;

    /// The averaged weights in float32: by the names of adapter files; of a model by the names of
    /// its tensors ("model.norm.weight"), or those of LoRA and kMaskEmbedding.
    virtual NamedArrays result() const = 0;
};

/// Errors: InvalidInput for sizes that do not fit the model; NoMemory.
using MakeTrainer = Result<std::unique_ptr<Trainer>> (*)(const TrainerPlan& plan,
                                                         const TrainerModel& model);

/// Errors: those of checkModelPlan; NoMemory.
using MakeModelTrainer = Result<std::unique_ptr<Trainer>> (*)(const ModelTrainerPlan& plan,
                                                              ModelNumbers model);

} // namespace engine
