// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/emulation/emulated_device.h"

#include "plugins/backend_cuda/kernels/pass_kernel.cu"

#include <cstdlib>
#include <cstring>

namespace backend_cuda {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

EmulatedDevice::EmulatedDevice(int multiprocessors, emulation::ThreadOrder order)
    : m_order(order) {
    m_facts.name = "emulated GPU";
    m_facts.capability = 80;
    m_facts.multiprocessors = multiprocessors;
    m_facts.ringSlots = kRing;
    m_facts.memoryBytes = std::uint64_t{4} << 30U;
    m_facts.driverVersion = 13000;
}

Result<std::byte*> EmulatedDevice::allocate(std::size_t bytes) {
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    if (memory == nullptr)
        return Error{ErrorCode::NoMemory, "The emulated GPU has no memory left.", ""};
    std::memset(memory, 0xff, bytes);
    ++m_heldPieces;
    return memory;
}

void EmulatedDevice::release(std::byte* memory) {
    std::free(memory);
    --m_heldPieces;
}

Result<void> EmulatedDevice::fillWithZeros(std::byte* memory, std::size_t bytes) {
    std::memset(memory, 0, bytes);
    return {};
}

Result<void> EmulatedDevice::upload(std::byte* to, std::span<const std::byte> from) {
    if (!from.empty())
        std::memcpy(to, from.data(), from.size());
    return {};
}

Result<void> EmulatedDevice::download(std::span<std::byte> to, const std::byte* from) {
    if (!to.empty())
        std::memcpy(to.data(), from, to.size());
    return {};
}

Result<void>
EmulatedDevice::copyTo(Device& /*other*/, std::byte* to, const std::byte* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return {};
}

Result<void> EmulatedDevice::launch(Kernel kernel, int blocks, const PassArguments& arguments) {
    constexpr void (*kKernels[])(PassArguments) = {&pass8, &pass16, &pass32, &pass64};
    auto* const run = kKernels[static_cast<int>(kernel)];
    const auto shared = static_cast<std::size_t>(sharedBytes(tilesOf(kernel), kRing));
    if (!emulation::launch(
            blocks, kThreads, shared, m_order, [&arguments, run] { run(arguments); }))
        return Error{
            ErrorCode::Device, "The emulated GPU is stuck: its threads wait for each other.", ""};
    return {};
}

} // namespace backend_cuda
