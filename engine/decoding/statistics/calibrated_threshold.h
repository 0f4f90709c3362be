// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"

#include <array>

namespace engine {

/// How often drafted tokens of each confidence were accepted, and the confidence threshold that
/// follows from it. A fixed threshold takes confidence for the probability of acceptance; a skip
/// set that always agrees with the full model is accepted where both are unsure, too.
class CalibratedThreshold {
public:
    /// Counts the drafted chain of a step up to its first refused token.
    void observe(const DecodeStep& step);

    /// `epsilon`, or less: drafted tokens between the two were accepted at a rate of at least
    /// `epsilon`.
    double below(double epsilon) const;

private:
    struct Bin {
        double checked = 0.0;
        double accepted = 0.0;
    };

    double rate(int bin) const;

    static constexpr int kBins = 5; // of equal width, from confidence 0 to 1
    std::array<Bin, kBins> m_bins;
};

} // namespace engine
