// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/drafter.h"
#include "engine/decoding/round/draft_head.h"

#include <cstdint>
#include <vector>

namespace engine {

/// The random decisions of a draft: all that it depends on besides its input.
class DraftDraws {
public:
    virtual ~DraftDraws() = default;

    /// At most `count` different tokens of `q`, as drawn one after the other without replacement.
    virtual std::vector<TokenId>
    drawSeveral(const Distribution& q, int count, Position outputPosition) = 0;
};

/// Drafts with the target's own weights under a plan that leaves sublayers out: a chain of passes
/// whose further choices hang beside it as siblings. Draft rows are written behind the committed
/// ones and forgotten. Source: arXiv 2410.06916 section 4.2.
class SelfDrafter final : public Drafter {
public:
    /// `draws` must outlive the drafter; null: counter random numbers under the sampler's seed, for
    /// Match vanilla's own.
    explicit SelfDrafter(DraftDraws* draws = nullptr)
        : m_draws(draws) {}

    /// Drafts with this plan from now on; `id` numbers it, see DecodeStep::planId.
    void use(LayerPlan plan, std::uint64_t id) {
        m_plan = std::move(plan);
        m_planId = id;
    }

    std::uint64_t planId() const { return m_planId; }

    const LayerPlan& plan() const { return m_plan; }

private:
    Result<Draft> makeDraft(Target& target, const DraftTerms& terms) override;

    DraftDraws* m_draws;
    LayerPlan m_plan;
    DraftHead m_head;
    std::uint64_t m_planId = 0;
    ForwardResult m_pass;      // of the newest draft pass, its memory used again
    std::uint64_t m_round = 0; // keys the draws of recursive rejection
};

} // namespace engine
