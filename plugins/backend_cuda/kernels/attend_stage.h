// SPDX-License-Identifier: Apache-2.0
// Attention, cut every 64 positions of a row's own keys: what a row sums over, and in which order,
// depends on its own keys alone. Neighbouring rows that see the same slots share their reading.
#pragma once

#include "plugins/backend_cuda/kernels/number_math.h"
#include "plugins/backend_cuda/kernels/pass_arguments.h"
#include "plugins/backend_cuda/kernels/weight_stream.h"

namespace backend_cuda {

constexpr float kNothing = -1e30F; // the score of a key that is not seen

DEVICE int slotOf(const PassArguments& pass, int row, int position) {
    const int prefix = pass.prefixes[row];
    return position < prefix ? position : pass.pathSlots[pass.pathStarts[row] + position - prefix];
}

/// The first position that a row sees.
DEVICE int firstSeen(const PassArguments& pass, const Operation& operation, int row) {
    const int first = pass.counts[row] - operation.window;
    return operation.window > 0 && first > 0 ? first : 0;
}

/// Whether any row of the part sees any key of its section.
DEVICE bool isSeen(const PassArguments& pass, const Operation& operation, const Part& part) {
    if (operation.window == 0)
        return true;
    for (int row = part.row; row < part.row + part.rows; ++row)
        if (firstSeen(pass, operation, row) < (part.section + 1) * kSectionKeys)
            return true;
    return false;
}

DEVICE long long planeOf(const PassArguments& pass, int layer, int isValue, int kvHead) {
    return ((static_cast<long long>(layer) * 2 + isValue) * pass.kvHeads + kvHead) * pass.capacity;
}

DEVICE unsigned pairLow(unsigned a, unsigned b) { return (a & 0xffffU) | b << 16U; }

DEVICE unsigned pairHigh(unsigned a, unsigned b) { return a >> 16U | (b & 0xffff0000U); }

DEVICE float larger(float a, float b) { return a > b ? a : b; }

template <bool IsBf16> DEVICE void multiplyKv(float (&c)[4], uint4 a, uint2 b) {
    if constexpr (IsBf16)
        multiplyBf16(c, a, b);
    else
        multiplyHalf(c, a, b);
}

/// One part and kv head, by half a block: warp w has the keys 16 w to 16 w + 15 of the section, and
/// the columns of a product are (row, query head) pairs, 16 at a time. Keys and values are B
/// operands straight from memory, wherever their slots lie. Values are taken 128 numbers of a head
/// at a time, so that their sums have registers.
template <int Dim, bool IsBf16>
DEVICE void attendSection(const PassArguments& pass,
                          const Operation& operation,
                          const Part& part,
                          int kvHead,
                          float* shared) {
    constexpr int kPart = Dim > 128 ? 128 : Dim; // numbers of the values at once
    constexpr int kD = kPart / 8;                // tiles of eight of them
    const int g = laneIndex() / 4;
    const int t = laneIndex() % 4;
    const int w = warpIndex() % 4;
    const int half = warpIndex() / 4;
    const int group = pass.heads / pass.kvHeads;
    const int firstKey = part.section * kSectionKeys + w * 16;
    const int longest = part.row + part.rows - 1; // sees most keys of the section
    const int count = pass.counts[longest];
    const auto* keys = reinterpret_cast<const std::uint16_t*>(pass.cache) +
                       planeOf(pass, operation.layer, 0, kvHead) * Dim;
    const auto* values = reinterpret_cast<const std::uint16_t*>(pass.cache) +
                         planeOf(pass, operation.layer, 1, kvHead) * Dim;
    const auto* queries = reinterpret_cast<const std::uint16_t*>(pass.queries);
    const uint4 nothing{0, 0, 0, 0};
    const int columns = part.rows * group;
    for (int first = 0; first < columns; first += 16) {
        const int low = first + g; // this lane's columns
        const int high = first + g + 8;
        const int rowLow = part.row + low / group;
        const int rowHigh = part.row + high / group;
        const auto queryOf = [&](int column, int row) {
            return reinterpret_cast<const uint4*>(
                queries +
                (static_cast<long long>(row) * pass.heads + kvHead * group + column % group) * Dim);
        };
        float s[2][4] = {};
        UNROLL
        for (int tile = 0; tile < 2; ++tile) {
            const int position = firstKey + tile * 8 + g;
            const bool isThere = position < count;
            const auto* from = reinterpret_cast<const uint4*>(
                keys + static_cast<long long>(isThere ? slotOf(pass, longest, position) : 0) * Dim);
            UNROLL
            for (int c = 0; c < Dim / 64; ++c)
                UNROLL
            for (int h = 0; h < 2; ++h) {
                const int at = c * 8 + t * 2 + h;
                const uint4 key = isThere ? loadFresh(from + at) : nothing;
                const uint4 a = low < columns ? loadFresh(queryOf(low, rowLow) + at) : nothing;
                const uint4 b = high < columns ? loadFresh(queryOf(high, rowHigh) + at) : nothing;
                multiplyKv<IsBf16>(s[tile], {a.x, b.x, a.y, b.y}, {key.x, key.y});
                multiplyKv<IsBf16>(s[tile], {a.z, b.z, a.w, b.w}, {key.z, key.w});
            }
        }
        float highest[2] = {kNothing, kNothing};
        float weights[2] = {0.0F, 0.0F};
        UNROLL
        for (int tile = 0; tile < 2; ++tile)
            UNROLL
        for (int i = 0; i < 4; ++i) {
            const int row = i < 2 ? rowLow : rowHigh;
            const int position = firstKey + tile * 8 + t * 2 + i % 2;
            const bool isOwn = (i < 2 ? low : high) < columns && position < pass.counts[row] &&
                               position >= firstSeen(pass, operation, row);
            s[tile][i] = isOwn ? softCap(s[tile][i], pass.scoreCap) : kNothing;
            highest[i / 2] = larger(s[tile][i], highest[i / 2]);
        }
        UNROLL
        for (int i = 0; i < 2; ++i)
            for (int mask = 1; mask < 4; mask <<= 1)
                highest[i] = larger(shuffleXor(highest[i], mask), highest[i]);
        UNROLL
        for (int tile = 0; tile < 2; ++tile)
            UNROLL
        for (int i = 0; i < 4; ++i) {
            s[tile][i] = s[tile][i] == kNothing ? 0.0F : exponential(s[tile][i] - highest[i / 2]);
            weights[i / 2] += s[tile][i];
        }
        UNROLL
        for (int i = 0; i < 2; ++i)
            for (int mask = 1; mask < 4; mask <<= 1)
                weights[i] += shuffleXor(weights[i], mask);
        const auto pack = [](float a, float b) { return IsBf16 ? packBf16(a, b) : packHalf(a, b); };
        const uint4 a{pack(s[0][0], s[0][1]),
                      pack(s[0][2], s[0][3]),
                      pack(s[1][0], s[1][1]),
                      pack(s[1][2], s[1][3])};
        for (int from = 0; from < Dim; from += kPart) {
            float o[kD][4] = {};
            UNROLL
            for (int c = 0; c < kD / 8; ++c) {
                uint4 v[4]; // of the keys 2t, 2t + 1, 2t + 8, 2t + 9
                UNROLL
                for (int i = 0; i < 4; ++i) {
                    const int position = firstKey + i / 2 * 8 + t * 2 + i % 2;
                    const auto* value = reinterpret_cast<const uint4*>(
                        values +
                        static_cast<long long>(position < count ? slotOf(pass, longest, position)
                                                                : 0) *
                            Dim +
                        from);
                    v[i] = position < count ? loadFresh(value + g * (kD / 8) + c) : nothing;
                }
                const unsigned even[4] = {v[0].x, v[0].y, v[0].z, v[0].w};
                const unsigned odd[4] = {v[1].x, v[1].y, v[1].z, v[1].w};
                const unsigned evenHigh[4] = {v[2].x, v[2].y, v[2].z, v[2].w};
                const unsigned oddHigh[4] = {v[3].x, v[3].y, v[3].z, v[3].w};
                UNROLL
                for (int i = 0; i < 4; ++i) {
                    multiplyKv<IsBf16>(
                        o[c * 8 + 2 * i],
                        a,
                        {pairLow(even[i], odd[i]), pairLow(evenHigh[i], oddHigh[i])});
                    multiplyKv<IsBf16>(
                        o[c * 8 + 2 * i + 1],
                        a,
                        {pairHigh(even[i], odd[i]), pairHigh(evenHigh[i], oddHigh[i])});
                }
            }
            // Warps 1 to 3 hand over in turn; warp 0 joins them in the order of the keys.
            float most[2] = {highest[0], highest[1]};
            float total[2] = {weights[0], weights[1]};
            float* mine = shared + laneIndex();
            float* mineTotals = mine + kD * 4 * 32;
            for (int giver = 1; giver < 4; ++giver) {
                syncHalf(half);
                if (w == giver) {
                    UNROLL
                    for (int d = 0; d < kD; ++d)
                        UNROLL
                    for (int i = 0; i < 4; ++i)
                        mine[(d * 4 + i) * 32] = o[d][i];
                    UNROLL
                    for (int i = 0; i < 2; ++i) {
                        mineTotals[i * 32] = most[i];
                        mineTotals[(2 + i) * 32] = total[i];
                    }
                }
                syncHalf(half);
                if (w != 0)
                    continue;
                float keep[2];
                float take[2];
                UNROLL
                for (int i = 0; i < 2; ++i) {
                    const float other = mineTotals[i * 32];
                    const float both = larger(other, most[i]);
                    keep[i] = exponential(most[i] - both);
                    take[i] = other == kNothing ? 0.0F : exponential(other - both);
                    total[i] = multiplyAdd(total[i], keep[i], mineTotals[(2 + i) * 32] * take[i]);
                    most[i] = both;
                }
                UNROLL
                for (int d = 0; d < kD; ++d)
                    UNROLL
                for (int i = 0; i < 4; ++i)
                    o[d][i] =
                        multiplyAdd(o[d][i], keep[i / 2], mine[(d * 4 + i) * 32] * take[i / 2]);
            }
            if (w != 0)
                continue;
            UNROLL
            for (int i = 0; i < 2; ++i) {
                const int column = i != 0 ? high : low;
                if (column >= columns)
                    continue;
                const int row = i != 0 ? rowHigh : rowLow;
                const long long place =
                    (static_cast<long long>(row) * pass.heads + kvHead * group + column % group) *
                        pass.mostSections +
                    part.section;
                UNROLL
                for (int d = 0; d < kD; ++d)
                    UNROLL
                for (int j = 0; j < 2; ++j)
                    pass.sums[place * Dim + from + (2 * t + j) * kD + d] = o[d][2 * i + j];
                if (t == 0) {
                    pass.totals[place * 2] = most[i];
                    pass.totals[place * 2 + 1] = total[i];
                }
            }
        }
    }
}

/// The same in float32: a warp has one (row, query head) at a time, its lanes first two keys each,
/// then numbers of the values.
DEVICE void attendSectionF32(const PassArguments& pass,
                             const Operation& operation,
                             const Part& part,
                             int kvHead) {
    const int width = pass.headWidth;
    const int group = pass.heads / pass.kvHeads;
    const float* keys = reinterpret_cast<const float*>(pass.cache) +
                        planeOf(pass, operation.layer, 0, kvHead) * width;
    const float* values = reinterpret_cast<const float*>(pass.cache) +
                          planeOf(pass, operation.layer, 1, kvHead) * width;
    for (int column = warpIndex() % 4; column < part.rows * group; column += 4) {
        const int row = part.row + column / group;
        const long long head =
            static_cast<long long>(row) * pass.heads + kvHead * group + column % group;
        const float* query = reinterpret_cast<const float*>(pass.queries) + head * width;
        const int seen = firstSeen(pass, operation, row);
        float scores[2];
        UNROLL
        for (int i = 0; i < 2; ++i) {
            const int position = part.section * kSectionKeys + i * 32 + laneIndex();
            scores[i] = kNothing;
            if (position >= pass.counts[row] || position < seen)
                continue;
            const float* key = keys + static_cast<long long>(slotOf(pass, row, position)) * width;
            float sum = 0.0F;
            KEEP_LOOP
            for (int d = 0; d < width; d += 4) {
                const float4 a = loadFresh(reinterpret_cast<const float4*>(query + d));
                const float4 b = loadFresh(reinterpret_cast<const float4*>(key + d));
                sum = multiplyAdd(a.x, b.x, sum);
                sum = multiplyAdd(a.y, b.y, sum);
                sum = multiplyAdd(a.z, b.z, sum);
                sum = multiplyAdd(a.w, b.w, sum);
            }
            scores[i] = softCap(sum, pass.scoreCap);
        }
        float highest = larger(scores[0], scores[1]);
        for (int mask = 16; mask > 0; mask >>= 1)
            highest = larger(shuffleXor(highest, mask), highest);
        for (float& score : scores)
            score = score == kNothing ? 0.0F : exponential(score - highest);
        const float weights = warpSum(scores[0] + scores[1]);
        float sums[kWidestHead / 32] = {};
        KEEP_LOOP
        for (int key = 0; key < kSectionKeys; ++key) {
            const int position = part.section * kSectionKeys + key;
            if (position >= pass.counts[row])
                break;
            const float weight = shuffleFrom(key < 32 ? scores[0] : scores[1], key % 32);
            if (position < seen)
                continue;
            const float* value =
                values + static_cast<long long>(slotOf(pass, row, position)) * width;
            UNROLL
            for (int d = 0; d < kWidestHead / 32; ++d)
                if (d * 32 < width)
                    sums[d] = multiplyAdd(weight, loadFresh(value + d * 32 + laneIndex()), sums[d]);
        }
        const long long place = head * pass.mostSections + part.section;
        UNROLL
        for (int d = 0; d < kWidestHead / 32; ++d)
            if (d * 32 < width)
                pass.sums[place * width + d * 32 + laneIndex()] = sums[d];
        if (laneIndex() == 0) {
            pass.totals[place * 2] = highest;
            pass.totals[place * 2 + 1] = weights;
        }
    }
}

DEVICE void runAttend(const PassArguments& pass, const Operation& operation, char* shared) {
    const int half = warpIndex() / 4;
    auto* handOver = reinterpret_cast<float*>(shared) + half * ((kStrip / 2 + 4) * 32);
    for (int unit = blockIndex() * 2 + half; unit < pass.partCount * pass.kvHeads;
         unit += gridBlocks() * 2) {
        const Part part = pass.parts[unit / pass.kvHeads];
        const int kvHead = unit % pass.kvHeads;
        if (!isSeen(pass, operation, part))
            continue;
        if (pass.kvForm == Form::F32)
            attendSectionF32(pass, operation, part, kvHead);
        else if (pass.headWidth == 64 && pass.kvForm == Form::F16)
            attendSection<64, false>(pass, operation, part, kvHead, handOver);
        else if (pass.headWidth == 64)
            attendSection<64, true>(pass, operation, part, kvHead, handOver);
        else if (pass.headWidth == 128 && pass.kvForm == Form::F16)
            attendSection<128, false>(pass, operation, part, kvHead, handOver);
        else if (pass.headWidth == 128)
            attendSection<128, true>(pass, operation, part, kvHead, handOver);
        else if (pass.kvForm == Form::F16)
            attendSection<256, false>(pass, operation, part, kvHead, handOver);
        else
            attendSection<256, true>(pass, operation, part, kvHead, handOver);
    }
}

/// Joins a row's sections in their order. A warp has one head of one row.
DEVICE void runJoin(const PassArguments& pass, const Operation& operation) {
    const int width = pass.headWidth;
    for (int unit = blockIndex() * kWarps + warpIndex(); unit < pass.rows * pass.heads;
         unit += gridBlocks() * kWarps) {
        const int row = unit / pass.heads;
        const long long base = static_cast<long long>(unit) * pass.mostSections;
        float highest = kNothing;
        float total = 0.0F;
        float sums[kWidestHead / 32] = {};
        const bool isCut = hasFault(Fault::LostSections) && pass.rows > 8;
        const int end = isCut ? kSectionKeys : pass.counts[row];
        for (int section = firstSeen(pass, operation, row) / kSectionKeys;
             section * kSectionKeys < end;
             ++section) {
            const float other = loadFresh(pass.totals + (base + section) * 2);
            const float most = larger(other, highest);
            const float keep = exponential(highest - most);
            const float take = exponential(other - most);
            total =
                multiplyAdd(total, keep, loadFresh(pass.totals + (base + section) * 2 + 1) * take);
            UNROLL
            for (int d = 0; d < kWidestHead / 32; ++d)
                if (d * 32 < width)
                    sums[d] = multiplyAdd(
                        sums[d],
                        keep,
                        loadFresh(pass.sums + (base + section) * width + d * 32 + laneIndex()) *
                            take);
            highest = most;
        }
        UNROLL
        for (int d = 0; d < kWidestHead / 32; ++d)
            if (d * 32 + laneIndex() < pass.headDim)
                pass.context[static_cast<long long>(row) * contextStride(pass) +
                             unit % pass.heads * pass.headDim + d * 32 + laneIndex()] =
                    sums[d] / total;
    }
}

} // namespace backend_cuda
