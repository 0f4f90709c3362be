// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/pass_tables.h"

#include "engine/base/to_size.h"

#include <algorithm>

namespace backend_cuda {

using namespace engine;

namespace {

/// Slot of the key at a position.
int slotOf(const LayoutTables& tables, int row, int position) {
    const int prefix = tables.prefixes[toSize(row)];
    return position < prefix
               ? position
               : tables.pathSlots[toSize(tables.pathStarts[toSize(row)] + position - prefix)];
}

/// Whether the keys of a row in a section are a beginning of the next row's.
bool goesOn(const LayoutTables& tables, int row, int section) {
    const int first = section * kSectionKeys;
    const int end = std::min(tables.counts[toSize(row)], first + kSectionKeys);
    if (tables.counts[toSize(row) + 1] < end)
        return false;
    const int shared = std::min(tables.prefixes[toSize(row)], tables.prefixes[toSize(row) + 1]);
    for (int position = std::max(first, shared); position < end; ++position)
        if (slotOf(tables, row, position) != slotOf(tables, row + 1, position))
            return false;
    return true;
}

} // namespace

LayoutTables tablesOf(const AttentionLayout& layout, int first, int count) {
    LayoutTables tables;
    for (int row = first; row < first + count; ++row) {
        const Position prefix = layout.prefixLength(row);
        tables.counts.push_back(layout.position(row) + 1);
        tables.prefixes.push_back(prefix);
        tables.pathStarts.push_back(static_cast<int>(tables.pathSlots.size()));
        int position = prefix;
        for (const VisibleSlot& seen : layout.path(row)) {
            ENGINE_CHECK(seen.position == position++,
                         "a key at position {} where {} was expected",
                         seen.position,
                         position - 1);
            tables.pathSlots.push_back(seen.slot);
        }
        tables.mostSections =
            std::max(tables.mostSections, (layout.position(row) + kSectionKeys) / kSectionKeys);
    }
    for (int section = 0; section < tables.mostSections; ++section)
        for (int row = 0; row < count;) {
            int rows = 1;
            const bool isSeen = tables.counts[toSize(row)] > section * kSectionKeys;
            while (isSeen && row + rows < count && goesOn(tables, row + rows - 1, section))
                ++rows;
            if (isSeen)
                tables.parts.push_back({row, rows, section});
            row += rows;
        }
    return tables;
}

} // namespace backend_cuda
