// SPDX-License-Identifier: Apache-2.0
// The bodies of the row kernels, included once by each file for one instruction set after it has
// defined its `Lanes` and what can be done with them. Everything here is in the unnamed namespace.
#include "engine/kernels/rows/attention/attend_bodies.inl"
#include "engine/kernels/rows/attention/attend_rows.inl"
#include "engine/kernels/rows/attention/join_sections.inl"
#include "engine/kernels/rows/lane_math.inl"
#include "engine/kernels/rows/summary_bodies.inl"

namespace engine {

namespace {

void rmsNorm(const float* in, const float* weight, float epsilon, int width, float* out) {
    const float mean = sumOfSquares(in, width) / static_cast<float>(width);
    const Lanes scale = broadcast(1.0F / squareRoot(mean + epsilon));
    for (int i = 0; i < width; i += kLanes) {
        const Lanes scaled = product(loadUpTo(in + i, width - i), scale);
        storeUpTo(out + i, width - i, product(scaled, loadUpTo(weight + i, width - i)));
    }
}

void rotate(float* head, const float* cosines, const float* sines, int half) {
    for (int i = 0; i < half; i += kLanes) {
        const int left = half - i;
        const Lanes first = loadUpTo(head + i, left);
        const Lanes second = loadUpTo(head + half + i, left);
        const Lanes cosine = loadUpTo(cosines + i, left);
        const Lanes sine = loadUpTo(sines + i, left);
        storeUpTo(head + i, left, minusProduct(product(first, cosine), second, sine));
        storeUpTo(head + half + i, left, productPlus(second, cosine, product(first, sine)));
    }
}

bool addTo(float* stream, const float* added, int width) {
    Lanes probe = broadcast(0.0F); // 0 times what is not finite is NaN
    for (int i = 0; i < width; i += kLanes) {
        const int left = width - i;
        const Lanes x = sum(loadUpTo(stream + i, left), loadUpTo(added + i, left));
        probe = productPlus(x, broadcast(0.0F), probe);
        storeUpTo(stream + i, left, x);
    }
    return !hasNan(probe);
}

SquareSums squareSums(const float* added, const float* stream, int width) {
    return {static_cast<double>(sumOfSquares(added, width)),
            static_cast<double>(sumOfSquares(stream, width))};
}

void siluMultiply(const float* gate, const float* up, int width, float* out) {
    for (int i = 0; i < width; i += kLanes) {
        const int left = width - i;
        const Lanes x = loadUpTo(gate + i, left);
        const Lanes decay = exponential(difference(broadcast(0.0F), x));
        const Lanes silu = quotient(x, sum(broadcast(1.0F), decay));
        storeUpTo(out + i, left, product(silu, loadUpTo(up + i, left)));
    }
}

void geluMultiply(const float* gate, const float* up, int width, float* out) {
    // x / 2 * (1 + tanh(u)) is x / (1 + e^-2u), with u = sqrt(2 / pi) * (x + 0.044715 x^3).
    const Lanes twice = broadcast(-1.5957691216F);
    for (int i = 0; i < width; i += kLanes) {
        const int left = width - i;
        const Lanes x = loadUpTo(gate + i, left);
        const Lanes cubed = product(product(x, x), x);
        const Lanes inner = productPlus(cubed, broadcast(0.044715F), x);
        const Lanes decay = exponential(product(inner, twice));
        const Lanes gelu = quotient(x, sum(broadcast(1.0F), decay));
        storeUpTo(out + i, left, product(gelu, loadUpTo(up + i, left)));
    }
}

void softCap(float* values, float cap, int width) {
    for (int i = 0; i < width; i += kLanes)
        storeUpTo(values + i, width - i, capped(loadUpTo(values + i, width - i), cap));
}

void quantizeRow(const float* in, int width, const QuantizedRow& out) {
    for (int i = 0; i < width; i += kQuantGroup) {
        const int left = width - i;
        const Lanes low = loadUpTo(in + i, left);
        const Lanes high =
            left > kLanes ? loadUpTo(in + i + kLanes, left - kLanes) : broadcast(0.0F);
        float scales[2];
        const int group = i / kQuantGroup;
        const HalfSums sums = quantizeGroup(low, high, out.values + i, scales);
        out.scales[group] = scales[0];
        out.scaledSums[group] = scales[1];
        for (int kind = 0; kind < out.kindCount; ++kind) {
            const OffsetSums& each = out.offsetSums[kind];
            if (each.isByHalves) {
                each.sums[2 * group] = -each.offset * sums.low;
                each.sums[2 * group + 1] = -each.offset * sums.high;
            } else {
                each.sums[group] = -each.offset * (sums.low + sums.high);
            }
        }
    }
}

void toBf16(const float* in, int width, std::uint16_t* out) {
    storeKeyValue(in, width, KvElement::BF16, out);
}

constexpr RowKernels kLaneKernels{rmsNorm,
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

} // namespace engine
