// SPDX-License-Identifier: Apache-2.0
// The best tokens and the normaliser of a row, without its logits ever leaving the GPU.
#pragma once

#include "plugins/backend_cuda/kernels/number_math.h"
#include "plugins/backend_cuda/kernels/pass_arguments.h"

namespace backend_cuda {

constexpr int kNoId = 0x7fffffff;

DEVICE bool isBetter(float logit, int id, float thanLogit, int thanId) {
    return logit > thanLogit || (logit == thanLogit && id < thanId);
}

/// The best of all lanes' candidates, in every lane.
DEVICE void bestOfWarp(float& logit, int& id) {
    for (int mask = 16; mask > 0; mask >>= 1) {
        const float otherLogit = shuffleXor(logit, mask);
        const int otherId = shuffleXor(id, mask);
        if (isBetter(otherLogit, otherId, logit, id)) {
            logit = otherLogit;
            id = otherId;
        }
    }
}

constexpr float kLowest = -3.402823466e38F;

/// The best candidates so far, of which the last one taken bounds the next.
struct Ranking {
    float lastLogit = floatOfBits(0x7f800000U);
    int lastId = -1;
    float highest = kLowest;
};

/// Writes the best of all lanes' candidates at this rank, by one warp.
template <typename Result>
DEVICE void takeBest(Ranking& ranking, int rank, float logit, int id, Result& to) {
    bestOfWarp(logit, id);
    if (rank == 0)
        ranking.highest = logit;
    ranking.lastLogit = logit;
    ranking.lastId = id;
    if (laneIndex() == 0) {
        to.logits[rank] = logit;
        to.ids[rank] = id;
    }
}

/// One strip of logits of one head row, by one warp. Places that no token fills have kNoId.
DEVICE void summariseStrip(const PassArguments& pass, const float* logits, int headRow, int strip) {
    HeadPartial& to = pass.headPartials[static_cast<long long>(headRow) * pass.vocabStrips + strip];
    Ranking ranking;
    for (int rank = 0; rank < kTop; ++rank) {
        float logit = kLowest;
        int id = kNoId;
        for (int at = laneIndex(); at < kStrip; at += 32) {
            const int own = strip * kStrip + at;
            if (own < pass.vocab && isBetter(ranking.lastLogit, ranking.lastId, logits[at], own) &&
                isBetter(logits[at], own, logit, id)) {
                logit = logits[at];
                id = own;
            }
        }
        takeBest(ranking, rank, logit, id, to);
    }
    float sum = 0.0F;
    for (int at = laneIndex(); at < kStrip; at += 32)
        if (strip * kStrip + at < pass.vocab)
            sum += exponential(logits[at] - ranking.highest);
    sum = warpSum(sum);
    if (laneIndex() == 0) {
        to.highest = ranking.highest;
        to.sum = sum;
    }
}

/// Joins the strips of a row, one warp a row.
DEVICE void runHeadJoin(const PassArguments& pass) {
    for (int row = blockIndex() * kWarps + warpIndex(); row < pass.headCount;
         row += gridBlocks() * kWarps) {
        const HeadPartial* from =
            pass.headPartials + static_cast<long long>(row) * pass.vocabStrips;
        HeadResult& to = pass.headResults[row];
        Ranking ranking;
        for (int rank = 0; rank < kTop; ++rank) {
            float logit = kLowest;
            int id = kNoId;
            for (int strip = laneIndex(); strip < pass.vocabStrips; strip += 32)
                for (int place = 0; place < kTop; ++place) {
                    const float own = loadFresh(&from[strip].logits[place]);
                    const int ownId = loadFresh(&from[strip].ids[place]);
                    if (!isBetter(ranking.lastLogit, ranking.lastId, own, ownId))
                        continue;
                    if (isBetter(own, ownId, logit, id)) {
                        logit = own;
                        id = ownId;
                    }
                    break; // the others of this strip are no better
                }
            takeBest(ranking, rank, logit, id, to);
        }
        double sum = 0.0;
        for (int strip = laneIndex(); strip < pass.vocabStrips; strip += 32)
            sum +=
                static_cast<double>(loadFresh(&from[strip].sum)) *
                static_cast<double>(exponential(loadFresh(&from[strip].highest) - ranking.highest));
        sum = warpSum(sum);
        if (laneIndex() == 0) {
            to.sum = sum;
            to.highest = ranking.highest;
        }
    }
}

} // namespace backend_cuda
