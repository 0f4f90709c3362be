// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/measure/roof_sampler.h"
#include "engine/base/token.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// Other programs that may be given the same file.
struct RivalName {
    const char* name; ///< for people
    const char* key;  ///< in fields of JSON
};

inline constexpr std::array<RivalName, 2> kRivals = {
    {{"llama.cpp", "llama_cpp"}, {"ik_llama.cpp", "ik_llama_cpp"}}};

/// One value for each of them, in that order.
template <typename Value> using ForRivals = std::array<Value, kRivals.size()>;

/// What was measured, and on which machine and model. A plain value.
struct BenchFacts {
    std::string cpu; ///< the processor's own name
    std::string isa; ///< instruction set of the backend's kernels
    std::string backend;
    std::string precision; ///< how weights are held and computed with, in full
    std::string kvType;    ///< of keys and values
    std::string model;
    int threads = 0;
    int memoryNodes = 1;         ///< see Transformer::memoryNodes
    std::size_t weightBytes = 0; ///< as the backend holds them
    double bytesPerStep = 0.0;   ///< of them, read for one token
    std::size_t roofBytes = 0;
    std::map<std::string, double> deviceUs = {}; ///< see ReadRoof::timesUs
    int cachedTokens = 0;
    int prefillTokens = 0;
    int promptTokens = 0; ///< of prompts that are decoded; 0 = as they are
    int maxTokens = 0;
    std::string decoder;                  ///< compared with vanilla; empty = none
    ForRivals<std::string> rivalVersions; ///< empty = not compared
    std::vector<std::string> notes;
};

/// A pass and the full one-row pass timed right before or after it.
struct PassPair {
    TimedSample own;
    TimedSample oneRow;
};

struct SkipSetSamples {
    std::string name;
    double byteShare = 0.0;     ///< c_w: weights read under the plan over all
    double sublayerShare = 0.0; ///< sublayers that run over all
    std::vector<PassPair> pairs;
};

/// One answer.
struct DecodeSample {
    std::vector<engine::TokenId> tokens;
    TimedSample time; ///< after the prompt

    double msPerToken() const { return time.ms / static_cast<double>(tokens.size()); }

    double tokensPerSecond() const { return 1e3 / msPerToken(); }
};

/// The same prompt, answered by all within a few seconds.
struct DecodePair {
    std::string task;
    DecodeSample vanilla;
    std::optional<DecodeSample> drafted;
    ForRivals<std::optional<DecodeSample>> rivals;
};

/// All samples. A plain value.
struct BenchResults {
    BenchFacts facts;
    std::map<int, std::vector<PassPair>> byRows;
    std::vector<SkipSetSamples> skipSets;
    std::vector<TimedSample> prefill;
    ForRivals<std::vector<TimedSample>> rivalPrefill; ///< [rival][i] beside prefill[i]
    std::vector<DecodePair> decode;
    std::vector<double> roofGbps;
    bool isIncomplete = false;
};

/// The index of the first difference between two answers to one prompt; none if one is the
/// beginning of the other.
std::optional<std::size_t> firstDifference(const DecodeSample& one, const DecodeSample& other);

} // namespace app
