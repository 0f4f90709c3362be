// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/round/draft_tree.h"
#include "engine/decoding/target.h"

#include <functional>
#include <span>
#include <vector>

namespace engine {

/// The plan that runs the first `exitLayers` layers, final norm and head.
LayerPlan exitPlan(int layerCount, int exitLayers);

/// How a chain is drafted by early exit.
struct ExitDraftOptions {
    int exitLayers = 1; ///< E: layers [0, E) draft; from 1 to one less than the model has
    int maxTokens = 6;  ///< of one draft; fewer when the answer has no room for them
    VerifyRule rule = VerifyRule::Match;
    bool sharesNoise = true; ///< see SelfDraftOptions
    /// Whether the token that made the stop rule end the draft is verified. Where it is not, its
    /// pass was not in vain: it has brought the token before it to the exit. The law stays the full
    /// model's either way: such a token is not even drawn, the rule sees the exit's law alone.
    bool keepsUnsure = true;
    /// Further layers, below E - 1 and ascending, behind which the stream is kept.
    std::span<const int> earlierLayers = {};
    /// Adds further nodes to the chain that was drafted, such as cost no pass of their own: the
    /// pass that brings the chain's last token to the exit takes them along. Whether there is room
    /// for them is its affair. Match only; empty = none.
    std::function<void(DraftTree& chain)> addBeside = {};
};

/// A chain and what was added beside it, and how far its rows have come on their way through the
/// model: those of the unread prompt tokens, of the pending one and of all drafted ones.
struct ExitDraft {
    DraftTree draft;
    int exitLayers = 0; ///< layers that have run for all rows; 0 when no pass was made
    /// The stream behind them, [rows, hidden size]. A guest of the drafter, until its next draft.
    std::span<const double> hidden = {};
    /// [earlierLayers] the same behind each of those; empty when nothing was drafted.
    std::vector<std::span<const double>> earlier = {};
    double promptMs = 0.0;   ///< see DecodeStep::promptMs
    double layerLoads = 0.0; ///< see DecodeStep::draftLayers; with the verification's g * E + L

    /// What verifies the draft from behind its exit on; of the whole model when there is none.
    VerifyRequest verification(VerifyRule rule) &&;
};

/// Drafts with the first layers of the target, the shared final norm and the shared head, and keeps
/// what those layers made of every row, so that the verification goes on from there: a round of g
/// tokens reads g * E + L layers. A first round drafts straight from the prompt tokens that
/// Target::begin left unread. Thread: engine.
/// Source: LayerSkip, arXiv 2404.16710 section 4.3; decoders.md 1.2.
class ExitDrafter {
public:
    /// `draws` must outlive the drafter; see SelfDrafter.
    explicit ExitDrafter(DraftDraws* draws = nullptr)
        : m_draws(draws) {}

    /// Drafts behind the pending token until `stopRule` ends it (asked behind each token, which
    /// usually stays, with the probability of the exit's first choice at temperature 1), the
    /// answer's end id is drafted, or there is no room for more. Errors: those of a pass; Cancelled
    /// between passes. An exit that the model does not have is a bug (ENGINE_CHECK).
    Result<ExitDraft>
    draft(Target& target, const DraftStopRule& stopRule, const ExitDraftOptions& options);

private:
    /// Which of its results a pass needs; only the last row can go through the head.
    struct HeadNeeds {
        bool summary = false;
        bool logits = false;
    };

    void beginRows(Target& target, const ExitDraftOptions& options);
    Result<void> runPass(Target& target, const AttentionLayout& layout, HeadNeeds needs);
    Result<void> runChainPass(Target& target, bool needsLogits, ExitDraft& made);
    Result<void> runLastPass(Target& target, const DraftTree& draft, int rowsRun);

    DraftDraws* m_draws;
    std::uint64_t m_round = 0; // keys the draws of recursive rejection
    // Of the newest draft, their memory used again:
    LayerPlan m_plan;
    std::vector<int> m_layers; // the earlier ones, then the one behind which it exits
    std::vector<std::vector<double>> m_streams; // [m_layers] each [rows so far, hidden size]
    std::vector<TokenId> m_tokens;              // what the next pass reads
    Position m_nextSlot = 0;                    // where it writes
    Position m_rootSlot = 0;                    // of the pending token
    ForwardResult m_pass;
};

} // namespace engine
