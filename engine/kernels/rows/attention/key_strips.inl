// SPDX-License-Identifier: Apache-2.0
// Included by attend_bodies.inl: finding, widening and storing keys and values, on the lanes that
// the including file defines.
#pragma once

#include "engine/kernels/rows/lane_math.inl"

namespace engine {

namespace {

constexpr int kScoreKeys = 4; // dot products that are summed up together

/// Walks through the runs of a row's keys.
struct KeyCursor {
    const KeyRun* run;
    const KeyRun* end;
    std::int32_t used; // keys of the current run that were taken
    std::int64_t left; // keys that may still be taken
};

/// Where a section begins, or the row.
inline KeyCursor firstKey(const AttendArguments& arguments) {
    KeyCursor cursor{arguments.runs,
                     arguments.runs + arguments.runCount,
                     0,
                     arguments.section < 0 ? INT64_MAX : kAttendSectionKeys};
    std::int64_t skipped =
        arguments.section < 0 ? 0 : std::int64_t{arguments.section} * kAttendSectionKeys;
    while (cursor.run != cursor.end && skipped >= cursor.run->count) {
        skipped -= cursor.run->count;
        ++cursor.run;
    }
    cursor.used = static_cast<std::int32_t>(skipped);
    return cursor;
}

/// Rows of neighbouring keys or values.
struct Strip {
    const void* rows[kAttendStripKeys]; // beyond `count` the last one, up to whole kScoreKeys
    int count;
    int dim;
};

/// The slots of the next block of keys, to [kAttendBlockKeys]; returns how many there are.
inline int takeSlots(KeyCursor& cursor, std::int32_t* slots) {
    const int most =
        cursor.left < kAttendBlockKeys ? static_cast<int>(cursor.left) : kAttendBlockKeys;
    int count = 0;
    while (count < most && cursor.run != cursor.end) {
        const KeyRun run = *cursor.run;
        for (; count < most && cursor.used < run.count; ++cursor.used)
            slots[count++] = run.slot + cursor.used;
        if (cursor.used >= run.count) {
            ++cursor.run;
            cursor.used = 0;
        }
    }
    cursor.left -= count;
    return count;
}

inline Piece widenPiece(const std::uint16_t* from, KvElement element) {
    return element == KvElement::BF16 ? widenBf16(from) : widenF16(from);
}

/// To [width rounded up to whole lanes].
inline void widenRow(const std::uint16_t* from, int width, KvElement element, float* to) {
    int i = 0;
    for (; i + kPieceLanes <= width; i += kPieceLanes)
        storePiece(to + i, widenPiece(from + i, element));
    if (i == width && i % kLanes == 0)
        return;
    std::uint16_t part[kLanes] = {};
    for (int k = 0; i + k < width; ++k)
        part[k] = from[i + k];
    for (int k = 0; (i + k) % kLanes != 0 || k == 0; k += kPieceLanes)
        storePiece(to + i + k, widenPiece(part + k, element));
}

/// A register of a strip's row, whose numbers are of kElement.
template <KvElement kElement> inline Piece loadRowPiece(const void* row, int at) {
    if constexpr (kElement == KvElement::F32)
        return loadPiece(static_cast<const float*>(row) + at);
    else if constexpr (kElement == KvElement::BF16)
        return widenBf16(static_cast<const std::uint16_t*>(row) + at);
    else
        return widenF16(static_cast<const std::uint16_t*>(row) + at);
}

/// The rows of some slots of a plane as numbers of kElement: in the plane itself or, widened to
/// float32, in the scratch memory.
template <KvElement kElement>
inline Strip makeStrip(const AttendArguments& arguments,
                       const void* plane,
                       const std::int32_t* slots,
                       int count) {
    Strip strip;
    strip.dim = arguments.headDim;
    strip.count = count < kAttendStripKeys ? count : kAttendStripKeys;
    const int stride = (strip.dim + kLanes - 1) / kLanes * kLanes;
    for (int i = 0; i < strip.count; ++i) {
        const std::int64_t at = static_cast<std::int64_t>(slots[i]) * strip.dim;
        if (arguments.element == KvElement::F32) {
            strip.rows[i] = static_cast<const float*>(plane) + at;
            continue;
        }
        const std::uint16_t* narrow = static_cast<const std::uint16_t*>(plane) + at;
        if constexpr (kElement != KvElement::F32) {
            strip.rows[i] = narrow;
            continue;
        }
        float* wide = arguments.scratch + i * stride;
        widenRow(narrow, strip.dim, arguments.element, wide);
        strip.rows[i] = wide;
    }
    for (int i = strip.count; i % kScoreKeys != 0; ++i)
        strip.rows[i] = strip.rows[strip.count - 1];
    return strip;
}

void storeKeyValue(const float* row, int headDim, KvElement element, void* slot) {
    for (int i = 0; i < headDim; i += kLanes) {
        const int left = headDim - i;
        const Lanes x = loadUpTo(row + i, left);
        if (element == KvElement::F32) {
            storeUpTo(static_cast<float*>(slot) + i, left, x);
            continue;
        }
        std::uint16_t part[kLanes];
        std::uint16_t* to = static_cast<std::uint16_t*>(slot) + i;
        if (element == KvElement::BF16)
            storeBf16(left >= kLanes ? to : part, x);
        else
            storeF16(left >= kLanes ? to : part, x);
        for (int k = 0; left < kLanes && k < left; ++k)
            to[k] = part[k];
    }
}

} // namespace

} // namespace engine
