// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/processor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace engine {

namespace {

constexpr std::array kSets = {
    InstructionSet::Scalar, InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Amx};

/// Whether the system lets this process use the tile registers: for them it keeps 8 KiB more of
/// each thread that does. Source: the kernel's Documentation/arch/x86/xstate.rst.
bool mayUseAmx() {
    constexpr int kRequestPermission = 0x1023;
    constexpr int kTileData = 18;
    static const bool isAllowed = __builtin_cpu_supports("amx-tile") &&
                                  __builtin_cpu_supports("amx-int8") &&
                                  __builtin_cpu_supports("amx-bf16") &&
                                  syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
    return isAllowed;
}

} // namespace

std::string_view instructionSetName(InstructionSet set) {
    switch (set) {
    case InstructionSet::Scalar:
        return "scalar";
    case InstructionSet::Avx2:
        return "avx2";
    case InstructionSet::Avx512:
        return "avx512";
    case InstructionSet::Amx:
        return "amx";
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
    if (!hasAvx512)
        return InstructionSet::Avx2;
    return mayUseAmx() ? InstructionSet::Amx : InstructionSet::Avx512;
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
                 "Choose scalar, avx2, avx512 or amx."};
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
