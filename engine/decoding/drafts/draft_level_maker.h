// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/self_drafter.h"

namespace engine {

/// The best of log q + Gumbel noise, in order: a draw without replacement from q. For Rejection,
/// whose noise is fresh for each round.
class RoundDraws final : public DraftDraws {
public:
    RoundDraws(std::uint64_t seed, std::uint64_t round);

    std::vector<TokenId>
    drawSeveral(const Distribution& q, int count, Position outputPosition) override;

private:
    std::uint64_t m_key;
};

/// Chooses the tokens of one draft pass, for every drafter that runs the model itself. A guest of
/// one draft: what it is made from must outlive it.
class DraftLevelMaker {
public:
    /// `draws` null: vanilla's own for Match, those of this round for Rejection.
    DraftLevelMaker(const Sampler& sampler,
                    const DraftTerms& terms,
                    DraftDraws* draws,
                    std::uint64_t round)
        : m_sampler(sampler)
        , m_terms(terms)
        , m_roundDraws(sampler.options().seed, round)
        , m_draws(draws) {}

    /// Whether a pass must give full logits: to draw from, or to find more choices than a summary
    /// has.
    bool needsLogits() const { return draws() || mostChoices() > HeadSummary::kMost; }

    /// From the only row of a pass that went through the head. Errors: those of LogitRows::row().
    Result<DraftLevel> make(ForwardResult& pass, Position outputPosition) const;

private:
    bool draws() const {
        return !m_sampler.isGreedy() &&
               (m_terms.rule == VerifyRule::Rejection || m_terms.sharesNoise);
    }

    int mostChoices() const;

    const Sampler& m_sampler;
    const DraftTerms& m_terms;
    mutable RoundDraws m_roundDraws;
    DraftDraws* m_draws;
};

} // namespace engine
