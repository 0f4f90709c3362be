// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Sets of instructions that kernels are written for, each containing those before it.
enum class InstructionSet {
    Scalar, ///< any x86-64
    Avx2,   ///< AVX2, FMA and F16C
    Avx512, ///< AVX-512 F, BW, DQ, VL, VNNI and BF16
};

/// "scalar", "avx2" or "avx512".
std::string_view instructionSetName(InstructionSet set);

/// The best one that this processor has.
InstructionSet bestInstructionSet();

/// What the user forces by name; an empty name takes the best one.
/// Errors: InvalidInput for an unknown name, Unsupported for one this processor lacks.
Result<InstructionSet> chooseInstructionSet(std::string_view name);

/// Processors that this process may run on; at least 1.
int allowedProcessors();

/// Compute threads for what was asked for: no more than allowedProcessors(), since the others
/// would only wait for these; 0 leaves the choice to the backend.
int usefulThreads(int wanted);

/// What to tell a user who asked for more; empty for anybody else.
std::string threadsRemark(int wanted);

/// As the system names the processor; empty when it does not say.
std::string processorName();

} // namespace engine
