// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/calibrated_threshold.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// Before anything was seen, a bin counts as so many tokens, accepted as often as its least sure
/// one was sure.
constexpr double kPriorTokens = 2.0;

/// From so many tokens on, older ones count for half, so that the rate follows the text.
constexpr double kMemory = 64.0;

} // namespace

/// The nodes of the first choices come first in a tree, one for each draft pass.
void CalibratedThreshold::observe(const DecodeStep& step) {
    if (step.draft.draftSteps() == 0 || step.planId == 0)
        return;
    for (int pass = 0; pass < step.draft.draftSteps(); ++pass) {
        const auto place = static_cast<std::size_t>(pass);
        const double confidence = step.draft.confidences()[place];
        Bin& bin = m_bins[static_cast<std::size_t>(
            std::clamp(static_cast<int>(confidence * kBins), 0, kBins - 1))];
        if (bin.checked >= kMemory) {
            bin.checked /= 2.0;
            bin.accepted /= 2.0;
        }
        const bool isAccepted = place < step.path.size() && step.path[place] == pass;
        bin.checked += 1.0;
        bin.accepted += isAccepted ? 1.0 : 0.0;
        if (!isAccepted)
            return;
    }
}

double CalibratedThreshold::below(double epsilon) const {
    double threshold = epsilon;
    for (int bin = static_cast<int>(std::ceil(epsilon * kBins)) - 1; bin >= 0; --bin) {
        if (rate(bin) < epsilon)
            break;
        threshold = static_cast<double>(bin) / kBins;
    }
    return threshold;
}

double CalibratedThreshold::rate(int bin) const {
    const Bin& seen = m_bins[static_cast<std::size_t>(bin)];
    const double leastSure = static_cast<double>(bin) / kBins;
    return (seen.accepted + kPriorTokens * leastSure) / (seen.checked + kPriorTokens);
}

} // namespace engine
