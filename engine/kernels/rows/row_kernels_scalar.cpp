// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/rows/narrow_floats.h"
#include "engine/kernels/rows/row_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace engine {

namespace {

constexpr int kLanes = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Lanes i and i + 8, then i + 4, i + 2, i + 1. Changes `lanes` [kLanes].
float sumOfLanes(float* lanes) {
    for (int half = kLanes / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

/// Sum of a[i] * b[i]: 16 lanes, each over every 16th term.
float dot(const float* a, const float* b, int width) {
    float lanes[kLanes] = {};
    for (int i = 0; i < width; ++i)
        lanes[i % kLanes] += a[i] * b[i];
    return sumOfLanes(lanes);
}

void rmsNorm(const float* in, const float* weight, float epsilon, int width, float* out) {
    const float mean = dot(in, in, width) / static_cast<float>(width);
    const float scale = 1.0F / std::sqrt(mean + epsilon);
    for (int i = 0; i < width; ++i)
        out[i] = in[i] * scale * weight[i];
}

void rotate(float* head, const float* cosines, const float* sines, int half) {
    for (int i = 0; i < half; ++i) {
        const float first = head[i];
        const float second = head[i + half];
        head[i] = first * cosines[i] - second * sines[i];
        head[i + half] = second * cosines[i] + first * sines[i];
    }
}

bool addTo(float* stream, const float* added, int width) {
    bool isFinite = true;
    for (int i = 0; i < width; ++i) {
        stream[i] += added[i];
        isFinite = isFinite && std::isfinite(stream[i]);
    }
    return isFinite;
}

SquareSums squareSums(const float* added, const float* stream, int width) {
    return {static_cast<double>(dot(added, added, width)),
            static_cast<double>(dot(stream, stream, width))};
}

void siluMultiply(const float* gate, const float* up, int width, float* out) {
    for (int i = 0; i < width; ++i)
        out[i] = gate[i] / (1.0F + std::exp(-gate[i])) * up[i];
}

void geluMultiply(const float* gate, const float* up, int width, float* out) {
    // x / 2 * (1 + tanh(u)) is x / (1 + e^-2u), with u = sqrt(2 / pi) * (x + 0.044715 x^3).
    constexpr float kTwice = 1.5957691216F;
    for (int i = 0; i < width; ++i) {
        const float x = gate[i];
        const float turned = kTwice * (x + 0.044715F * x * x * x);
        out[i] = x / (1.0F + std::exp(-turned)) * up[i];
    }
}

void softCap(float* values, float cap, int width) {
    for (int i = 0; i < width; ++i)
        values[i] = cap * std::tanh(values[i] / cap);
}

/// The row of a slot, widened to float32 in the scratch memory.
const float* rowOf(const AttendArguments& arguments, const void* plane, std::int32_t slot) {
    const int dim = arguments.headDim;
    const std::byte* row = static_cast<const std::byte*>(plane) +
                           std::int64_t{slot} * kvRowBytes(arguments.element, dim);
    for (int i = 0; i < dim; ++i)
        arguments.scratch[i] = kvNumber(row, arguments.element, dim, i);
    return arguments.scratch;
}

/// Visits the keys of a row, or of its section, in order: visit(place, slot).
template <typename Visit> void forEachKey(const AttendArguments& arguments, Visit visit) {
    int place = arguments.runs->lead;
    for (int run = 0; run < arguments.runCount; ++run)
        for (std::int32_t i = 0; i < arguments.runs[run].count; ++i, ++place)
            if (arguments.section < 0 || place / kAttendSectionKeys == arguments.section)
                visit(place, arguments.runs[run].slot + i);
}

/// One head, key after key. The highest score is computed first, so nothing is rescaled and no
/// score is stored.
void attendHead(const AttendArguments& arguments, int head) {
    const int dim = arguments.headDim;
    const float* query = arguments.queries + head * dim;
    float* out = arguments.out + head * dim;
    float highest = -kInfinity;
    const auto scoreOf = [&](std::int32_t slot) {
        float score = dot(query, rowOf(arguments, arguments.keys, slot), dim);
        if (arguments.softCap > 0.0F)
            softCap(&score, arguments.softCap, 1);
        return score;
    };
    forEachKey(arguments,
               [&](int, std::int32_t slot) { highest = std::fmax(highest, scoreOf(slot)); });
    for (int i = 0; i < dim; ++i)
        out[i] = 0.0F;
    float totals[kLanes] = {};
    forEachKey(arguments, [&](int place, std::int32_t slot) {
        const float weight = std::exp(scoreOf(slot) - highest);
        totals[place % kLanes] += weight;
        const float* values = rowOf(arguments, arguments.values, slot);
        for (int i = 0; i < dim; ++i)
            out[i] += weight * values[i];
    });
    const float total = sumOfLanes(totals);
    if (arguments.totals != nullptr)
        arguments.totals[head] = {highest, total};
    for (int i = 0; i < dim && arguments.totals == nullptr; ++i)
        out[i] /= total;
}

void attend(const AttendArguments& arguments) {
    for (int head = 0; head < arguments.groupSize; ++head)
        attendHead(arguments, head);
}

/// Adds a later section of one head to the sums of the earlier ones.
void joinHead(int headDim, const AttendSums& later, const AttendSums& sums) {
    AttendTotal& total = *sums.totals;
    const AttendTotal other = *later.totals;
    const float highest = total.highest > other.highest ? total.highest : other.highest;
    const float factor = std::exp(total.highest - highest);
    const float otherFactor = std::exp(other.highest - highest);
    for (int i = 0; i < headDim; ++i)
        sums.values[i] = sums.values[i] * factor + later.values[i] * otherFactor;
    total = {highest, total.weights * factor + other.weights * otherFactor};
}

void divideHead(int headDim, const AttendSums& sums) {
    for (int i = 0; i < headDim; ++i)
        sums.values[i] /= sums.totals->weights;
}

void joinSections(int groupSize, int headDim, const AttendSums* sections, int count, float* out) {
    for (int head = 0; head < groupSize; ++head) {
        AttendTotal total = sections->totals[head];
        const AttendSums sums{out + head * headDim, &total};
        std::copy_n(sections->values + head * headDim, headDim, sums.values);
        for (int i = 1; i < count; ++i)
            joinHead(
                headDim, {sections[i].values + head * headDim, sections[i].totals + head}, sums);
        divideHead(headDim, sums);
    }
}

/// Row after row, head after head, section after section.
void attendRows(const AttendRows& arguments) {
    const int dim = arguments.headDim;
    float* section = arguments.scratch + dim; // attend() uses the beginning
    for (int row = 0; row < arguments.rows; ++row)
        for (int head = 0; head < arguments.groupSize; ++head) {
            AttendTotal totals[2];
            const AttendSums sums{arguments.out + row * arguments.outStride + head * dim, totals};
            AttendArguments one{.queries =
                                    arguments.queries + (row * arguments.groupSize + head) * dim,
                                .keys = arguments.keys,
                                .values = arguments.values,
                                .runs = arguments.runs + row,
                                .runCount = 1,
                                .groupSize = 1,
                                .headDim = dim,
                                .element = arguments.element,
                                .scratch = arguments.scratch,
                                .out = sums.values,
                                .section = 0,
                                .totals = sums.totals,
                                .softCap = arguments.softCap};
            attend(one);
            one.out = section;
            one.totals = totals + 1;
            const KeyRun& run = arguments.runs[row];
            while (++one.section * kAttendSectionKeys < run.lead + run.count) {
                attend(one);
                joinHead(dim, {section, totals + 1}, sums);
            }
            divideHead(dim, sums);
        }
}

void toBf16(const float* in, int width, std::uint16_t* out) {
    for (int i = 0; i < width; ++i)
        out[i] = bf16OfFloat(in[i]);
}

void keepIfBetter(float logit, TokenId id, HeadPartial& partial) {
    if (!(logit > partial.logits[kSummaryTop - 1]))
        return;
    int place = kSummaryTop - 1;
    for (; place > 0 && logit > partial.logits[place - 1]; --place) {
        partial.logits[place] = partial.logits[place - 1];
        partial.ids[place] = partial.ids[place - 1];
    }
    partial.logits[place] = logit;
    partial.ids[place] = id;
}

void summarise(const float* logits, int count, TokenId firstId, HeadPartial* partial) {
    for (int i = 0; i < kSummaryTop; ++i) {
        partial->logits[i] = -kInfinity;
        partial->ids[i] = kNoToken;
    }
    partial->highest = -kInfinity;
    partial->isFinite = true;
    for (int i = 0; i < count; ++i) {
        partial->highest = std::fmax(partial->highest, logits[i]);
        partial->isFinite = partial->isFinite && std::isfinite(logits[i]);
        keepIfBetter(logits[i], firstId + i, *partial);
    }
    float lanes[kLanes] = {};
    for (int i = 0; i < count; ++i)
        lanes[i % kLanes] += std::exp(logits[i] - partial->highest);
    partial->sum = sumOfLanes(lanes);
}

/// Sums of the values of each half of a quantised group.
using HalfSums = std::array<std::int32_t, 2>;

/// One group with `count` values; `scales`: its scale, and times the sum.
HalfSums quantizeGroup(const float* in, int count, std::int8_t* values, float* scales) {
    constexpr float kSmallest = 1.0e-36F; // below it 127 / highest overflows: such a group is 0
    float highest = 0.0F;
    bool isFinite = true;
    for (int i = 0; i < count; ++i) {
        isFinite = isFinite && std::isfinite(in[i]);
        highest = std::fmax(highest, std::fabs(in[i]));
    }
    const bool isZero = !isFinite || highest < kSmallest;
    const float inverse = isZero ? 0.0F : 127.0F / highest;
    HalfSums sums = {};
    for (int i = 0; i < kQuantGroup; ++i) {
        const float scaled = isZero || i >= count ? 0.0F : in[i] * inverse;
        values[i] = static_cast<std::int8_t>(std::nearbyint(scaled));
        sums[static_cast<std::size_t>(i / (kQuantGroup / 2))] += values[i];
    }
    scales[0] = isZero ? 0.0F : highest / 127.0F;
    if (!isFinite)
        scales[0] = std::numeric_limits<float>::quiet_NaN();
    scales[1] = scales[0] * static_cast<float>(sums[0] + sums[1]);
    return sums;
}

void quantizeRow(const float* in, int width, const QuantizedRow& out) {
    for (int i = 0; i < width; i += kQuantGroup) {
        const int count = width - i < kQuantGroup ? width - i : kQuantGroup;
        float scales[2];
        const int group = i / kQuantGroup;
        const HalfSums sums = quantizeGroup(in + i, count, out.values + i, scales);
        out.scales[group] = scales[0];
        out.scaledSums[group] = scales[1];
        for (const OffsetSums& each : std::span(out.offsetSums, out.offsetSums + out.kindCount))
            if (each.isByHalves)
                for (const std::size_t half : {0U, 1U})
                    each.sums[2 * group + static_cast<int>(half)] = -each.offset * sums[half];
            else
                each.sums[group] = -each.offset * (sums[0] + sums[1]);
    }
}

void storeKeyValue(const float* row, int headDim, KvElement element, void* slot) {
    if (element == KvElement::BF16)
        toBf16(row, headDim, static_cast<std::uint16_t*>(slot));
    for (int i = 0; i < headDim && element == KvElement::F16; ++i)
        static_cast<std::uint16_t*>(slot)[i] = f16OfFloat(row[i]);
    for (int i = 0; i < headDim && element == KvElement::F32; ++i)
        static_cast<float*>(slot)[i] = row[i];
    std::byte* const to = static_cast<std::byte*>(slot);
    for (int i = 0; i < headDim && element == KvElement::Int8; i += kQuantGroup) {
        const int count = std::min(headDim - i, kQuantGroup);
        std::int8_t values[kQuantGroup];
        float scales[2];
        quantizeGroup(row + i, count, values, scales);
        std::memcpy(to + i, values, static_cast<std::size_t>(count));
        std::memcpy(to + headDim + i / kQuantGroup * 4, scales, sizeof scales[0]);
    }
}

constexpr RowKernels kScalarKernels{rmsNorm,
                                    rotate,
                                    addTo,
                                    squareSums,
                                    siluMultiply,
                                    geluMultiply,
                                    softCap,
                                    attend,
                                    attendRows,
                                    joinSections,
                                    storeKeyValue,
                                    summarise,
                                    quantizeRow,
                                    toBf16};

} // namespace

const RowKernels& scalarRowKernels() { return kScalarKernels; }

} // namespace engine
