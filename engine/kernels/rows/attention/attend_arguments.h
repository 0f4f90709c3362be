// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// Values that share one scale where they are quantised to 8 bits.
inline constexpr int kQuantGroup = 32;

/// Type of the numbers in which keys and values are kept. Int8: the numbers of a row, -127 to 127,
/// then the float32 scale of each group of kQuantGroup.
enum class KvElement : std::int32_t { F32, BF16, F16, Int8 };

/// Length of a row of keys or values.
[[gnu::always_inline]] constexpr int kvRowBytes(KvElement element, int headDim) {
    if (element == KvElement::Int8)
        return headDim + (headDim + kQuantGroup - 1) / kQuantGroup * 4;
    return headDim * (element == KvElement::F32 ? 4 : 2);
}

/// Neighbouring slots of a cache, ascending in position.
struct KeyRun {
    std::int32_t slot; // the first one
    std::int32_t count;
    /// Of a row's first run: keys of the row's first section that a window hides from the row, all
    /// before its own first key. They keep their places, so that all rows are cut alike.
    std::int32_t lead = 0; // 0 .. kAttendSectionKeys - 1
};

/// The widest head that the kernels take.
inline constexpr int kMaxHeadDim = 256;

/// Number of keys whose scores are weighted together. The sums of attention are cut at multiples of
/// this number, counted from KeyRun::lead places before a row's first key.
inline constexpr int kAttendBlockKeys = 64;

/// Number of keys of a section, counted likewise. Sections can be computed separately and are then
/// joined in their order.
inline constexpr int kAttendSectionKeys = 64;

/// Query heads that share one sweep over the keys.
inline constexpr int kAttendHeads = 8;

/// Keys or values that are widened to float32 at a time.
inline constexpr int kAttendStripKeys = 16;

/// A section's result besides its sums: the highest score, and the sum of the weights e^(score -
/// highest).
struct AttendTotal {
    float highest;
    float weights;
};

/// Sums of weighted values [groupSize, headDim] and their divisors [groupSize].
struct AttendSums {
    float* values;
    AttendTotal* totals;
};

/// Attention of the query heads of one kv head over a row's own keys, or one section of them. Rows
/// that see the same keys may pass their heads together.
struct AttendArguments {
    const float* queries; // [groupSize, headDim], rotated and scaled
    const void* keys;     // this kv head's plane [capacity] of rows of `element`
    const void* values;   // laid out alike
    const KeyRun* runs;   // [runCount], in the order of positions, at least one key in all
    std::int32_t runCount;
    std::int32_t groupSize; // query heads, any number
    std::int32_t headDim;   // 1 .. kMaxHeadDim, fast for multiples of 16
    KvElement element;
    float* scratch;            // [attendScratchFloats(headDim)], of the calling thread alone
    float* out;                // [groupSize, headDim]
    std::int32_t section = -1; // the places [section, section + 1) * kAttendSectionKeys; -1: all
    AttendTotal* totals = nullptr; // [groupSize], of a section only, whose sums stay undivided
    float softCap = 0.0F;          // scores become cap * tanh(score / cap); 0 leaves them unchanged
    std::span<const std::byte> next = {}; // what the thread reads after this call: fetched early
};

/// Length of AttendArguments::scratch. Scores come in fours: some may stand behind the last block.
constexpr int attendScratchFloats(int headDim) {
    return kAttendStripKeys * ((headDim + 15) / 16 * 16) + kAttendHeads * kAttendBlockKeys + 16;
}

/// Attention of some rows, each over all of its keys, where the keys of a row are neighbours, none
/// come before those of the first row, and sections begin at the same slots for all.
struct AttendRows {
    const float* queries; // [rows, groupSize, headDim], rotated and scaled
    const void* keys;     // this kv head's plane [capacity] of rows of `element`
    const void* values;   // laid out alike
    const KeyRun* runs;   // [rows]: the keys of each row, at least one
    std::int32_t rows;
    std::int32_t groupSize; // query heads
    std::int32_t headDim;   // 1 .. kMaxHeadDim
    KvElement element;
    float* scratch; // [attendRowsScratchFloats(rows * groupSize, headDim)], of the calling thread
    float* out;     // [rows, outStride], of which the first [groupSize, headDim] are written
    std::int64_t outStride;
    float softCap = 0.0F; // as in AttendArguments
};

/// Length of AttendRows::scratch: a section's keys, values and weights; queries, sums, and five
/// numbers of each query.
constexpr int attendRowsScratchFloats(int queries, int headDim) {
    const int wide = (headDim + 15) / 16 * 16;
    return kAttendSectionKeys * (2 * wide + 32) + (queries + 31) / 32 * 32 * (2 * wide + 5);
}

} // namespace engine
