// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "plugins/backend_cuda/kernels/pass_arguments.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace backend_cuda {

/// What a GPU says about itself. A plain value.
struct DeviceFacts {
    std::string name;        ///< "NVIDIA H200"
    int capability = 0;      ///< compute capability times ten, as 90
    int multiprocessors = 0; ///< blocks of a launch
    int ringSlots = 0;       ///< of the machine code that runs here (ringSlots())
    std::uint64_t memoryBytes = 0;
    int driverVersion = 0;        ///< CUDA version of the driver, as 13000
    std::string driverBuild = {}; ///< "580.65.06"; empty: not known
    std::string uuid = {};        ///< of this very GPU, hexadecimal
};

/// The kernels of a pass, by the rows that they take.
enum class Kernel { Pass8, Pass16, Pass32, Pass64 };

/// Rows of the pass in tiles of eight.
constexpr int tilesOf(Kernel kernel) { return 1 << static_cast<int>(kernel); }

/// Everything that the transformer asks of a GPU; all of it happens in the order in which it was
/// asked for. Errors of all calls: NoMemory; Device with the driver's name of the error. Behind one
/// by which the device is lost every later call answers with the same. Thread: engine.
class Device {
public:
    virtual ~Device() = default;

    virtual const DeviceFacts& facts() const = 0;

    virtual engine::Result<std::uint64_t> freeBytes() = 0;

    /// Memory for `release`; what is in it is not known. Errors: NoMemory.
    virtual engine::Result<std::byte*> allocate(std::size_t bytes) = 0;

    virtual void release(std::byte* memory) = 0;

    virtual engine::Result<void> fillWithZeros(std::byte* memory, std::size_t bytes) = 0;

    /// `from` may change when this returns.
    virtual engine::Result<void> upload(std::byte* to, std::span<const std::byte> from) = 0;

    /// The same without waiting for anything: `from` may not change before the next download().
    virtual engine::Result<void> send(std::byte* to, std::span<const std::byte> from) {
        return upload(to, from);
    }

    /// Waits until all that was asked for before has happened.
    virtual engine::Result<void> download(std::span<std::byte> to, const std::byte* from) = 0;

    /// Whether this GPU writes into the other one's memory itself, without the computer's.
    virtual bool reaches(Device& /*other*/) { return false; }

    /// Copies into memory of a GPU that this one reaches. It is there, for whatever is asked of the
    /// other one afterwards, when the next download() from this one has returned.
    virtual engine::Result<void>
    copyTo(Device& /*other*/, std::byte* /*to*/, const std::byte* /*from*/, std::size_t /*bytes*/) {
        throw engine::EngineBug("a GPU that reaches no other one");
    }

    /// As many blocks as there are multiprocessors, all at once, or fewer.
    virtual engine::Result<void>
    launch(Kernel kernel, int blocks, const PassArguments& arguments) = 0;
};

/// Memory of a GPU, given back at the end. The addresses in it are the GPU's.
class DeviceMemory {
public:
    DeviceMemory() = default;

    static engine::Result<DeviceMemory> make(std::shared_ptr<Device> device, std::size_t bytes) {
        ENGINE_TRY(std::byte* const memory, device->allocate(bytes));
        DeviceMemory made;
        made.m_device = std::move(device);
        made.m_memory = memory;
        made.m_bytes = bytes;
        return made;
    }

    DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }

    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        std::swap(m_device, other.m_device);
        std::swap(m_memory, other.m_memory);
        std::swap(m_bytes, other.m_bytes);
        return *this;
    }

    ~DeviceMemory() {
        if (m_memory != nullptr)
            m_device->release(m_memory);
    }

    std::byte* data() const { return m_memory; }

    std::size_t size() const { return m_bytes; }

private:
    std::shared_ptr<Device> m_device;
    std::byte* m_memory = nullptr;
    std::size_t m_bytes = 0;
};

} // namespace backend_cuda
