// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace engine {

/// A reusable buffer of numbers, aligned to a cache line; it only ever grows.
template <typename Value> class AlignedBuffer {
    static_assert(std::is_trivial_v<Value>);

public:
    /// Makes room for `count` values. The old values are lost if the buffer has to grow; new memory
    /// is zero.
    void reserve(std::size_t count) {
        if (count <= m_capacity)
            return;
        m_memory.reset(
            static_cast<Value*>(::operator new (count * sizeof(Value), std::align_val_t{kLine})));
        m_capacity = count;
        std::memset(static_cast<void*>(m_memory.get()), 0, count * sizeof(Value));
    }

    Value* data() { return m_memory.get(); }

    const Value* data() const { return m_memory.get(); }

    std::size_t capacity() const { return m_capacity; }

private:
    static constexpr std::size_t kLine = 64;

    struct Release {
        void operator()(Value* memory) const {
            ::operator delete (memory, std::align_val_t{kLine});
        }
    };

    std::unique_ptr<Value, Release> m_memory;
    std::size_t m_capacity = 0;
};

} // namespace engine
