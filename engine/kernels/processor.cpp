// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/processor.h"

#include <array>
#include <fstream>

namespace engine {

namespace {

constexpr std::array kSets = {InstructionSet::Scalar, InstructionSet::Avx2, InstructionSet::Avx512};

} // namespace

std::string_view instructionSetName(InstructionSet set) {
    switch (set) {
    case InstructionSet::Scalar:
        return "scalar";
    case InstructionSet::Avx2:
        return "avx2";
    case InstructionSet::Avx512:
        return "avx512";
    }
    return "scalar";
}

InstructionSet bestInstructionSet() {
    const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                         __builtin_cpu_supports("f16c");
    if (!hasAvx2)
        return InstructionSet::Scalar;
    const bool hasAvx512 =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
    return hasAvx512 ? InstructionSet::Avx512 : InstructionSet::Avx2;
}

Result<InstructionSet> chooseInstructionSet(std::string_view name) {
    if (name.empty())
        return bestInstructionSet();
    for (const InstructionSet set : kSets) {
        if (instructionSetName(set) != name)
            continue;
        if (set <= bestInstructionSet())
            return set;
        return Error{ErrorCode::Unsupported,
                     fmt::format("This processor has no {} instructions.", name),
                     fmt::format("Leave out --isa, or choose {}.",
                                 instructionSetName(bestInstructionSet()))};
    }
    return Error{ErrorCode::InvalidInput,
                 fmt::format("\"{}\" is not an instruction set.", name),
                 "Choose scalar, avx2 or avx512."};
}

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return {};
}

} // namespace engine
