// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/bench_options.h"

#include <filesystem>
#include <stop_token>

namespace app {

/// A prompt as ids.
struct BenchPrompt {
    std::string task;
    std::vector<engine::TokenId> ids;
};

/// The model that is measured, and its prompts.
struct BenchModel {
    std::string name;
    std::filesystem::path file; ///< empty for a shape
    LoadedModel loaded;
    int contextLength = 0;
    std::vector<engine::TokenId> endIds;
    std::vector<BenchPrompt> prompts; ///< at least one
    int leftOut = 0;                  ///< prompts that do not fit into the context
};

/// Loads a model's files or generates a shape's weights, after checking that they fit into memory.
/// Errors: those of loadModel and of reading prompts; NoMemory with the two numbers; InvalidInput
/// if the model's context is too short for the measurement.
engine::Result<BenchModel> openBenchModel(const BenchOptions& options, const std::stop_token& stop);

/// Arbitrary ids, always the same ones.
std::vector<engine::TokenId> arbitraryIds(int count, int vocabSize, std::uint64_t seed);

} // namespace app
