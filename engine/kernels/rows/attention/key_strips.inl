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
    std::int32_t used;  // keys of the current run that were taken
    std::int32_t empty; // places of the next block before its first key
    std::int64_t left;  // places that may still be taken
};

/// Where a section begins, or the row.
inline KeyCursor firstKey(const AttendArguments& arguments) {
    const std::int32_t lead = arguments.runs->lead;
    const bool isFirst = arguments.section <= 0;
    KeyCursor cursor{arguments.runs,
                     arguments.runs + arguments.runCount,
                     0,
                     isFirst ? lead : 0,
                     arguments.section < 0 ? INT64_MAX : kAttendSectionKeys};
    std::int64_t skipped =
        isFirst ? 0 : std::int64_t{arguments.section} * kAttendSectionKeys - lead;
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

/// The slots of a block of keys.
struct Block {
    std::int32_t slots[kAttendBlockKeys];
    int count;
    int empty; // places before the first one
};

/// The next block, with no keys where none are left.
inline void takeBlock(KeyCursor& cursor, Block& block) {
    const int places =
        cursor.left < kAttendBlockKeys ? static_cast<int>(cursor.left) : kAttendBlockKeys;
    const int most = places - cursor.empty;
    int count = 0;
    while (count < most && cursor.run != cursor.end) {
        const KeyRun run = *cursor.run;
        for (; count < most && cursor.used < run.count; ++cursor.used)
            block.slots[count++] = run.slot + cursor.used;
        if (cursor.used >= run.count) {
            ++cursor.run;
            cursor.used = 0;
        }
    }
    block.count = count;
    block.empty = cursor.empty;
    cursor.left -= cursor.empty + count;
    cursor.empty = 0;
}

/// The scale of the group that holds number `at` of a row of Int8.
inline float scaleOf(const void* row, int dim, int at) {
    float scale;
    __builtin_memcpy(&scale, static_cast<const char*>(row) + dim + at / kQuantGroup * 4, 4);
    return scale;
}

/// A register of a row of `dim` numbers of kElement.
template <KvElement kElement> inline Piece loadRowPiece(const void* row, int dim, int at) {
    if constexpr (kElement == KvElement::F32)
        return loadPiece(static_cast<const float*>(row) + at);
    else if constexpr (kElement == KvElement::BF16)
        return widenBf16(static_cast<const std::uint16_t*>(row) + at);
    else if constexpr (kElement == KvElement::F16)
        return widenF16(static_cast<const std::uint16_t*>(row) + at);
    else
        return widenBytes(static_cast<const std::int8_t*>(row) + at, scaleOf(row, dim, at));
}

/// Widens a row to [dim rounded up to whole lanes]; what is beyond `dim` becomes 0.
template <KvElement kElement> inline void widenRowOf(const void* row, int dim, float* to) {
    constexpr int kBytes = kvRowBytes(kElement, kLanes) / kLanes;
    const int whole = dim / kLanes * kLanes;
    for (int i = 0; i < whole; i += kPieceLanes)
        storePiece(to + i, loadRowPiece<kElement>(row, dim, i));
    if (whole == dim)
        return;
    char last[kvRowBytes(kElement, kLanes)] = {}; // a row of kLanes numbers
    __builtin_memcpy(last,
                     static_cast<const char*>(row) + whole * kBytes,
                     static_cast<std::size_t>((dim - whole) * kBytes));
    if constexpr (kElement == KvElement::Int8) {
        const float scale = scaleOf(row, dim, whole);
        __builtin_memcpy(last + kLanes, &scale, sizeof scale);
    }
    for (int i = 0; i < kLanes; i += kPieceLanes)
        storePiece(to + whole + i, loadRowPiece<kElement>(last, kLanes, i));
}

inline void widenRow(const void* row, int dim, KvElement element, float* to) {
    switch (element) {
    case KvElement::F32:
        return widenRowOf<KvElement::F32>(row, dim, to);
    case KvElement::BF16:
        return widenRowOf<KvElement::BF16>(row, dim, to);
    case KvElement::F16:
        return widenRowOf<KvElement::F16>(row, dim, to);
    case KvElement::Int8:
        return widenRowOf<KvElement::Int8>(row, dim, to);
    }
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
    const std::int64_t rowBytes = kvRowBytes(arguments.element, strip.dim);
    for (int i = 0; i < strip.count; ++i) {
        strip.rows[i] = static_cast<const char*>(plane) + slots[i] * rowBytes;
        if constexpr (kElement == KvElement::F32) {
            if (arguments.element == KvElement::F32)
                continue;
            float* wide = arguments.scratch + i * stride;
            widenRow(strip.rows[i], strip.dim, arguments.element, wide);
            strip.rows[i] = wide;
        }
    }
    for (int i = strip.count; i % kScoreKeys != 0; ++i)
        strip.rows[i] = strip.rows[strip.count - 1];
    return strip;
}

/// Writes a row as Int8.
inline void quantizeKeyValue(const float* row, int dim, void* slot) {
    for (int i = 0; i < dim; i += kQuantGroup) {
        const int left = dim - i;
        const int count = left < kQuantGroup ? left : kQuantGroup;
        std::int8_t values[kQuantGroup];
        float scales[2];
        quantizeGroup(loadUpTo(row + i, left),
                      left > kLanes ? loadUpTo(row + i + kLanes, left - kLanes) : broadcast(0.0F),
                      values,
                      scales);
        char* to = static_cast<char*>(slot);
        __builtin_memcpy(to + i, values, static_cast<std::size_t>(count));
        __builtin_memcpy(to + dim + i / kQuantGroup * 4, scales, sizeof scales[0]);
    }
}

void storeKeyValue(const float* row, int headDim, KvElement element, void* slot) {
    if (element == KvElement::Int8)
        return quantizeKeyValue(row, headDim, slot);
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
