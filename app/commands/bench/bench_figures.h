// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/bench_results.h"
#include "engine/metrics/sample_statistics.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// How much faster one way of decoding is than another on the same prompts.
struct DecodeRatio {
    engine::RatioEstimate all;                          ///< mean of the tasks' ratios
    std::map<std::string, engine::RatioEstimate> tasks; ///< ratio of mean times per token
    std::map<std::string, double> medians;              ///< of the prompts' own ratios
    int pairs = 0;
    int equal = 0;                      ///< pairs whose answers are the same
    std::optional<int> firstDifference; ///< the earliest token at which two answers differ
};

/// Our rates over those of another program. Empty optionals were not measured.
struct RivalFigures {
    std::optional<engine::Spread> rate; ///< the other program's tokens a second
    std::optional<engine::RatioEstimate> prefill;
    std::optional<DecodeRatio> vanilla;
    std::optional<DecodeRatio> drafted;
};

/// The figures computed from the samples. Empty optionals were not measured. A plain value.
struct BenchFigures {
    engine::Spread roofGbps;
    std::optional<engine::Spread> oneRowMs;
    std::optional<engine::Spread> oneRowShare;  ///< bytes a step / (one-row pass x roof)
    std::map<int, engine::Spread> costOfRows;   ///< v(M)
    std::vector<engine::Spread> costOfSkipSets; ///< c, in the order of the results
    std::optional<engine::Spread> prefillRate;  ///< tokens a second
    std::optional<engine::Spread> vanillaRate;  ///< tokens a second
    std::optional<engine::Spread> vanillaShare; ///< bytes a step / (vanilla step x roof)
    std::optional<engine::Spread> draftedRate;
    std::optional<DecodeRatio> draftedOverVanilla;
    ForRivals<RivalFigures> rivals;
};

BenchFigures figuresOf(const BenchResults& results);

} // namespace app
