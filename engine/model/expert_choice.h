// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace engine {

/// An expert that a router chose for a row, and what its output is multiplied by.
template <typename Real> struct ChosenExpert {
    int expert = 0;
    Real weight = 0;
};

/// The experts with the highest logits, of equal ones the first, ascending by number; each weighed
/// by its softmax over all experts. Shapes: logits [count]. What is not finite makes weights that
/// are not finite.
template <typename Real>
std::vector<ChosenExpert<Real>> chooseExperts(std::span<const Real> logits,
                                              const ExpertChoice& experts) {
    const Real highest = *std::max_element(logits.begin(), logits.end());
    std::vector<ChosenExpert<Real>> chosen;
    Real total = 0;
    for (const Real logit : logits) {
        const Real weight = std::exp(logit - highest);
        chosen.push_back({static_cast<int>(chosen.size()), weight});
        total += weight;
    }
    const auto isBetter = [&](const ChosenExpert<Real>& a, const ChosenExpert<Real>& b) {
        const Real left = logits[static_cast<std::size_t>(a.expert)];
        const Real right = logits[static_cast<std::size_t>(b.expert)];
        return left > right || (left == right && a.expert < b.expert);
    };
    const bool isFinite = std::isfinite(total); // else no order is sound
    if (isFinite)
        std::sort(chosen.begin(), chosen.end(), isBetter);
    chosen.resize(static_cast<std::size_t>(experts.used));
    std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
        return a.expert < b.expert;
    });
    if (experts.renormalises) {
        total = 0;
        for (const ChosenExpert<Real>& each : chosen)
            total += each.weight;
    }
    for (ChosenExpert<Real>& each : chosen)
        each.weight = isFinite ? each.weight / total : std::numeric_limits<Real>::quiet_NaN();
    return chosen;
}

} // namespace engine
