// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace backend_cuda {

/// What a test plants into the emulated kernels, to see whether it is found.
enum class Fault : int {
    None,
    MissingBarrier,
    ShortWait,
    ShortGridBarrier,
    CutByRows,
    EarlyFinish,
    StaleScales,
    HalfGroups,
    LostMoves,
    LostSections
};

} // namespace backend_cuda
