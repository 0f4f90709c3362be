// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/kernels/faults.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace backend_cuda::emulation {

/// Words of a warp are computed once, by the lane that comes last.
struct Warp {
    int arrived = 0;
    unsigned turn = 0;
    const void* operands[32];
    void* results[32];
};

struct Barrier {
    int arrived = 0;
    unsigned turn = 0;
};

struct Block {
    int index = 0;
    Barrier all;
    Barrier halves[2];
    std::vector<Warp> warps;
    std::vector<std::byte> shared;
};

/// A copy into shared memory that was asked for and is made as late as the kernel's waits allow.
struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
    int group;
};

/// One thread of a launch.
struct Fiber {
    int thread = 0;
    Block* block = nullptr;
    Warp* warp = nullptr;
    std::vector<Copy> copies;
    int group = 0;
    void* stackPointer = nullptr;
    void* fakeStack = nullptr; // of the address sanitizer
};

extern Fiber* current;
extern int gridSize;

/// The fault that is planted in the kernels.
extern Fault plantedFault;

/// In which order the threads of a launch take turns: ascending, descending, or shuffled by a seed.
/// Usually all go on about alike; eager ones go on as long as anything lets them, before all that
/// come behind them in the order.
struct ThreadOrder {
    bool isDescending = false;
    unsigned seed = 0; ///< 0: not shuffled
    bool isEager = false;
};

/// Lets the next thread go on.
void yield();

/// Lets others go on until `turn`, which is `old` now, has changed.
void waitWhile(const unsigned& turn, unsigned old);

/// Something happened that others wait for.
void noteProgress();

/// Runs `kernel` once for each of the threads of `blocks` blocks, all of them on this thread of the
/// processor. Shared memory begins as NaN. False: all threads waited for something that never came.
/// Thread: one launch at a time.
bool launch(int blocks,
            int threads,
            std::size_t sharedBytes,
            ThreadOrder order,
            const std::function<void()>& kernel);

} // namespace backend_cuda::emulation
