// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace engine {

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

} // namespace engine
