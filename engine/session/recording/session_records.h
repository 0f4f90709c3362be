// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/model/skip_sets/skip_set.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace engine {

/// The facts about a loaded model for views. A plain value.
struct ModelFacts {
    std::string name;         ///< the file's or folder's, without the kind of its weights
    std::string architecture; ///< "llama", ...
    int layerCount = 0;
    /// Of a lesson model: its layers that are near-silent copies, ascending. Else none.
    std::vector<int> silentCopies;
    int hiddenSize = 0;
    int mlpSize = 0;
    int headCount = 0;
    int kvHeadCount = 0;
    int headDim = 0; ///< 0 in older recordings
    int vocabSize = 0;
    int modelContextLength = 0; ///< tokens the model was trained for
    int contextLength = 0;      ///< tokens that fit here, prompt and answer together
    std::string backend;
    std::string precision;      ///< how weights are held and computed with: "4-bit", "float32"
    std::string arithmetic;     ///< the same in full: "4-bit, scale and minimum per 32"
    std::string instructionSet; ///< of the kernels, "avx512"; empty if there is no choice
    std::string device;         ///< "NVIDIA H200"; empty for the processor
    std::string kvType;         ///< of the numbers in the cache, "float16"
    std::string weightTypes;    ///< of the file's tensors, with counts: "Q4_1 210, F32 61, Q8_0 1"
    std::uint64_t parameterCount = 0;
    std::uint64_t fileBytes = 0;   ///< of the tensors in the file
    std::uint64_t weightBytes = 0; ///< in memory
    std::string tokenizer;         ///< described for people; empty = none
    std::string chatTemplate;      ///< where it came from; empty = none
    std::string licence;           ///< as named in the files; empty = not named
    // See ModelConfig; 0 in older recordings.
    int tunedExit = 0;
    int tunedMasks = 0;
};

/// Facts from the files only.
struct FileFacts {
    std::string name;        ///< see ModelFacts
    std::string weightTypes; ///< see ModelFacts
    std::string licence;     ///< see ModelFacts
    std::uint64_t parameterCount = 0;
    std::uint64_t fileBytes = 0;
};

/// The memory that a model needs, in bytes: see MemoryNeed. A plain value.
struct MemoryFacts {
    std::uint64_t weightBytes = 0;
    std::uint64_t cacheBytes = 0;   ///< of the whole context
    std::uint64_t scratchBytes = 0; ///< for draft trees and the search, beyond the context
    std::uint64_t passBytes = 0;    ///< of the largest pass
    std::uint64_t totalBytes = 0;   ///< of the four above
    std::uint64_t freeBytes = 0;    ///< memory available now, on GPUs all there is; 0 = not known
    bool isOfDevice = false;        ///< it is that of GPUs
    std::uint64_t copyBytes = 0;    ///< beside these, see LoadForecast
};

/// A plan in readable form. A plain value.
struct PlanOutline {
    int layerCount = 0;
    SkipSet skipped;
    int exitAfterLayer = -1; ///< 0-based; -1 or the last one: there is no exit

    bool operator==(const PlanOutline&) const = default;
};

inline PlanOutline outlineOf(const LayerPlan& plan) {
    return {plan.layerCount(), skipSetOf(plan), plan.exitAfterLayer};
}

/// Everything that a pass leaves out: the skipped sublayers, and the layers after the exit.
SkipSet leftOutBy(const PlanOutline& outline);

/// The reason why the totals of steps start again.
enum class SpanCause : std::uint8_t { Model, Decoder, Settings, Sampling, Chat };

/// Largest length of a question in an event.
inline constexpr std::size_t kQuestionBytes = std::size_t{1} << 16U;

/// A token in a table: its text as readableToken() writes it. A plain value.
struct ShownToken {
    TokenId id = kNoToken; ///< kNoToken: the cell is empty
    std::string text;

    bool operator==(const ShownToken&) const = default;
};

/// A number that is not finite means unknown.
using ShownCell = std::variant<ShownToken, double, std::string>;

/// A StepTable in readable form. A plain value.
struct ShownTable {
    std::string name;
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<ShownCell>> rows; ///< each [at most columns]
    int chosenRow = -1;                       ///< the one that was used; -1 = none
};

/// A TokenChance in readable form. A plain value.
struct TokenChoice {
    TokenId id = kNoToken;
    std::string text;         ///< as readableToken() writes it
    double probability = 0.0; ///< the full model's, temperature 1

    bool operator==(const TokenChoice&) const = default;
};

/// A KnownTask without what its prompts look like. A plain value.
struct TaskSummary {
    std::string name;
    std::int64_t prompts = 0; ///< all that were learnt
    std::int64_t metAt = 0;   ///< Unix seconds, when the last one was

    bool operator==(const TaskSummary&) const = default;
};

/// A token of an answer.
struct EmittedToken {
    TokenId id = kNoToken;
    std::string text; ///< text that it made certain; may be empty, or complete an earlier token's
                      ///< character
    TokenFact fact;
    /// The tokens that the full model found most probable here, best first; empty in older
    /// recordings.
    std::vector<TokenChoice> choices = {};
};

} // namespace engine
