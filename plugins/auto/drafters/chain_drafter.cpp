// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/drafters/chain_drafter.h"

namespace automatic {

using namespace engine;

namespace {

/// How fast rounds fade.
constexpr double kRoundMemory = 0.97;

/// A free token of this probability counts as likely.
constexpr double kLikely = 0.5;

std::size_t placeOf(double freeProbability) { return freeProbability < kLikely ? 0 : 1; }

} // namespace

void ChainDrafter::Rounds::add(const Promise& round, double weight) {
    count = kRoundMemory * count + weight;
    tokens = kRoundMemory * tokens + weight * round.tokens;
    cost = kRoundMemory * cost + weight * round.cost;
    nodes = kRoundMemory * nodes + weight * round.nodes;
}

void ChainDrafter::Rounds::add(const Rounds& others) {
    count += others.count;
    tokens += others.tokens;
    cost += others.cost;
    nodes += others.nodes;
}

Promise ChainDrafter::Rounds::mean() const {
    if (count <= 0.0)
        return {};
    return {tokens / count, cost / count, static_cast<int>(nodes / count + 0.5)};
}

void ChainDrafter::expect(double acceptance, const Promise& promised, double rounds) {
    m_rates = ConfidenceRates(acceptance);
    for (Rounds& each : m_rounds) {
        each = {};
        each.add(promised, rounds);
    }
}

Promise ChainDrafter::promise(double freeProbability) const {
    return m_rounds[placeOf(freeProbability)].mean();
}

Promise ChainDrafter::promise() const {
    Rounds all = m_rounds.front();
    all.add(m_rounds.back());
    return all.mean();
}

Promise ChainDrafter::shownPromise() const {
    Rounds tried;
    for (const Rounds& rounds : m_rounds)
        if (rounds.isTried)
            tried.add(rounds);
    return tried.count > 0.0 ? tried.mean() : promise();
}

void ChainDrafter::learn(const DecodeStep& step, double freeProbability, double cost) {
    m_rates.observe(step);
    Rounds& rounds = m_rounds[placeOf(freeProbability)];
    rounds.add({static_cast<double>(step.tokens.size()), cost, step.draft.size()}, 1.0);
    rounds.isTried = true;
}

} // namespace automatic
