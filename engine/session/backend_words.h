// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/model/transformer.h"

#include <string>

namespace engine {

/// How a model shall be computed, in the words of the command line and of LoadModel. An empty word
/// leaves the choice to the program. A plain value.
struct BackendWords {
    std::string backend = {};          ///< "cpu", "torch", "plain", ...; empty = "cpu"
    std::string precision = "float32"; ///< "float32", "float64" or "bfloat16"
    /// The three below are the cpu backend's.
    std::string weights = {};        ///< "auto", "file", "f32", "int8" or "bf16"; empty = "auto"
    std::string kvType = {};         ///< "f16", "bf16" or "f32"; empty = what suits the weights
    std::string instructionSet = {}; ///< "scalar", "avx2" or "avx512"; empty = the best there is
};

/// What was asked for, else "cpu".
std::string chosenBackend(const std::string& asked);

/// The options that the words mean. Errors: InvalidInput for an unknown word, and for one that the
/// backend does not take.
Result<TransformerOptions> transformerOptions(const BackendWords& words);

} // namespace engine
