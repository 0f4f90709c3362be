// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/step_costs.h"
#include "engine/search/stream/stream_front.h"

#include <array>
#include <vector>

namespace clasp {

/// How often drafts of a set are expected to be right, by what the set changes in the stream (see
/// StreamPoint::loss): a guess that each count of matches corrects. Thread: engine.
class AcceptanceByLoss {
public:
    double expected(double loss) const;

    /// Learns from a check: so many of `count` tokens were predicted.
    void learn(double loss, int hits, int count);

private:
    static constexpr int kBins = 8;

    static std::size_t binOf(double loss);

    struct Bin {
        double hits = 0.0;
        double expectedHits = 0.0; // by the guess alone, for the same tokens
        double count = 0.0;
    };

    std::array<Bin, kBins> m_bins;
};

/// What the best chain of a set promises. A plain value.
struct ChainSpeed {
    double speed = 0.0; ///< tokens in the time of one plain step
    int length = 1;     ///< tokens of that chain
};

/// The best chain of 1 to `longest` tokens, when each is accepted this often and its pass costs
/// this part of a plain step.
ChainSpeed
bestChain(double acceptance, double passCost, const engine::StepCosts& costs, int longest);

/// A set that may be drafted with, and what it promises. A plain value.
struct Promising {
    engine::LayerPlan plan;
    double loss = 0.0;
    double cost = 1.0;       ///< of a draft pass, in plain steps
    double acceptance = 0.0; ///< expected or counted
    ChainSpeed chain = {};
};

/// The best `count` of them by speed, best first; of equal ones the larger set.
std::vector<Promising> fastest(std::vector<Promising> sets, std::size_t count);

} // namespace clasp
