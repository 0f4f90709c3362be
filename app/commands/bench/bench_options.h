// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "app/data/prompt_source.h"

#include <string>
#include <vector>

namespace app {

/// The options of swift-run bench, as typed.
struct BenchOptions {
    ModelOptions model;
    /// "1b", "3b", "7b": made-up weights; empty = a model's files. With a shape, --weights says how
    /// the file would store them: "f32" (also when empty), "bf16", "int8", "4bit".
    std::string shape;
    int layers = 0;                    ///< of a shape; 0 = its own number
    DataOptions data;                  ///< no paths = built-in prompts
    std::string decoder;               ///< compared with vanilla; empty = auto where it exists
    std::vector<std::string> settings; ///< NAME=VALUE for that decoder
    std::vector<std::string> skipSets; ///< files or JSON
    std::vector<int> rows;             ///< of the passes that are timed; empty = 1 to 16
    int cachedTokens = 256;            ///< number in the cache before those passes
    int prefillTokens = 512;
    /// Of every prompt that is decoded, made of the texts; 0 = as long as they are.
    int promptTokens = 0;
    int maxTokens = 128;
    int pairs = 7;      ///< interleaved repetitions of everything
    int roofMib = 1024; ///< read by the roof probe
    bool isAgainstLlama = false;
    std::string llamaPython; ///< an interpreter with llama-cpp-python; empty = the set-up's own
    std::string llamaScript; ///< empty = the checkout's
    std::string ikProgram;   ///< of set_up_ik_llama_cpp.sh; empty = not compared
    std::string ikModel;     ///< the file that it reads; empty = the same one
    bool isRaw = false;

    bool hasRival() const { return isAgainstLlama || !ikProgram.empty(); }
};

/// Refuses what cannot be measured, before anything is loaded. Errors: InvalidInput.
engine::Result<void> checkBenchOptions(const BenchOptions& options);

} // namespace app
