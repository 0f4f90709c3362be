// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/sample_statistics.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace study {

/// One way of decoding against another on the prompts of one file.
struct FileRatio {
    int prompts = 0;
    double tokensPerSecond = 0.0;       ///< of the first
    double otherTokensPerSecond = 0.0;  ///< of the second
    engine::RatioEstimate ratio;        ///< of mean times a token
    engine::RatioEstimate promptMedian; ///< of the prompts' own ratios
};

/// One way of decoding against another on all files.
struct StudyRatio {
    std::string own;
    std::string other;
    std::map<std::string, FileRatio> files;
    engine::RatioEstimate mean; ///< of the files' ratios, each weighing alike
};

/// What follows from a study's prompts. A plain value.
struct StudyFigures {
    std::vector<StudyRatio> ratios;         ///< over vanilla, then over llama.cpp
    std::map<std::string, int> answers;     ///< by who made them, vanilla's second ones included
    std::map<std::string, int> differences; ///< of those, others than vanilla's first
    std::map<std::string, long> tokens;
    std::vector<std::string> firstDifferences; ///< where, of our own decoders

    /// Of all our decoders; llama.cpp computes other numbers and may differ.
    int ownDifferences() const;
};

inline constexpr const char* kLlama = "llama.cpp";

/// Source of the interval: see engine/metrics/sample_statistics.h.
StudyFigures figuresOf(const std::vector<nlohmann::ordered_json>& prompts);

/// For people.
std::string tableOf(const StudyFigures& figures);

/// The last line of --json.
nlohmann::ordered_json doneLine(const StudyFigures& figures);

} // namespace study
