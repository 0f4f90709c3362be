// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/drafter.h"
#include "engine/decoding/drafts/self_drafter.h"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// The plan that runs the first `exitLayers` layers, final norm and head.
LayerPlan exitPlan(int layerCount, int exitLayers);

/// How a chain is drafted by early exit. Spans are guests of the drafter until they are replaced.
struct ExitDraftOptions {
    int exitLayers = 1;       ///< E: layers [0, E) draft; from 1 to one less than the model has
    std::uint64_t planId = 0; ///< numbers the exit's plan, see DecodeStep::planId
    /// Whether the token that made the stop rule end the draft is verified. If it is not, its pass
    /// was still of use: it has brought the token before it to the exit. Tokens have the
    /// full model's distribution either way: such a token is not even drawn, the rule sees only the
    /// exit's distribution.
    bool keepsUnsure = true;
    /// Further layers, below E - 1 and ascending, behind which the stream is kept.
    std::span<const int> earlierLayers = {};
    /// Adds nodes that cost no pass of their own to the chain: the pass that brings the chain's
    /// last token to the exit reads them too. It must see for itself that there is room for them.
    /// Match only; empty = none.
    std::function<void(DraftTree& chain)> addBeside = {};
};

/// Drafts a chain with the first layers of the target, the shared final norm and the shared head,
/// and keeps what those layers made of every row, so that the verification goes on from there: a
/// round of g tokens reads g * E + L layers. A first round drafts straight from the prompt tokens
/// that Target::begin left unread. The stop rule is asked behind each token with the probability of
/// the exit's first choice at temperature 1.
/// Source: LayerSkip, arXiv 2404.16710 section 4.3.
class ExitDrafter final : public Drafter {
public:
    /// `draws` must outlive the drafter; see SelfDrafter.
    explicit ExitDrafter(DraftDraws* draws = nullptr)
        : m_draws(draws) {}

    /// Drafts like this from now on. An exit that the model does not have is a bug (ENGINE_CHECK).
    void use(ExitDraftOptions options) { m_options = std::move(options); }

private:
    /// Which of its results a pass needs; only the last row can go through the head.
    struct HeadNeeds {
        bool summary = false;
        bool logits = false;
    };

    Result<Draft> makeDraft(Target& target, const DraftTerms& terms) override;
    void beginRows(Target& target);
    Result<void> runPass(Target& target, const AttentionLayout& layout, HeadNeeds needs);
    Result<void> runChainPass(Target& target, bool needsLogits, Draft& made);
    Result<void> runLastPass(Target& target, const DraftTree& draft, int rowsRun);

    DraftDraws* m_draws;
    ExitDraftOptions m_options;
    std::uint64_t m_round = 0; // keys the draws of recursive rejection
    // Of the newest draft, their memory used again:
    LayerPlan m_plan;
    std::vector<HiddenRows> m_streams; // of the earlier layers, then of the exit
    std::vector<HandOut> m_handOuts;   // what each pass adds to them
    std::vector<TokenId> m_tokens;     // what the next pass reads
    Position m_nextSlot = 0;           // where it writes
    Position m_rootSlot = 0;           // of the pending token
    ForwardResult m_pass;
    DraftHead m_head;
    std::span<const TokenSpan> m_headSpans;
};

} // namespace engine
