// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/sides/side_comparison.h"

#include "engine/metrics/near_tie.h"

#include <algorithm>
#include <cmath>

namespace engine {

std::optional<double> gapOf(const EmittedToken& token) {
    const auto& choices = token.choices;
    if (choices.size() < 2 || choices[1].probability <= 0.0)
        return std::nullopt;
    return std::log(choices[0].probability / choices[1].probability);
}

SideComparison compareSides(const SideAnswer& left, const SideAnswer& right) {
    SideComparison compared;
    compared.isOver = left.isOver() && right.isOver();
    compared.isWhole = left.isWhole() && right.isWhole();
    const std::size_t common = std::min(left.tokens.size(), right.tokens.size());
    std::size_t equal = 0;
    for (; equal < common && left.tokens[equal].id == right.tokens[equal].id; ++equal)
        compared.probabilityDrift = std::max(compared.probabilityDrift,
                                             std::abs(left.tokens[equal].fact.targetProbability -
                                                      right.tokens[equal].fact.targetProbability));
    compared.equal = static_cast<int>(equal);
    const bool isLonger = (left.tokens.size() > equal && right.isWhole()) ||
                          (right.tokens.size() > equal && left.isWhole());
    if (equal == common && !isLonger)
        return compared;
    SideDifference& difference = compared.difference.emplace();
    difference.position = compared.equal;
    if (equal < left.tokens.size()) {
        difference.left = left.tokens[equal];
        difference.gap = gapOf(left.tokens[equal]);
        difference.isNearTie = difference.gap && isNearTie(*difference.gap);
    }
    if (equal < right.tokens.size())
        difference.right = right.tokens[equal];
    return compared;
}

std::vector<CloseCall> closestCalls(const SideAnswer& answer, std::size_t count) {
    std::vector<CloseCall> calls;
    for (std::size_t i = 0; i < answer.tokens.size(); ++i)
        if (const auto gap = gapOf(answer.tokens[i])) {
            const auto& choices = answer.tokens[i].choices;
            calls.push_back({static_cast<int>(i), choices[0], choices[1], *gap, isNearTie(*gap)});
        }
    std::ranges::stable_sort(calls, {}, &CloseCall::gap);
    calls.resize(std::min(calls.size(), count));
    return calls;
}

} // namespace engine
