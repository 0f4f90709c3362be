// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/device/device.h"

#include <algorithm>
#include <span>
#include <vector>

namespace backend_cuda {

/// Runs operations on a GPU without a network: the caller makes their arguments. What it reserves
/// lives as long as it does. Thread: engine.
class BarePass {
public:
    /// For matrices of so many strips. Errors: NoMemory; those of the device.
    static engine::Result<BarePass> make(std::shared_ptr<Device> device, int strips);

    /// Room for so many numbers; a GPU gives no memory of no bytes. Errors: NoMemory; those of the
    /// device.
    template <typename Number> engine::Result<Number*> reserve(std::size_t count) {
        const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(Number);
        ENGINE_TRY(m_memory.emplace_back(), DeviceMemory::make(m_device, bytes));
        return reinterpret_cast<Number*>(m_memory.back().data());
    }

    /// The same with these numbers in it.
    template <typename Number> engine::Result<Number*> upload(const std::vector<Number>& numbers) {
        ENGINE_TRY(Number* const to, reserve<Number>(numbers.size()));
        ENGINE_TRY_DO(
            m_device->upload(reinterpret_cast<std::byte*>(to), std::as_bytes(std::span(numbers))));
        return to;
    }

    /// Runs the operations in their order and waits for them. The list, the counters and the flag
    /// of the arguments are set here. Errors: those of the device.
    engine::Result<void>
    run(Kernel kernel, const std::vector<Operation>& operations, PassArguments arguments);

    /// Errors: those of the device.
    template <typename Number>
    engine::Result<std::vector<Number>> download(const Number* from, std::size_t count) {
        std::vector<Number> numbers(count);
        ENGINE_TRY_DO(m_device->download(std::as_writable_bytes(std::span(numbers)),
                                         reinterpret_cast<const std::byte*>(from)));
        return numbers;
    }

private:
    explicit BarePass(std::shared_ptr<Device> device)
        : m_device(std::move(device)) {}

    std::shared_ptr<Device> m_device;
    std::vector<DeviceMemory> m_memory;
    unsigned* m_counters = nullptr; // of the barrier, the flag, then those of arriving blocks
    unsigned m_barriersPassed = 0;
};

} // namespace backend_cuda
