// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/checks/device_roof.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

namespace backend_cuda {

using namespace engine;

namespace {

constexpr std::size_t kPieceBytes = 16;
constexpr std::size_t kMostBytes = std::size_t{8} << 30U;
constexpr int kReadings = 4; // in one launch, so that its beginning counts little
constexpr int kStages = 101;
constexpr int kTimes = 5;

class DeviceRoof final : public ReadRoof {
public:
    DeviceRoof(std::shared_ptr<Device> device, std::size_t bytes)
        : m_device(std::move(device))
        , m_pieces(static_cast<int>(bytes / kPieceBytes)) {}

    Result<void> prepare() {
        const std::size_t blocks = toSize(m_device->facts().multiprocessors);
        ENGINE_TRY(m_buffer, DeviceMemory::make(m_device, byteSize()));
        ENGINE_TRY_DO(m_device->fillWithZeros(m_buffer.data(), byteSize()));
        ENGINE_TRY(m_sums, DeviceMemory::make(m_device, blocks * kThreads * sizeof(unsigned)));
        std::array<Operation, kReadings> list;
        for (Operation& operation : list) {
            operation.kind = Kind::Read;
            operation.index = m_pieces;
            operation.matrix.weights = m_buffer.data();
        }
        // The barrier's counter lies behind the list.
        const auto bytes = std::as_bytes(std::span(list));
        ENGINE_TRY(m_list, DeviceMemory::make(m_device, bytes.size() + sizeof(unsigned)));
        ENGINE_TRY_DO(m_device->fillWithZeros(m_list.data(), m_list.size()));
        ENGINE_TRY_DO(m_device->upload(m_list.data(), bytes));
        m_pass.operations = reinterpret_cast<const Operation*>(m_list.data());
        m_pass.end = kReadings;
        m_pass.barrier = reinterpret_cast<unsigned*>(m_list.data() + bytes.size());
        m_pass.partials = reinterpret_cast<float*>(m_sums.data());
        return {};
    }

    Result<double> readGbps() override {
        const int blocks = m_device->facts().multiprocessors;
        std::array<std::byte, sizeof(unsigned)> sum;
        ENGINE_TRY_DO(m_device->download(sum, m_sums.data())); // nothing else is under way
        const auto begin = std::chrono::steady_clock::now();
        ENGINE_TRY_DO(m_device->launch(Kernel::Pass8, blocks, m_pass));
        ENGINE_TRY_DO(m_device->download(sum, m_sums.data()));
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        m_pass.barrierStart += static_cast<unsigned>(blocks * kReadings);
        return kReadings * static_cast<double>(byteSize()) / seconds.count() * 1e-9;
    }

    std::size_t byteSize() const override { return toSize(m_pieces) * kPieceBytes; }

    /// Of one operation that does nothing, of each further one, and of a MiB there and back.
    Result<std::map<std::string, double>> timesUs() override {
        std::vector<Operation> list(kStages);
        for (Operation& operation : list) {
            operation.kind = Kind::Read; // of no pieces
            operation.matrix.weights = m_buffer.data();
        }
        const auto bytes = std::as_bytes(std::span(list));
        ENGINE_TRY(const DeviceMemory memory, DeviceMemory::make(m_device, bytes.size()));
        ENGINE_TRY_DO(m_device->upload(memory.data(), bytes));
        const auto timed = [&](int stages) {
            return fastest([&]() -> Result<void> {
                PassArguments pass = m_pass;
                pass.operations = reinterpret_cast<const Operation*>(memory.data());
                pass.end = stages;
                const int blocks = m_device->facts().multiprocessors;
                ENGINE_TRY_DO(m_device->launch(Kernel::Pass8, blocks, pass));
                m_pass.barrierStart += static_cast<unsigned>(blocks * stages);
                std::byte none;
                return m_device->download({&none, 1}, m_sums.data());
            });
        };
        ENGINE_TRY(const double launch, timed(1));
        ENGINE_TRY(const double all, timed(kStages));
        std::vector<std::byte> mib(std::min(std::size_t{1} << 20U, byteSize()));
        ENGINE_TRY(const double there,
                   fastest([&] { return m_device->upload(m_buffer.data(), mib); }));
        ENGINE_TRY(const double back,
                   fastest([&] { return m_device->download(mib, m_buffer.data()); }));
        return std::map<std::string, double>{{"launch", launch},
                                             {"barrier", (all - launch) / (kStages - 1)},
                                             {"mib_there", there},
                                             {"mib_back", back}};
    }

private:
    /// Of several times, microseconds. Errors: those of `work`.
    template <typename Work> static Result<double> fastest(Work&& work) {
        double best = std::numeric_limits<double>::max();
        for (int i = 0; i < kTimes; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            ENGINE_TRY_DO(work());
            const std::chrono::duration<double, std::micro> time =
                std::chrono::steady_clock::now() - begin;
            best = std::min(best, time.count());
        }
        return best;
    }

    std::shared_ptr<Device> m_device;
    int m_pieces;
    DeviceMemory m_buffer;
    DeviceMemory m_sums; // [threads of a launch]
    DeviceMemory m_list;
    PassArguments m_pass;
};

} // namespace

Result<std::unique_ptr<ReadRoof>> makeDeviceRoof(const std::shared_ptr<Device>& device,
                                                 std::size_t bytes) {
    ENGINE_TRY(const std::uint64_t isFree, device->freeBytes());
    const auto fits = static_cast<std::size_t>(isFree / 4);
    auto roof = std::make_unique<DeviceRoof>(device, std::min({bytes, fits, kMostBytes}));
    ENGINE_TRY_DO(roof->prepare());
    return std::unique_ptr<ReadRoof>(std::move(roof));
}

} // namespace backend_cuda
