// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/kernels/rows/attention/attend_arguments.h"
#include "engine/kernels/rows/head_partials.h"

#include <cstdint>

namespace engine {

/// The sums that take the offset of quantised weights out of their products with a row.
struct OffsetSums {
    std::int32_t offset; // of the weights
    bool isByHalves;     // one for each half of a group
    std::int32_t* sums;  // [groups, or 2 * groups]: -offset * sum of the values
};

/// The destination of a quantised row: 8 bits for each value, a scale for each group of
/// kQuantGroup.
struct QuantizedRow {
    std::int8_t* values; // [width rounded up to whole groups], the rest 0
    float* scales;       // [groups]: largest magnitude / 127; NaN where a value is not finite
    float* scaledSums;   // [groups]: scale * sum of the group's values
    const OffsetSums* offsetSums; // [kindCount]
    int kindCount;
};

/// Sums of squares of a sublayer's output and of the stream that it is about to be added to.
struct SquareSums {
    double added;
    double stream;
};

/// Kernels on rows of float32, one set per instruction set; each result depends only on its own
/// row: not on the number of rows, on threads, or on a row's address. Any width is allowed.
/// Alignment is not required, but 64 bytes is faster. Numbers that are not finite are propagated as
/// in IEEE 754 and are otherwise harmless. Thread: any; no shared state, no allocation.
struct RowKernels {
    /// out = in / rms(in) * weight; `out` may be `in`. Source: arXiv 1910.07467.
    void (*rmsNorm)(const float* in, const float* weight, float epsilon, int width, float* out);

    /// Turns the pairs (i, i + half) of head [2 * half] by the angles whose cosines and sines
    /// [half] are given. Source: arXiv 2104.09864, half-split layout.
    void (*rotate)(float* head, const float* cosines, const float* sines, int half);

    /// stream += added; returns whether the result is finite everywhere.
    bool (*addTo)(float* stream, const float* added, int width);

    /// Float32 sums in a fixed order.
    SquareSums (*squareSums)(const float* added, const float* stream, int width);

    /// out = gate / (1 + exp(-gate)) * up; `out` may be either.
    void (*siluMultiply)(const float* gate, const float* up, int width, float* out);

    /// out = gelu(gate) * up, GELU by its formula with tanh (arXiv 1606.08415); `out` may be
    /// either.
    void (*geluMultiply)(const float* gate, const float* up, int width, float* out);

    /// Values become cap * tanh(value / cap); `cap` is above 0.
    void (*softCap)(float* values, float cap, int width);

    /// Softmax attention. The result depends only on the sequence of keys and values and on its
    /// KeyRun::lead, never on its division into runs or its slots: keys are processed in blocks of
    /// kAttendBlockKeys, and blocks are joined in their order.
    void (*attend)(const AttendArguments& arguments);

    /// attend() for many rows at once, with the same bits: keys and values are read once for all.
    void (*attendRows)(const AttendRows& arguments);

    /// Attention over all keys of a row from that over each of their sections, [count], at least
    /// one, joined in their order; to out [groupSize, headDim].
    void (*joinSections)(
        int groupSize, int headDim, const AttendSums* sections, int count, float* out);

    /// Writes `row` [headDim] into a slot as `element`, rounded to nearest even; NaN stays NaN.
    /// Int8 has the bits of quantizeRow, so what is not finite makes its whole group NaN.
    void (*storeKeyValue)(const float* row, int headDim, KvElement element, void* slot);

    /// Summary of a tile of logits [count], whose first one has the id `firstId`.
    void (*summarise)(const float* logits, int count, TokenId firstId, HeadPartial* partial);

    /// Same bits in every set: values rounded to nearest even, never beyond +-127.
    void (*quantizeRow)(const float* in, int width, const QuantizedRow& out);

    /// Same bits in every set: rounded to nearest even; NaN stays NaN.
    void (*toBf16)(const float* in, int width, std::uint16_t* out);
};

/// The reference: plain loops.
const RowKernels& scalarRowKernels();

/// For AVX2, FMA and F16C; null where not compiled. The caller checks the processor.
const RowKernels* avx2RowKernels();

/// For AVX-512 F, BW, VL, DQ, BF16 and VNNI; null where not compiled. The caller checks the
/// processor. Gives the same bits as avx2RowKernels().
const RowKernels* avx512RowKernels();

} // namespace engine
