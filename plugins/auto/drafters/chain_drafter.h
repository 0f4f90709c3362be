// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/drafter.h"
#include "engine/decoding/statistics/confidence_rates.h"
#include "plugins/auto/chain_promise.h"

#include <array>
#include <string_view>

namespace automatic {

/// Makes passes for a chain of tokens and learns what that gives: how often a token of each
/// confidence is accepted, and how many tokens a round gave for which cost, separately for rounds
/// in which a free draft was likely.
///
/// A draft goes on as long as the next pass pays; then the nodes of DraftTerms::free that pay are
/// added beside it. Needs DraftTerms::costs.
class ChainDrafter : public engine::Drafter {
public:
    std::string_view name() const { return m_name; }

    /// Whether it has what it needs to draft the next round.
    virtual bool isReady() const = 0;

    /// What a round is expected to give when the best free token has this probability.
    Promise promise(double freeProbability) const;

    /// The same over all rounds.
    Promise promise() const;

    /// The same over the rounds of those two kinds of which it has drafted any: what is only
    /// expected of the other kind does not speak for it. Before any, what is expected.
    Promise shownPromise() const;

    /// How often the token of a pass is accepted.
    double acceptance() const { return m_rates.overall(); }

    /// Records what the passes of its newest draft took.
    virtual void recordPasses(const engine::Draft& draft, engine::StepCosts& costs) = 0;

    /// What the round of its newest draft costs, in plain steps.
    virtual double costOf(const engine::DecodeStep& step, const engine::StepCosts& costs) const = 0;

    /// Learns from a round that it drafted, which cost so many plain steps; `freeProbability` is
    /// what promise() was asked with.
    void learn(const engine::DecodeStep& step, double freeProbability, double cost);

    /// Forgets the statistics: they depend on the drafter and on how tokens are drawn.
    virtual void forgetRounds(const engine::StepCosts& costs, int maxNodes) = 0;

protected:
    explicit ChainDrafter(std::string_view name)
        : m_name(name) {}

    /// Forgets the statistics; until there are new ones, this is what is expected, as if so many
    /// rounds had shown it.
    void expect(double acceptance, const Promise& promised, double rounds);

    const engine::ConfidenceRates& rates() const { return m_rates; }

private:
    /// Decayed sums over rounds.
    struct Rounds {
        double count = 0.0;
        double tokens = 0.0;
        double cost = 0.0;
        double nodes = 0.0;
        bool isTried = false; // there are real ones

        void add(const Promise& round, double weight);
        void add(const Rounds& others);
        Promise mean() const;
    };

    std::string_view m_name;
    engine::ConfidenceRates m_rates;
    std::array<Rounds, 2> m_rounds; // while a free token was unlikely, and while it was likely
};

} // namespace automatic
