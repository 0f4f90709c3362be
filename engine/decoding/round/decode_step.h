// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/decoding/round/draft_tree.h"
#include "engine/model/skip_sets/layer_plan.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// Where an emitted token came from.
enum class TokenOrigin : std::uint8_t {
    Vanilla, ///< a plain step: the full model alone, without a draft
    Draft,   ///< accepted; it was the draft's first choice
    Sibling, ///< accepted; it was another of the draft's choices
    Bonus,   ///< the full model's own token after the accepted ones
};

std::string_view tokenOriginName(TokenOrigin origin); ///< "vanilla", "draft", "sibling", "bonus"

/// What is known about one emitted token. A plain value.
struct TokenFact {
    TokenOrigin origin = TokenOrigin::Vanilla;
    int rank = -1; ///< its place among the draft's choices, 0 = first; -1 = not drafted
    double draftProbability = 0.0;  ///< by the draft, at temperature 1; 0 if it was not drafted
    double targetProbability = 0.0; ///< by the full model, at temperature 1
};

/// A token that is possible at a position, and how likely it is. A plain value.
struct TokenChance {
    TokenId id = kNoToken;
    double probability = 0.0; ///< by the full model, at temperature 1
};

/// What a decoder is doing besides emitting tokens.
enum class DecoderPhase : std::uint8_t {
    Plain,      ///< there is nothing to search
    Accumulate, ///< it collects the context window on which candidates are scored
    Optimise,   ///< it tries candidates between rounds
    Accelerate, ///< the search is over
};

std::string_view decoderPhaseName(DecoderPhase phase); ///< "plain", "accumulate", ...

/// One scored candidate of a search. A plain value.
struct TrialRecord {
    std::string kind;    ///< "start", "random", "bayesian", "rescore", "influence", "manual", ...
    bool counts = true;  ///< false for re-scores, which do not count as trials
    int index = 0;       ///< trials of this task so far, including this one if it counts
    double score = 0.0;  ///< matchness, 0 to 1
    double best = 0.0;   ///< the incumbent's score after this trial
    bool isBest = false; ///< this candidate became the incumbent
    LayerPlan plan;      ///< the candidate
    std::vector<std::uint8_t> ticks; ///< [window] 1 = the candidate predicted this token
    std::vector<TokenId> window;     ///< [window] the tokens that it had to predict
    std::vector<TokenId> guesses;    ///< [window] the tokens that it predicted
    double suggestMs = 0.0;
    double scoreMs = 0.0;
    std::string task = {}; ///< that it was tried for; empty = that of the prompt
    bool isBeside = false; ///< of a search beside the drafts, which do not use what it finds
};

/// The decoder began to draft with another plan, or a search beside the drafts found a better one.
/// A plain value.
struct PlanChange {
    std::uint64_t planId = 0; ///< counts up from 1 in the order of use; 0 = it is not used
    LayerPlan plan;
    double skipRatio = 0.0; ///< the ratio r for which the plan was made
    /// "start", "better", "restart", "lower r", "larger r", "task" (a known task is back), ...
    std::string reason;
    double askedRatio = 0.0;      ///< the r that was asked for; 0 = none was
    std::string ratioReason = {}; ///< sentence: why it is not `skipRatio`; empty if it is
    std::string task = {};        ///< for which it was found; empty = that of the prompt
    bool isBeside = false;        ///< see TrialRecord
};

/// What drafting with a skip set would give: rounds replayed over tokens of answers that the set
/// was not chosen by, priced by measured costs. Costs are in units of a plain step. A plain value.
struct DraftForecast {
    double matchness = 0.0;      ///< of the set on those tokens
    double draftCost = 1.0;      ///< c, one draft pass
    double verifyCost = 1.0;     ///< v, the pass that verifies the drafts of a round; mean
    double draftSteps = 0.0;     ///< of a round; mean
    double tokensPerRound = 1.0; ///< M
    int tokens = 0;              ///< that it was measured on
    double searchShare = 0.0;    ///< of the time of a round, that a search takes besides

    /// The speed over plain decoding: equation 6 of arXiv 2410.06916 with measured c and v.
    double speedup() const { return tokensPerRound / (draftSteps * draftCost + verifyCost); }

    /// The same while the search goes on, as it does in the next answers.
    double searchingSpeedup() const { return speedup() / (1.0 + searchShare); }

    bool operator==(const DraftForecast&) const = default;
};

/// What a search did during a step or after an answer. A plain value.
struct SearchReport {
    DecoderPhase phase = DecoderPhase::Plain;
    std::vector<TrialRecord> trials;
    std::vector<PlanChange> planChanges;
    std::vector<std::string> notes; ///< sentences for the user: "r lowered from .45 to .40: ..."
    std::optional<DraftForecast> forecast; ///< of the best set found beside the drafts
    double searchMs = 0.0;

    /// Whether there is nothing to tell but the phase.
    bool isEmpty() const {
        return trials.empty() && planChanges.empty() && notes.empty() && !forecast &&
               searchMs == 0.0;
    }
};

/// Which way to draft a decoder chose for a round, and why. A plain value.
struct DraftChoice {
    /// "none", "free", "skip", "exit", "tuned" or "copy"; empty if the decoder does not choose.
    std::string_view drafter = {};
    int nodes = 0;
    double expectedTokens = 1.0;   ///< from this round, including the bonus
    double expectedCost = 1.0;     ///< of this round in plain steps, from measured times
    std::string_view refused = {}; ///< the best drafter not chosen; empty if there was none
    double refusedTokens = 1.0;
    double refusedCost = 1.0;
    double plainMs = 0.0; ///< the present time of a plain step; 0 before it was measured
    bool isProbe = false; ///< chosen to learn what it gains, not because it is expected to pay
};

/// A row that ran beside a draft and could not be accepted, such as a mask token or a guess of a
/// window. A plain value.
struct SideRow {
    TokenId token = kNoToken;
    /// The index of a draft node, or draft.size() + the index of an earlier side row; -1 = the
    /// root.
    int parent = -1;

    bool operator==(const SideRow&) const = default;
};

/// A token in a cell of a StepTable, where views show it as its text.
struct TokenCell {
    TokenId token = kNoToken;

    bool operator==(const TokenCell&) const = default;
};

/// A cell of a StepTable: a token, a number, or words.
using TableCell = std::variant<TokenCell, double, std::string>;

/// What a decoder shows of its round besides draft and plan, such as its window, its pool or its
/// table of exits. Views show such tables without knowing the decoder. A plain value.
struct StepTable {
    std::string name;                         ///< "pool", for scripts
    std::string title;                        ///< "Pool", for people
    std::vector<std::string> columns;         ///< headings
    std::vector<std::vector<TableCell>> rows; ///< each [at most columns]
    int chosenRow = -1;                       ///< the row that the decoder acted upon; -1 = none
};

/// The tokens that one round of a decoder emitted, and how they were made. A plain value.
struct DecodeStep {
    std::vector<TokenId> tokens;  ///< newly emitted, in order; never empty
    std::vector<TokenFact> facts; ///< [tokens]
    /// [tokens] the tokens that the full model found most likely at each position, best first.
    std::vector<std::vector<TokenChance>> chances;
    /// [1 + draft] the token that the full model found most likely behind the root and behind each
    /// node; empty if nothing was drafted.
    std::vector<TokenChance> rowChoices;
    DraftTree draft;          ///< empty for a plain step, or if nothing was drafted
    std::vector<int> path;    ///< accepted nodes of `draft`, in order
    std::uint64_t planId = 0; ///< the plan of the draft; 0 = the full model
    SearchReport search;
    DraftChoice choice;
    std::vector<SideRow> sides; ///< the rows that ran beside the draft
    std::vector<StepTable> tables;
    int verifiedRows = 0;
    /// The number of layers whose weights were read by the draft and by the verification. Each
    /// skipped sublayer saves half a layer. Tokens per layer (eTPL, arXiv 2504.05598) divides by
    /// the sum of both.
    double draftLayers = 0.0;
    double verifyLayers = 0.0;
    /// The time that passes of this round spent on unread prompt tokens (Target::unread), in
    /// proportion to their rows. It belongs to the prompt and is not part of the times below.
    double promptMs = 0.0;
    double draftMs = 0.0;
    double verifyMs = 0.0; ///< for a plain step, the time of the whole pass

    /// Whether the full model ran alone. A round with side rows is not plain, even if its draft is
    /// empty.
    bool isPlain() const { return draft.size() == 0 && sides.empty(); }

    /// Keeps only the first `count` tokens and what belongs to them.
    void cutTo(std::size_t count);
};

} // namespace engine
