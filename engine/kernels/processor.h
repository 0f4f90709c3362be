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
    Amx,    ///< the tile registers of AMX, with INT8 and BF16
};

/// "scalar", "avx2", "avx512" or "amx".
std::string_view instructionSetName(InstructionSet set);

/// The best one that this processor has and the system lets this process use: it asks for AMX at
/// the first call.
InstructionSet bestInstructionSet();

/// The instruction set with this name; an empty name takes the best one. Errors: InvalidInput for
/// an unknown name, Unsupported for one this processor lacks.
Result<InstructionSet> chooseInstructionSet(std::string_view name);

/// The system's name for the processor; empty if it has none.
std::string processorName();

} // namespace engine
