// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/output_options.h"
#include "engine/tuning/tuning_folder.h"
#include "engine/tuning/tuning_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// Below, nothing can be learnt.
inline constexpr std::int64_t kLeastAnswerTokens = 1'000;

/// The options of `tune`, as typed.
struct TuneOptions {
    ModelOptions model;
    DataOptions data;
    OutputOptions out;
    std::string recipe;
    std::string check;   ///< a file to look at; nothing is trained then
    std::string compare; ///< a copy of the model to measure; nothing is trained then
    std::string profile = "full";
    std::optional<std::int64_t> answerTokens;
    std::optional<int> epochs;
    std::optional<std::int64_t> steps;
    std::optional<double> minutes;
    std::uint64_t seed = 1;
    std::vector<std::string> settings;
    std::vector<std::string> licences; ///< of the data: of all, or one for each --data
    int selfPrompts = 0;               ///< that the model writes itself
    double checkpointMinutes = 5.0;
    std::optional<double> memoryMb; ///< that the training may take
    std::optional<double> diskGb;   ///< likewise
    int maxTokens = 128;            ///< of an answer, with `compare`
    bool isHeldOut = false;         ///< with `compare`: no prompt that is trained on
    bool isRaw = false;
    bool resumes = false;
    bool retrains = false;
    bool beginsAnew = false; ///< earlier work is deleted
    bool onlyCollects = false;
    bool keepsWork = false;
    bool isUsed = false; ///< the result becomes the model's adapter
};

} // namespace app
