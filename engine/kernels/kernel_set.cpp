// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/kernel_set.h"

namespace engine {

KernelSet kernelSet(InstructionSet set) {
    if (set == InstructionSet::Amx && avx512RowKernels() != nullptr)
        return {InstructionSet::Amx, *avx512RowKernels(), multiplyTilesAmx};
    if (set >= InstructionSet::Avx512 && avx512RowKernels() != nullptr)
        return {InstructionSet::Avx512, *avx512RowKernels(), multiplyTilesAvx512};
    if (set >= InstructionSet::Avx2 && avx2RowKernels() != nullptr)
        return {InstructionSet::Avx2, *avx2RowKernels(), multiplyTilesAvx2};
    return {InstructionSet::Scalar, scalarRowKernels(), multiplyTilesScalar};
}

} // namespace engine
