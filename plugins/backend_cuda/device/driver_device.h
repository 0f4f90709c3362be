// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/device/device.h"
#include "plugins/backend_cuda/device/driver_functions.h"

#include <optional>
#include <vector>

namespace backend_cuda {

/// The GPUs that the driver shows and that the kernels run on. Errors: Unsupported, which says that
/// there is none, or names the one that is too old.
engine::Result<std::vector<DeviceFacts>> listDevices(const driver::Functions& functions);

/// A GPU through NVIDIA's driver: one stream of the process' primary context, which is shared with
/// other libraries and never reset. An error that loses the context gives it back at once, so that
/// the next device has a new one, and answers every later call.
class DriverDevice final : public Device {
public:
    /// The GPU at this place of listDevices(); `image` is what readKernelImage() gave. Errors: as
    /// listDevices(); Unsupported for an image without code for this GPU; NoMemory; Device.
    static engine::Result<std::shared_ptr<Device>>
    open(const driver::Functions& functions, int place, const std::vector<char>& image);

    ~DriverDevice() override;
    DriverDevice(const DriverDevice&) = delete;
    DriverDevice& operator=(const DriverDevice&) = delete;

    const DeviceFacts& facts() const override { return m_facts; }

    engine::Result<std::uint64_t> freeBytes() override;
    engine::Result<std::byte*> allocate(std::size_t bytes) override;
    void release(std::byte* memory) override;
    engine::Result<void> fillWithZeros(std::byte* memory, std::size_t bytes) override;
    engine::Result<void> upload(std::byte* to, std::span<const std::byte> from) override;
    engine::Result<void> send(std::byte* to, std::span<const std::byte> from) override;
    engine::Result<void> download(std::span<std::byte> to, const std::byte* from) override;
    /// Asks the driver to let this GPU do so, for as long as both contexts live.
    bool reaches(Device& other) override;
    engine::Result<void>
    copyTo(Device& other, std::byte* to, const std::byte* from, std::size_t bytes) override;
    engine::Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override;

private:
    DriverDevice(const driver::Functions& functions, DeviceFacts facts)
        : m_functions(functions)
        , m_facts(std::move(facts)) {}

    engine::Result<void> load(const std::vector<char>& image);
    engine::Result<void> check(driver::Status status, std::string_view doing);
    engine::Result<void> enter();
    void leave();

    driver::Functions m_functions;
    DeviceFacts m_facts;
    driver::DeviceNumber m_device = 0;
    driver::Context m_context = nullptr;
    driver::Stream m_stream = nullptr;
    driver::Module m_module = nullptr;
    driver::Function m_kernels[4] = {};
    std::optional<engine::Error> m_lost; // by which the context was lost
};

} // namespace backend_cuda
