// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"
#include "engine/decoding/statistics/decayed_rate.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace engine {

/// How often the drafted tokens of a plan are accepted, by their confidence and over all, and how
/// often a sibling is where the first choice is not. The newest tokens count most. A plain value.
///
/// Few tokens of each confidence are seen before the plan changes, so what all of them show counts
/// for each confidence too: a token is taken to be missed in proportion to its doubt, 1 minus its
/// confidence and a little, but never to be accepted less than half as often as all, until enough
/// tokens as sure as it are seen.
class ConfidenceRates {
public:
    /// Before any token is seen, the plan's tokens are taken to be accepted so often.
    explicit ConfidenceRates(double expected = kUnknown)
        : m_overall(expected, kPriorTokens, kMemory)
        , m_misses(std::max((1.0 - expected) * kPriorTokens, kLeastMisses)) {
        m_bins.fill(DecayedRate(expected, kPriorTokens / 2.0, kMemory));
    }

    /// Counts the drafted chain of a round up to its first refused token; what stands behind that
    /// one was never compared with the full model. The chain's nodes come first in the tree.
    void observe(const DecodeStep& step) {
        const auto passes = static_cast<std::size_t>(step.draft.draftSteps());
        std::size_t taken = 0;
        while (taken < step.path.size() && taken < passes &&
               step.path[taken] == static_cast<int>(taken))
            ++taken;
        const bool isCut = taken == step.tokens.size(); // the answer ended there
        for (std::size_t place = 0; place < std::min(passes, isCut ? taken : taken + 1); ++place) {
            const bool isTaken = place < taken;
            const std::size_t bin = binOf(step.draft.confidences()[place]);
            m_bins.at(bin).add(isTaken);
            m_overall.add(isTaken);
            m_misses = kMemory * m_misses + (isTaken ? 0.0 : 1.0);
            m_doubts = kMemory * m_doubts + doubtOf(bin);
        }
        if (taken < passes && !isCut)
            observeSiblings(step, taken);
    }

    double at(double confidence) const {
        const std::size_t bin = binOf(confidence);
        const double usual = 1.0 - m_misses / m_doubts * doubtOf(bin);
        return m_bins.at(bin).value(std::max(usual, overall() / 2.0));
    }

    double overall() const { return m_overall.value(); }

    /// How often a further sibling is accepted where the choices before it are not.
    double ofSiblings() const { return m_siblings.value(); }

private:
    static constexpr std::size_t kBins = 8; // of equal width, from confidence 0 to 1
    static constexpr double kUnknown = 0.8;
    static constexpr double kSiblingsUnknown = 0.5;
    static constexpr double kPriorTokens = 8.0;
    static constexpr double kUsualDoubt = 0.45;
    static constexpr double kLeastDoubt = 0.2; // of a token that is wholly sure
    static constexpr double kLeastMisses = 0.25;
    static constexpr double kMemory = 0.98;

    /// At the chain's first refused token.
    void observeSiblings(const DecodeStep& step, std::size_t refused) {
        const int accepted = refused < step.path.size() ? step.path[refused] : -1;
        const int place = static_cast<int>(refused);
        for (const int node : step.draft.children(step.draft.node(place).parent)) {
            if (node == place)
                continue;
            m_siblings.add(node == accepted);
            if (node == accepted)
                break;
        }
    }

    static std::size_t binOf(double confidence) {
        return static_cast<std::size_t>(
            std::clamp(confidence * kBins, 0.0, static_cast<double>(kBins - 1)));
    }

    /// Of the middle of a bin.
    static double doubtOf(std::size_t bin) {
        return 1.0 + kLeastDoubt - (static_cast<double>(bin) + 0.5) / kBins;
    }

    std::array<DecayedRate, kBins> m_bins;
    DecayedRate m_overall;
    double m_misses; // decayed sums, from those of the tokens that were expected on
    double m_doubts = kUsualDoubt * kPriorTokens;
    DecayedRate m_siblings = DecayedRate(kSiblingsUnknown, kPriorTokens, kMemory);
};

} // namespace engine
