// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"
#include "plugins/backend_cuda/device/device.h"

#include <cstring>
#include <span>
#include <vector>

namespace backend_cuda {

/// What a launch reads besides weights and workspaces, brought to the GPU in one copy. Its
/// beginning is what the kernel tells: the flag and the results of the head.
class TableBuffer {
public:
    /// Forgets all tables.
    void clear() { m_bytes.clear(); }

    /// Appends a table; its place, in bytes.
    template <typename Number> std::size_t add(std::span<const Number> numbers) {
        return addBytes(std::as_bytes(numbers));
    }

    template <typename Number> std::size_t add(const std::vector<Number>& numbers) {
        return add(std::span<const Number>(numbers));
    }

    std::span<const std::byte> bytes() const { return m_bytes; }

private:
    std::size_t addBytes(std::span<const std::byte> bytes) {
        constexpr std::size_t kAlignment = 16;
        const std::size_t at = (m_bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
        m_bytes.resize(at + bytes.size());
        if (!bytes.empty())
            std::memcpy(m_bytes.data() + at, bytes.data(), bytes.size());
        return at;
    }

    std::vector<std::byte> m_bytes;
};

/// Rows [first, first + count) of a layout as kernels read them.
struct LayoutTables {
    std::vector<int> counts;     // [count] keys seen without a window: position + 1
    std::vector<int> prefixes;   // [count]
    std::vector<int> pathStarts; // [count] into pathSlots
    std::vector<int> pathSlots;
    std::vector<Part> parts;
    int mostSections = 0;
};

/// Rows share a part where each sees in the section a beginning of the next one's keys. Positions
/// of a row's keys follow one another, which is a bug otherwise (ENGINE_CHECK).
LayoutTables tablesOf(const engine::AttentionLayout& layout, int first, int count);

} // namespace backend_cuda
