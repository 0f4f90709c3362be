// SPDX-License-Identifier: Apache-2.0
#include "tests/support/programs/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

std::atomic<std::size_t> liveBytes{0};
std::atomic<std::size_t> peakBytes{0};

void* countedAllocation(std::size_t size, std::size_t alignment) noexcept {
    const std::size_t wanted = size == 0 ? 1 : size;
    void* memory = alignment <= alignof(std::max_align_t)
                       ? std::malloc(wanted)
                       : std::aligned_alloc(alignment, (wanted + alignment - 1) & ~(alignment - 1));
    if (!memory)
        return nullptr;
    const std::size_t usable = malloc_usable_size(memory);
    const std::size_t live = liveBytes.fetch_add(usable, std::memory_order_relaxed) + usable;
    std::size_t peak = peakBytes.load(std::memory_order_relaxed);
    while (live > peak && !peakBytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
    return memory;
}

void* allocateOrThrow(std::size_t size, std::size_t alignment) {
    void* memory = countedAllocation(size, alignment);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void release(void* memory) noexcept {
    if (!memory)
        return;
    liveBytes.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
    std::free(memory);
}

constexpr std::size_t kPlain = alignof(std::max_align_t);

} // namespace

namespace test_support {

PeakAllocation::PeakAllocation()
    : m_start(liveBytes.load()) {
    peakBytes.store(m_start);
}

std::size_t PeakAllocation::bytes() const {
    const std::size_t peak = peakBytes.load();
    return peak > m_start ? peak - m_start : 0;
}

} // namespace test_support

void* operator new(std::size_t size) { return allocateOrThrow(size, kPlain); }

void* operator new[](std::size_t size) { return allocateOrThrow(size, kPlain); }

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return countedAllocation(size, kPlain);
}

void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return countedAllocation(size, kPlain);
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocateOrThrow(size, static_cast<std::size_t>(alignment));
}

void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocateOrThrow(size, static_cast<std::size_t>(alignment));
}

void operator delete(void* memory) noexcept { release(memory); }

void operator delete[](void* memory) noexcept { release(memory); }

void operator delete(void* memory, std::size_t) noexcept { release(memory); }

void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }

void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }

void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }

void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
