// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/device/device.h"

namespace backend_cuda {

/// One piece of a GPU's memory that grows when more is asked for.
class Workspace {
public:
    /// At first exactly what is asked for, then with room to spare where there is some. What was in
    /// it is lost when it grows. Errors: NoMemory; those of the device.
    template <typename Number>
    engine::Result<Number*> reserve(const std::shared_ptr<Device>& device, std::size_t count) {
        const std::size_t bytes = count * sizeof(Number);
        if (bytes > m_memory.size()) {
            const std::size_t spare = m_memory.size() == 0 ? 0 : bytes / 2;
            m_memory = DeviceMemory(); // given back before more is taken
            engine::Result<DeviceMemory> made = DeviceMemory::make(device, bytes + spare);
            if (!made && made.error().code == engine::ErrorCode::NoMemory && spare > 0)
                made = DeviceMemory::make(device, bytes);
            ENGINE_TRY(m_memory, std::move(made));
        }
        return reinterpret_cast<Number*>(m_memory.data());
    }

private:
    DeviceMemory m_memory;
};

} // namespace backend_cuda
