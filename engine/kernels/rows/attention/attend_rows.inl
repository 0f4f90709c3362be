// SPDX-License-Identifier: Apache-2.0
// Included by row_bodies.inl: attention of many rows that see mostly the same keys, all from the
// first one on or each through its window, as the rows of a prompt do. Keys and values are widened
// once for all of them. A lane holds a query, so no sum crosses lanes; but all numbers are summed
// in the order of attend_bodies.inl, of which the result has the bits.
#pragma once

#include "engine/kernels/rows/attention/key_strips.inl"

namespace engine {

namespace {

/// Numbers of some queries and keys: one step of a sum.
template <int kCount> struct LaneSums { Lanes at[kCount]; };

template <int kCount>
[[gnu::always_inline]] inline LaneSums<kCount> sumOf(const LaneSums<kCount>& a,
                                                     const LaneSums<kCount>& b) {
    LaneSums<kCount> result;
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
        result.at[i] = sum(a.at[i], b.at[i]);
    return result;
}

/// Sum of term(0) to term(15), in the order in which sumOfLanes sums lanes.
template <int kStep = 1, typename Term>
[[gnu::always_inline]] inline auto sumOfTerms(const Term& term, int first = 0) {
    if constexpr (kStep == kLanes)
        return term(first);
    else
        return sumOf(sumOfTerms<2 * kStep>(term, first),
                     sumOfTerms<2 * kStep>(term, first + kStep));
}

/// The memory that a call works in, all of it in AttendRows::scratch.
struct RowsSweep {
    const AttendRows& arguments;
    int stride;     // the head's width in whole lanes
    int queryCount; // rows * heads
    float* keys;    // [kAttendSectionKeys, stride], a section widened
    float* values;  // likewise
    float* weights; // [kAttendSectionKeys, kQueryVectors, kLanes]: scores, then their weights
    float* queries; // [vectors, stride, kLanes]
    float* sums;    // [vectors, stride, kLanes], of the sections so far
    float* highest; // [vectors, kLanes], likewise
    float* totals;  // [vectors, kLanes], likewise
    float* begins;  // [vectors, kLanes]: the section's first key that a query sees
    float* ends;    // [vectors, kLanes]: one behind the last such key; 0 where it sees none
    float* starts;  // [vectors, kLanes]: 1 where it saw no key of the sections before, else 0
};

/// Places of a section.
struct PlaceRange {
    int begin;
    int end;

    bool holds(int place) const { return place >= begin && place < end; }
};

/// Some vectors of queries in a section.
struct RowsTile {
    const RowsSweep& sweep;
    int vector;      // the first one
    PlaceRange seen; // by one of the queries
    PlaceRange all;  // seen by all of them; within `seen`

    float* row(float* rows) const { return rows + vector * kLanes; }

    float* plane(float* planes) const { return planes + vector * sweep.stride * kLanes; }
};

inline int wholeLanes(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// `seen` where a query of a vector sees the key, `hidden` elsewhere.
[[gnu::always_inline]] inline Lanes
whereSeen(const RowsTile& tile, int v, int key, Lanes seen, Lanes hidden) {
    const Lanes place = broadcast(static_cast<float>(key));
    const Lanes begun =
        whereAbove(load(tile.row(tile.sweep.begins) + v * kLanes), place, hidden, seen);
    return whereAbove(load(tile.row(tile.sweep.ends) + v * kLanes), place, begun, hidden);
}

/// What the queries of a vector hold behind a section: what it alone gave where it is their first,
/// `joined` where others were before, and `before` where they see nothing of it.
[[gnu::always_inline]] inline Lanes
afterSection(const RowsTile& tile, int v, Lanes alone, Lanes joined, Lanes before) {
    const Lanes none = broadcast(0.0F);
    const Lanes now =
        whereAbove(load(tile.row(tile.sweep.starts) + v * kLanes), none, alone, joined);
    return whereAbove(load(tile.row(tile.sweep.ends) + v * kLanes), none, now, before);
}

/// Keys or values of some places of the section that begins with a slot, to those places.
inline void
widenSection(const RowsSweep& sweep, const void* plane, int slot, PlaceRange places, float* to) {
    const AttendRows& arguments = sweep.arguments;
    const int dim = arguments.headDim;
    const std::int64_t rowBytes = kvRowBytes(arguments.element, dim);
    const char* row = static_cast<const char*>(plane) + (slot + places.begin) * rowBytes;
    to += places.begin * sweep.stride;
    for (int key = places.begin; key < places.end; ++key, row += rowBytes, to += sweep.stride)
        widenRow(row, dim, arguments.element, to);
}

/// Scores of kRowKeys keys: what `term` sums is each sixteenth number of the head.
inline void scoreKeys(const RowsTile& tile, int key) {
    const int stride = tile.sweep.stride;
    const float* queries = tile.plane(tile.sweep.queries);
    const float* keys = tile.sweep.keys + key * stride;
    const auto term = [&](int first) __attribute__((always_inline)) {
        LaneSums<kQueryVectors * kRowKeys> sums;
#pragma GCC unroll 16
        for (Lanes& each : sums.at)
            each = broadcast(0.0F);
        for (int i = first; i < stride; i += kLanes) {
            Lanes query[kQueryVectors];
#pragma GCC unroll 4
            for (int v = 0; v < kQueryVectors; ++v)
                query[v] = load(queries + (v * stride + i) * kLanes);
#pragma GCC unroll 8
            for (int k = 0; k < kRowKeys; ++k) {
                const Lanes number = broadcast(keys[k * stride + i]);
#pragma GCC unroll 4
                for (int v = 0; v < kQueryVectors; ++v) {
                    Lanes& at = sums.at[k * kQueryVectors + v];
                    at = productPlus(query[v], number, at);
                }
            }
        }
        return sums;
    };
    const LaneSums<kQueryVectors* kRowKeys> scores = sumOfTerms(term);
#pragma GCC unroll 16
    for (int i = 0; i < kQueryVectors * kRowKeys; ++i)
        store(tile.sweep.weights + (key * kQueryVectors + i) * kLanes, scores.at[i]);
}

/// What the queries of a vector multiply their earlier sums and those of the section with.
struct JoinFactors {
    Lanes earlier[kQueryVectors];
    Lanes section[kQueryVectors];
};

/// Joins a section's highest scores and totals to those of the sections before it.
inline void joinTotals(const RowsTile& tile, int v, Lanes now, Lanes total, JoinFactors& factors) {
    float* highestAt = tile.row(tile.sweep.highest) + v * kLanes;
    float* totalAt = tile.row(tile.sweep.totals) + v * kLanes;
    const Lanes before = load(highestAt);
    const Lanes earlier = load(totalAt);
    const Lanes highest = whereAbove(before, now, before, now);
    const Lanes lower =
        exponential(whereAbove(before, now, difference(now, highest), difference(before, highest)));
    const Lanes one = broadcast(1.0F);
    factors.earlier[v] = whereAbove(before, now, one, lower);
    factors.section[v] = whereAbove(before, now, lower, one);
    const Lanes joined =
        sum(product(earlier, factors.earlier[v]), product(total, factors.section[v]));
    store(highestAt, afterSection(tile, v, now, highest, before));
    store(totalAt, afterSection(tile, v, total, joined, earlier));
}

/// Turns the scores of one vector of queries into weights.
inline void weighRows(const RowsTile& tile, int v, JoinFactors& factors) {
    float* const weights = tile.sweep.weights + v * kLanes;
    const auto at = [&](int key) { return weights + key * kQueryVectors * kLanes; };
    const float softCap = tile.sweep.arguments.softCap;
    for (int key = tile.seen.begin; key < tile.seen.end && softCap > 0.0F; ++key)
        store(at(key), capped(load(at(key)), softCap));
    const int begin = tile.seen.begin / kLanes * kLanes;
    const int end = wholeLanes(tile.seen.end);
    for (int key = begin; key < end; ++key)
        if (!tile.all.holds(key))
            store(at(key), whereSeen(tile, v, key, load(at(key)), broadcast(-kInfinity)));
    Lanes highest = broadcast(-kInfinity);
    for (int key = tile.seen.begin; key < tile.seen.end; ++key)
        highest = higher(load(at(key)), highest);
    const auto term = [&](int first) {
        LaneSums<1> total = {{broadcast(0.0F)}};
        for (int key = begin + first; key < end; key += kLanes) {
            const Lanes weight = exponential(difference(load(at(key)), highest));
            store(at(key), weight);
            total.at[0] = sum(total.at[0], weight);
        }
        return total;
    };
    joinTotals(tile, v, highest, sumOfTerms(term).at[0], factors);
}

/// Adds a key's weighted values, [kRowNumbers] of them, to the sums of those queries that see it.
template <bool kIsSeenByAll>
inline void
addKey(const RowsTile& tile, int key, int at, Lanes (&sums)[kRowNumbers][kQueryVectors]) {
    const float* values = tile.sweep.values + key * tile.sweep.stride + at;
    Lanes weights[kQueryVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kQueryVectors; ++v)
        weights[v] = load(tile.sweep.weights + (key * kQueryVectors + v) * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRowNumbers; ++i) {
        const Lanes value = broadcast(values[i]);
#pragma GCC unroll 4
        for (int v = 0; v < kQueryVectors; ++v) {
            const Lanes added = productPlus(weights[v], value, sums[i][v]);
            if constexpr (kIsSeenByAll)
                sums[i][v] = added;
            else
                sums[i][v] = whereSeen(tile, v, key, added, sums[i][v]);
        }
    }
}

/// Sums of the section's weighted values for kRowNumbers numbers of the head, joined to the earlier
/// ones.
inline void addRows(const RowsTile& tile, int at, const JoinFactors& factors) {
    Lanes sums[kRowNumbers][kQueryVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kRowNumbers; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < kQueryVectors; ++v)
            sums[i][v] = broadcast(0.0F);
    for (int key = tile.seen.begin; key < tile.all.begin; ++key)
        addKey<false>(tile, key, at, sums);
    for (int key = tile.all.begin; key < tile.all.end; ++key)
        addKey<true>(tile, key, at, sums);
    for (int key = tile.all.end; key < tile.seen.end; ++key)
        addKey<false>(tile, key, at, sums);
    const int stride = tile.sweep.stride;
#pragma GCC unroll 4
    for (int v = 0; v < kQueryVectors; ++v) {
        float* to = tile.plane(tile.sweep.sums) + (v * stride + at) * kLanes;
#pragma GCC unroll 16
        for (int i = 0; i < kRowNumbers; ++i, to += kLanes) {
            const Lanes before = load(to);
            const Lanes joined =
                productPlus(sums[i][v], factors.section[v], product(before, factors.earlier[v]));
            store(to, afterSection(tile, v, sums[i][v], joined, before));
        }
    }
}

/// What some vectors of queries see of the section.
inline RowsTile tileOf(const RowsSweep& sweep, int vector) {
    RowsTile tile{sweep, vector, {kAttendSectionKeys, 0}, {0, kAttendSectionKeys}};
    for (int i = 0; i < kQueryVectors * kLanes; ++i) {
        const int begin = static_cast<int>(tile.row(sweep.begins)[i]);
        const int end = static_cast<int>(tile.row(sweep.ends)[i]);
        tile.seen.begin = begin < tile.seen.begin ? begin : tile.seen.begin;
        tile.seen.end = end > tile.seen.end ? end : tile.seen.end;
        tile.all.begin = begin > tile.all.begin ? begin : tile.all.begin;
        tile.all.end = end < tile.all.end ? end : tile.all.end;
    }
    if (tile.all.begin >= tile.all.end)
        tile.all = {tile.seen.end, tile.seen.end};
    return tile;
}

inline void attendSection(const RowsSweep& sweep, int vector) {
    const RowsTile tile = tileOf(sweep, vector);
    if (tile.seen.end == 0)
        return;
    for (int key = tile.seen.begin / kRowKeys * kRowKeys; key < tile.seen.end; key += kRowKeys)
        scoreKeys(tile, key);
    JoinFactors factors;
    for (int v = 0; v < kQueryVectors; ++v)
        weighRows(tile, v, factors);
    for (int at = 0; at < sweep.stride; at += kRowNumbers)
        addRows(tile, at, factors);
}

/// Places of the queries, which come row by row, in vectors; those that are missing are zero.
inline void turnQueries(const RowsSweep& sweep, int vectors) {
    const int dim = sweep.arguments.headDim;
    for (int query = 0; query < vectors * kLanes; ++query) {
        float* to = sweep.queries + query / kLanes * sweep.stride * kLanes + query % kLanes;
        const float* from = sweep.arguments.queries + query * dim;
        for (int i = 0; i < sweep.stride; ++i)
            to[i * kLanes] = query < sweep.queryCount && i < dim ? from[i] : 0.0F;
    }
}

/// Divides the sums by the totals and writes them row by row.
inline void turnSums(const RowsSweep& sweep, int vectors) {
    const AttendRows& arguments = sweep.arguments;
    const int dim = arguments.headDim;
    for (int vector = 0; vector < vectors; ++vector) {
        const Lanes total = load(sweep.totals + vector * kLanes);
        float* sums = sweep.sums + vector * sweep.stride * kLanes;
        for (int i = 0; i < dim; ++i)
            store(sums + i * kLanes, quotient(load(sums + i * kLanes), total));
        const int left = sweep.queryCount - vector * kLanes;
        for (int lane = 0; lane < kLanes && lane < left; ++lane) {
            const int query = vector * kLanes + lane;
            float* out = arguments.out + query / arguments.groupSize * arguments.outStride +
                         query % arguments.groupSize * dim;
            for (int i = 0; i < dim; ++i)
                out[i] = sums[i * kLanes + lane];
        }
    }
}

/// Which keys each query sees of the section that begins with a slot; returns those that one of
/// them sees.
inline PlaceRange findSeen(const RowsSweep& sweep, int vectors, int slot) {
    const AttendRows& arguments = sweep.arguments;
    PlaceRange seen{kAttendSectionKeys, 0};
    for (int query = 0; query < vectors * kLanes; ++query) {
        const int row = query < sweep.queryCount ? query / arguments.groupSize : arguments.rows - 1;
        const int from = arguments.runs[row].slot - slot;
        const int to = from + arguments.runs[row].count;
        PlaceRange own{from < 0 ? 0 : from, to > kAttendSectionKeys ? kAttendSectionKeys : to};
        if (own.begin >= own.end)
            own = {kAttendSectionKeys, 0};
        sweep.begins[query] = static_cast<float>(own.begin);
        sweep.ends[query] = static_cast<float>(own.end);
        sweep.starts[query] = from >= 0 ? 1.0F : 0.0F;
        seen.begin = own.begin < seen.begin ? own.begin : seen.begin;
        seen.end = own.end > seen.end ? own.end : seen.end;
    }
    return seen;
}

/// One behind the last slot that a row sees.
inline int endOfSlots(const AttendRows& arguments) {
    int end = 0;
    for (int row = 0; row < arguments.rows; ++row) {
        const int own = arguments.runs[row].slot + arguments.runs[row].count;
        end = own > end ? own : end;
    }
    return end;
}

void attendRows(const AttendRows& arguments) {
    const int stride = wholeLanes(arguments.headDim);
    const int queries = arguments.rows * arguments.groupSize;
    const int step = kQueryVectors * kLanes;
    const int vectors = (queries + step - 1) / step * kQueryVectors;
    float* keys = arguments.scratch;
    float* values = keys + kAttendSectionKeys * stride;
    float* weights = values + kAttendSectionKeys * stride;
    float* planes = weights + kAttendSectionKeys * step;
    float* rows = planes + 2 * vectors * stride * kLanes;
    const RowsSweep sweep{arguments,
                          stride,
                          queries,
                          keys,
                          values,
                          weights,
                          planes,
                          planes + vectors * stride * kLanes,
                          rows,
                          rows + vectors * kLanes,
                          rows + 2 * vectors * kLanes,
                          rows + 3 * vectors * kLanes,
                          rows + 4 * vectors * kLanes};
    turnQueries(sweep, vectors);
    const int end = endOfSlots(arguments);
    for (int slot = arguments.runs->slot - arguments.runs->lead; slot < end;
         slot += kAttendSectionKeys) {
        const PlaceRange seen = findSeen(sweep, vectors, slot);
        if (seen.end == 0)
            continue;
        widenSection(sweep, arguments.keys, slot, seen, keys);
        widenSection(sweep, arguments.values, slot, seen, values);
        for (int vector = 0; vector < vectors; vector += kQueryVectors)
            attendSection(sweep, vector);
    }
    turnSums(sweep, vectors);
}

} // namespace

} // namespace engine
