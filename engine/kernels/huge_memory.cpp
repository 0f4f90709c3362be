// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>

namespace engine {

namespace {

/// The number that a line of /proc/self/status tells, as "VmSwap:     12 kB".
std::optional<double> statusNumber(const std::filesystem::path& root, std::string_view name) {
    std::ifstream status(root / "proc/self/status");
    for (std::string line; std::getline(status, line);) {
        double number = 0.0;
        if (line.starts_with(name) && std::istringstream(line.substr(name.size())) >> number)
            return number;
    }
    return std::nullopt;
}

} // namespace

Result<HugeMemory> HugeMemory::make(std::size_t byteSize, std::string_view what) {
    const std::size_t mapped = (byteSize + 2 * kHugePage - 1) / kHugePage * kHugePage;
    void* mapping = mapped < byteSize ? MAP_FAILED
                                      : mmap(nullptr,
                                             mapped,
                                             PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                             -1,
                                             0);
    if (mapping == MAP_FAILED)
        return Error{ErrorCode::NoMemory,
                     fmt::format("{} bytes for {} cannot be reserved.", byteSize, what),
                     "Close other programs or choose a smaller model."};
    HugeMemory memory;
    memory.m_mapping = mapping;
    memory.m_mappedBytes = mapped;
    const auto address = reinterpret_cast<std::uintptr_t>(mapping);
    const std::size_t offset = (kHugePage - address % kHugePage) % kHugePage;
    memory.m_begin = static_cast<std::byte*>(mapping) + offset;
    memory.m_size = byteSize;
    // A system without huge pages uses small ones.
    static_cast<void>(madvise(memory.m_begin, mapped - kHugePage, MADV_HUGEPAGE));
    return memory;
}

HugeMemory::~HugeMemory() {
    if (m_mapping != nullptr)
        munmap(m_mapping, m_mappedBytes);
}

std::string memoryNote(const std::filesystem::path& root, const NodeMachine& machine) {
    constexpr double kSwappedPart = 0.1;
    const double swapped = statusNumber(root, "VmSwap:").value_or(0.0);
    const double held = swapped + statusNumber(root, "VmRSS:").value_or(0.0);
    if (swapped > 0.0 && swapped >= kSwappedPart * held)
        return fmt::format("{:.0f} MB of this program lie in swap on the disk, so answers are "
                           "slow: close other programs, or choose a smaller model.",
                           swapped * 1024.0 / 1e6);
    std::string pages;
    std::getline(std::ifstream(root / "sys/kernel/mm/transparent_hugepage/enabled"), pages);
    if (pages.find("[never]") != std::string::npos)
        return "This system gives no huge pages, so answers are some percent slower; its "
               "administrator can write madvise to /sys/kernel/mm/transparent_hugepage/enabled.";
    // A system that knows no huge pages tells of none, too.
    if (!pages.empty() && statusNumber(root, "THP_enabled:") == 0.0)
        return "This process was started without huge pages, so answers are some percent slower; "
               "whoever starts it can allow them.";
    return machine.note();
}

} // namespace engine
