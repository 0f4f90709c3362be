// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/device/device.h"
#include "plugins/backend_cuda/emulation/fibers.h"

namespace backend_cuda {

/// A GPU of fibers, for tests: the kernels compiled for the processor. Memory begins as NaN.
class EmulatedDevice final : public Device {
public:
    explicit EmulatedDevice(int multiprocessors = 2, emulation::ThreadOrder order = {});

    const DeviceFacts& facts() const override { return m_facts; }

    engine::Result<std::uint64_t> freeBytes() override { return m_facts.memoryBytes; }

    engine::Result<std::byte*> allocate(std::size_t bytes) override;
    void release(std::byte* memory) override;
    engine::Result<void> fillWithZeros(std::byte* memory, std::size_t bytes) override;
    engine::Result<void> upload(std::byte* to, std::span<const std::byte> from) override;
    engine::Result<void> download(std::span<std::byte> to, const std::byte* from) override;

    bool reaches(Device& /*other*/) override { return true; }

    engine::Result<void>
    copyTo(Device& other, std::byte* to, const std::byte* from, std::size_t bytes) override;
    engine::Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override;

    /// Memory that was allocated and not released.
    int heldPieces() const { return m_heldPieces; }

private:
    DeviceFacts m_facts;
    emulation::ThreadOrder m_order;
    int m_heldPieces = 0;
};

} // namespace backend_cuda
