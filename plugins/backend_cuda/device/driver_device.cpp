// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/device/driver_device.h"

#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace backend_cuda {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr const char* kCpuHint = "Compute with --backend cpu.";
constexpr const char* kRoomHint = "Ask for a shorter --context, for --weights bf16, or end other "
                                  "programs that use the GPU.";

driver::Address addressOf(const std::byte* memory) {
    return static_cast<driver::Address>(reinterpret_cast<std::uintptr_t>(memory));
}

int attributeOf(const driver::Functions& functions, int attribute, driver::DeviceNumber device) {
    int value = 0;
    functions.deviceAttribute(&value, attribute, device);
    return value;
}

DeviceFacts factsOf(const driver::Functions& functions, driver::DeviceNumber device) {
    DeviceFacts facts;
    std::array<char, 256> name{};
    functions.deviceName(name.data(), static_cast<int>(name.size()) - 1, device);
    facts.name = name.data();
    facts.capability = attributeOf(functions, driver::kCapabilityMajor, device) * 10 +
                       attributeOf(functions, driver::kCapabilityMinor, device);
    facts.multiprocessors = attributeOf(functions, driver::kMultiprocessorCount, device);
    facts.ringSlots = ringSlots(facts.capability);
    std::size_t bytes = 0;
    functions.deviceTotalMemory(&bytes, device);
    facts.memoryBytes = bytes;
    functions.driverVersion(&facts.driverVersion);
    std::ifstream("/sys/module/nvidia/version") >> facts.driverBuild;
    std::array<unsigned char, driver::kUuidBytes> uuid{};
    functions.deviceUuid(uuid.data(), device);
    facts.uuid = fmt::format("{:02x}", fmt::join(uuid, ""));
    return facts;
}

Error noDevice() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr)
        return Error{
            ErrorCode::Unsupported,
            fmt::format("NVIDIA's driver shows no GPU; CUDA_VISIBLE_DEVICES is \"{}\".", visible),
            "Unset CUDA_VISIBLE_DEVICES, or compute with --backend cpu."};
    return Error{ErrorCode::Unsupported, "NVIDIA's driver finds no GPU in this machine.", kCpuHint};
}

/// The driver's numbers of the GPUs that can be used, with what they say.
using Found = std::vector<std::pair<driver::DeviceNumber, DeviceFacts>>;

Result<Found> find(const driver::Functions& functions) {
    int count = 0;
    if (functions.deviceCount(&count) != driver::kSuccess || count == 0)
        return noDevice();
    Found found;
    std::string refused;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        driver::DeviceNumber device = 0;
        if (functions.deviceGet(&device, ordinal) != driver::kSuccess)
            continue;
        DeviceFacts facts = factsOf(functions, device);
        if (facts.capability >= driver::kOldestCapability &&
            attributeOf(functions, driver::kCooperativeLaunch, device) != 0)
            found.emplace_back(device, std::move(facts));
        else if (refused.empty())
            refused = fmt::format("The GPU {} has compute capability {}.{}, and {}.{} is needed.",
                                  facts.name,
                                  facts.capability / 10,
                                  facts.capability % 10,
                                  driver::kOldestCapability / 10,
                                  driver::kOldestCapability % 10);
    }
    if (found.empty())
        return refused.empty() ? noDevice() : Error{ErrorCode::Unsupported, refused, kCpuHint};
    return found;
}

} // namespace

Result<std::vector<DeviceFacts>> listDevices(const driver::Functions& functions) {
    ENGINE_TRY(const Found found, find(functions));
    std::vector<DeviceFacts> all;
    for (const auto& [device, facts] : found)
        all.push_back(facts);
    return all;
}

Result<std::shared_ptr<Device>>
DriverDevice::open(const driver::Functions& functions, int place, const std::vector<char>& image) {
    ENGINE_TRY(const Found found, find(functions));
    ENGINE_CHECK(place >= 0 && place < static_cast<int>(found.size()), "GPU {}", place);
    const auto& [number, facts] = found[static_cast<std::size_t>(place)];
    std::shared_ptr<DriverDevice> made(new DriverDevice(functions, facts));
    made->m_device = number;
    ENGINE_TRY_DO(made->load(image));
    return std::shared_ptr<Device>(std::move(made));
}

Result<void> DriverDevice::load(const std::vector<char>& image) {
    ENGINE_TRY_DO(check(m_functions.retainPrimaryContext(&m_context, m_device), "opening it"));
    ENGINE_TRY_DO(enter());
    ENGINE_TRY_DO(
        check(m_functions.streamCreate(&m_stream, driver::kStreamNonBlocking), "opening it"));
    const driver::Status loaded = m_functions.moduleLoad(&m_module, image.data());
    if (loaded == driver::kNoBinaryForGpu)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The kernels hold no code for the GPU {} (compute capability "
                                 "{}.{}).",
                                 m_facts.name,
                                 m_facts.capability / 10,
                                 m_facts.capability % 10),
                     "Build again with SWIFT_STUDIO_CUDA=1 installer/run.sh, or compute with "
                     "--backend cpu."};
    ENGINE_TRY_DO(check(loaded, "loading the kernels"));
    const int mostShared = attributeOf(m_functions, driver::kMaxSharedBytes, m_device);
    for (const Kernel kernel : {Kernel::Pass8, Kernel::Pass16, Kernel::Pass32, Kernel::Pass64}) {
        const int shared = sharedBytes(tilesOf(kernel), m_facts.ringSlots);
        if (shared > mostShared)
            return Error{ErrorCode::Unsupported,
                         fmt::format("The GPU {} gives a block {} bytes of shared memory, and the "
                                     "kernels need {}.",
                                     m_facts.name,
                                     mostShared,
                                     shared),
                         kCpuHint};
        driver::Function& function = m_kernels[static_cast<int>(kernel)];
        const std::string name = fmt::format("pass{}", 8 * tilesOf(kernel));
        ENGINE_TRY_DO(check(m_functions.moduleFunction(&function, m_module, name.c_str()),
                            "finding the kernel " + name));
        ENGINE_TRY_DO(check(
            m_functions.functionSetAttribute(function, driver::kFunctionMaxDynamicShared, shared),
            "giving shared memory to the kernel " + name));
    }
    return {};
}

DriverDevice::~DriverDevice() { leave(); }

/// Makes the context that of the calling thread. Errors: the one by which it was lost.
Result<void> DriverDevice::enter() {
    if (m_lost)
        return *m_lost;
    return check(m_functions.setCurrentContext(m_context), "entering it");
}

/// Gives all of it back, once.
void DriverDevice::leave() {
    if (m_context == nullptr)
        return;
    m_functions.setCurrentContext(m_context);
    if (m_module != nullptr)
        m_functions.moduleUnload(m_module);
    if (m_stream != nullptr)
        m_functions.streamDestroy(m_stream);
    m_functions.releasePrimaryContext(m_device);
    m_context = nullptr;
}

Result<void> DriverDevice::check(driver::Status status, std::string_view doing) {
    if (status == driver::kSuccess)
        return {};
    if (status == driver::kOutOfMemory)
        return Error{ErrorCode::NoMemory,
                     fmt::format("The GPU {} has no room for the kernels.", m_facts.name),
                     kRoomHint};
    Error error{
        ErrorCode::Device,
        fmt::format(
            "The GPU {} failed at {} ({}).", m_facts.name, doing, m_functions.nameOf(status)),
        status == driver::kUnavailable
            ? "Another program may have it for itself: end that one, name another GPU with "
              "--device, or compute with --backend cpu."
            : "Load the model again, start the program again, or compute with --backend cpu."};
    if (driver::losesContext(status)) {
        m_lost = error;
        leave();
    }
    return error;
}

Result<std::uint64_t> DriverDevice::freeBytes() {
    ENGINE_TRY_DO(enter());
    std::size_t isFree = 0;
    std::size_t total = 0;
    ENGINE_TRY_DO(check(m_functions.memoryInfo(&isFree, &total), "telling its free memory"));
    return std::uint64_t{isFree};
}

Result<std::byte*> DriverDevice::allocate(std::size_t bytes) {
    ENGINE_TRY_DO(enter());
    driver::Address memory = 0;
    const driver::Status status = m_functions.allocate(&memory, bytes);
    if (status == driver::kOutOfMemory) {
        std::size_t isFree = 0;
        std::size_t total = 0;
        m_functions.memoryInfo(&isFree, &total);
        return Error{ErrorCode::NoMemory,
                     fmt::format("The GPU {} has no room for {} bytes more; {} are free.",
                                 m_facts.name,
                                 bytes,
                                 isFree),
                     kRoomHint};
    }
    ENGINE_TRY_DO(check(status, "giving memory"));
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(memory));
}

void DriverDevice::release(std::byte* memory) {
    if (enter()) // what was in a lost context is gone with it
        m_functions.release(addressOf(memory));
}

Result<void> DriverDevice::fillWithZeros(std::byte* memory, std::size_t bytes) {
    ENGINE_TRY_DO(enter());
    return check(m_functions.fill(addressOf(memory), 0, bytes, m_stream), "clearing memory");
}

Result<void> DriverDevice::upload(std::byte* to, std::span<const std::byte> from) {
    if (from.empty())
        return {};
    ENGINE_TRY_DO(send(to, from));
    // Where a GPU reads the host's memory itself, the driver need not have taken its copy yet.
    return check(m_functions.streamSynchronize(m_stream), "receiving data");
}

Result<void> DriverDevice::send(std::byte* to, std::span<const std::byte> from) {
    ENGINE_TRY_DO(enter());
    return check(m_functions.copyToDevice(addressOf(to), from.data(), from.size(), m_stream),
                 "receiving data");
}

Result<void> DriverDevice::download(std::span<std::byte> to, const std::byte* from) {
    ENGINE_TRY_DO(enter());
    if (!to.empty())
        ENGINE_TRY_DO(check(m_functions.copyToHost(to.data(), addressOf(from), to.size(), m_stream),
                            "a pass"));
    return check(m_functions.streamSynchronize(m_stream), "a pass");
}

bool DriverDevice::reaches(Device& other) {
    const auto* const peer = dynamic_cast<const DriverDevice*>(&other);
    int can = 0;
    if (peer == nullptr || peer->m_lost || !enter() ||
        m_functions.canAccessPeer(&can, m_device, peer->m_device) != driver::kSuccess || can == 0)
        return false;
    const driver::Status enabled = m_functions.enablePeerAccess(peer->m_context, 0);
    return enabled == driver::kSuccess || enabled == driver::kPeerAccessAlreadyEnabled;
}

Result<void>
DriverDevice::copyTo(Device& other, std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto* const peer = dynamic_cast<const DriverDevice*>(&other);
    ENGINE_CHECK(peer != nullptr, "a copy to a GPU of another kind");
    if (peer->m_lost)
        return *peer->m_lost;
    ENGINE_TRY_DO(enter());
    return check(m_functions.copyToPeer(
                     addressOf(to), peer->m_context, addressOf(from), m_context, bytes, m_stream),
                 "handing on to the next one");
}

Result<void> DriverDevice::launch(Kernel kernel, int blocks, const PassArguments& arguments) {
    ENGINE_TRY_DO(enter());
    PassArguments own = arguments;
    void* pointers[] = {&own};
    const auto shared = static_cast<unsigned>(sharedBytes(tilesOf(kernel), m_facts.ringSlots));
    return check(m_functions.launchCooperative(m_kernels[static_cast<int>(kernel)],
                                               static_cast<unsigned>(blocks),
                                               1,
                                               1,
                                               kThreads,
                                               1,
                                               1,
                                               shared,
                                               m_stream,
                                               pointers),
                 "starting a pass");
}

} // namespace backend_cuda
