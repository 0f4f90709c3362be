// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/trained/feature_drafter.h"
#include "plugins/auto/drafters/chain_drafter.h"

#include <memory>

namespace automatic {

/// Drafts with a draft adapter. Unlike a plan it must be told of all rounds, whoever drafted them:
/// it is fed with the streams that their verification computed. While it rests it is told nothing
/// and costs nothing; woken it goes on with the next row, and drafts once it knows a few. Numbers
/// that are not finite, in three rounds in a row, break it for good.
class AdapterDrafter final : public ChainDrafter {
public:
    /// `model` must outlive it. Errors: NoMemory.
    static engine::Result<std::unique_ptr<AdapterDrafter>>
    make(engine::DraftModel& model, const engine::Target& target, int contextLength, int mostNodes);

    /// To be given to Target::begin or readAhead for a prompt, see FeatureDrafter::watch; then
    /// take(), and behind begin() catchUp().
    engine::PromptWork watch(const engine::Target& target,
                             std::span<const engine::TokenId> prompt,
                             const engine::PromptWork& work);

    engine::Result<void> take() { return m_drafter.take(); }

    engine::Result<void> catchUp(const engine::Target& target) { return m_drafter.begin(target); }

    /// For VerifyTerms::handOuts of the next pass, whoever drafts it.
    std::span<const engine::HandOut> handOuts(const engine::Target& target) {
        return m_drafter.handOuts(target);
    }

    /// Takes what that pass handed out.
    engine::Result<void> observe(const engine::DecodeStep& step) { return m_drafter.observe(step); }

    /// Whether it knows enough of the text.
    bool isReady() const override;

    /// Whether its numbers are not finite, so that it is not used any more.
    bool isBroken() const { return m_isBroken; }

    void rest();

    /// If it rests, or would have to catch up with too many rows, it goes on with the target's next
    /// row.
    void wake(const engine::Target& target);

    void recordPasses(const engine::Draft& draft, engine::StepCosts& costs) override;
    double costOf(const engine::DecodeStep& step, const engine::StepCosts& costs) const override;

    /// What was accepted so far is expected of the rounds to come as well.
    void forgetRounds(const engine::StepCosts& costs, int maxNodes) override;

private:
    AdapterDrafter(engine::FeatureDrafter drafter, double share);

    engine::Result<engine::Draft> makeDraft(engine::Target& target,
                                            const engine::DraftTerms& terms) override;
    double passes(int steps, const engine::StepCosts& costs) const;

    engine::FeatureDrafter m_drafter;
    double m_share;    // of the model's weights that a pass reads
    int m_waiting = 1; // rows that the newest draft caught up with
    int m_drafts = 0;  // so far; counted to 2
    bool m_isBroken = false;
};

} // namespace automatic
