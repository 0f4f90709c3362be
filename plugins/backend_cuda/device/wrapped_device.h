// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/device/device.h"

namespace backend_cuda {

/// A GPU that hands every call on to another one: what differs is overridden.
class WrappedDevice : public Device {
public:
    explicit WrappedDevice(std::shared_ptr<Device> device)
        : m_device(std::move(device)) {}

    const DeviceFacts& facts() const override { return m_device->facts(); }

    engine::Result<std::uint64_t> freeBytes() override { return m_device->freeBytes(); }

    engine::Result<std::byte*> allocate(std::size_t bytes) override {
        return m_device->allocate(bytes);
    }

    void release(std::byte* memory) override { m_device->release(memory); }

    engine::Result<void> fillWithZeros(std::byte* memory, std::size_t bytes) override {
        return m_device->fillWithZeros(memory, bytes);
    }

    engine::Result<void> upload(std::byte* to, std::span<const std::byte> from) override {
        return m_device->upload(to, from);
    }

    engine::Result<void> send(std::byte* to, std::span<const std::byte> from) override {
        return m_device->send(to, from);
    }

    engine::Result<void> download(std::span<std::byte> to, const std::byte* from) override {
        return m_device->download(to, from);
    }

    bool reaches(Device& other) override { return m_device->reaches(other); }

    engine::Result<void>
    copyTo(Device& other, std::byte* to, const std::byte* from, std::size_t bytes) override {
        return m_device->copyTo(other, to, from, bytes);
    }

    engine::Result<void>
    launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        return m_device->launch(kernel, blocks, arguments);
    }

private:
    std::shared_ptr<Device> m_device;
};

} // namespace backend_cuda
