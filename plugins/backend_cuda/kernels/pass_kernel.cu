// SPDX-License-Identifier: Apache-2.0
// One pass: every block walks the same list of operations, with a barrier of all blocks between
// them, while its weights keep flowing. Up to 8, 16, 32 or 64 rows.
#include "plugins/backend_cuda/kernels/attend_stage.h"
#include "plugins/backend_cuda/kernels/linear_stage.h"

namespace backend_cuda {

/// All blocks wait for each other; where some never come, the launch is given up. The counter grows
/// from launch to launch.
DEVICE void gridBarrier(const PassArguments& pass, unsigned& passed) {
    syncBlock();
    if (threadIndex() == 0) {
        const auto blocks = static_cast<unsigned>(gridBlocks());
        arrive(pass.barrier);
        passed += blocks;
        const unsigned wanted =
            pass.barrierStart + passed - (hasFault(Fault::ShortGridBarrier) ? 1U : 0U);
        for (unsigned looks = 0; static_cast<int>(readAcquire(pass.barrier) - wanted) < 0; ++looks)
            pause(looks);
    }
    syncBlock();
}

template <int Tiles> DEVICE void runPass(const PassArguments& pass) {
    char* shared = sharedMemory();
    BlockSpace space;
    space.staged = shared + kRing * kSteps * kThreads * 16;
    char* end = shared + sharedBytes(Tiles, kRing);
    space.isLast = reinterpret_cast<unsigned*>(end - 16);
    space.scratch = reinterpret_cast<float*>(end - 16 - kThreads * 4);
    WeightStream stream(pass);
    unsigned passed = 0;
    for (int place = pass.first; place < pass.end; ++place) {
        const Operation& operation = pass.operations[place];
        switch (operation.kind) {
        case Kind::Begin:
            runBegin(pass, operation, space.scratch);
            break;
        case Kind::Linear:
            runLinear<Tiles>(pass, operation, place, stream, space);
            break;
        case Kind::Turn:
            runTurn(pass, operation, place);
            break;
        case Kind::Attend:
            runAttend(pass, operation, space.staged);
            break;
        case Kind::Join:
            runJoin(pass, operation);
            break;
        case Kind::Choose:
            runChoose(pass, place);
            break;
        case Kind::AddNormed:
            runAddNormed(pass, operation, place, space.scratch);
            break;
        case Kind::HandOut:
            runHandOut(pass, operation);
            break;
        case Kind::HeadJoin:
            runHeadJoin(pass);
            break;
        case Kind::Read:
            runRead(pass, operation);
            break;
        }
        gridBarrier(pass, passed);
    }
}

} // namespace backend_cuda

KERNEL(backend_cuda::kThreads) pass8(ARGUMENTS backend_cuda::PassArguments pass) {
    backend_cuda::runPass<1>(pass);
}

KERNEL(backend_cuda::kThreads) pass16(ARGUMENTS backend_cuda::PassArguments pass) {
    backend_cuda::runPass<2>(pass);
}

KERNEL(backend_cuda::kThreads) pass32(ARGUMENTS backend_cuda::PassArguments pass) {
    backend_cuda::runPass<4>(pass);
}

KERNEL(backend_cuda::kThreads) pass64(ARGUMENTS backend_cuda::PassArguments pass) {
    backend_cuda::runPass<8>(pass);
}
