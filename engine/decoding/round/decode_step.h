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

/// How an emitted token came about.
enum class TokenOrigin : std::uint8_t {
    Vanilla, ///< a plain step: the full model alone, no draft
    Draft,   ///< accepted, the draft's first choice
    Sibling, ///< accepted, one of the draft's further choices
    Bonus,   ///< the full model's own token behind the accepted ones
};

std::string_view tokenOriginName(TokenOrigin origin); ///< "vanilla", "draft", "sibling", "bonus"

/// What is known of one emitted token.
struct TokenFact {
    TokenOrigin origin = TokenOrigin::Vanilla;
    int rank = -1;                  ///< among the draft's choices, 0 = first; -1 = not drafted
    double draftProbability = 0.0;  ///< the draft's own, temperature 1; 0 when not drafted
    double targetProbability = 0.0; ///< the full model's, temperature 1
};

/// A token that could stand at a place, and how likely it is. A plain value.
struct TokenChance {
    TokenId id = kNoToken;
    double probability = 0.0; ///< the full model's, temperature 1
};

/// What a decoder is doing besides emitting tokens.
enum class DecoderPhase : std::uint8_t {
    Plain,      ///< nothing to search
    Accumulate, ///< collects the context window that candidates are scored on
    Optimise,   ///< tries candidates between rounds
    Accelerate, ///< the search is over
};

std::string_view decoderPhaseName(DecoderPhase phase); ///< "plain", "accumulate", ...

/// One scored candidate of a search. A plain value.
struct TrialRecord {
    std::string kind;    ///< "start", "random", "bayesian", "rescore", "influence", "manual", ...
    bool counts = true;  ///< false for re-scores, which are no trials
    int index = 0;       ///< trials of this task so far, this one included if it counts
    double score = 0.0;  ///< matchness, 0 to 1
    double best = 0.0;   ///< the incumbent's score behind this trial
    bool isBest = false; ///< became the incumbent
    LayerPlan plan;      ///< the candidate
    std::vector<std::uint8_t> ticks; ///< [window] 1 = the candidate predicted this token
    std::vector<TokenId> window;     ///< [window] what it had to predict
    std::vector<TokenId> guesses;    ///< [window] what it predicted
    double suggestMs = 0.0;
    double scoreMs = 0.0;
};

/// A change of what the decoder drafts with.
struct PlanChange {
    std::uint64_t planId = 0; ///< counts up from 1 in the order of use
    LayerPlan plan;
    double skipRatio = 0.0; ///< r that the plan was made for
    std::string reason;     ///< "start", "better", "restart", "lower r", "larger r", ...
};

/// What a search did during a step or behind an answer. A plain value.
struct SearchReport {
    DecoderPhase phase = DecoderPhase::Plain;
    std::vector<TrialRecord> trials;
    std::vector<PlanChange> planChanges;
    std::vector<std::string> remarks; ///< sentences for the user: "r lowered from .45 to .40: ..."
    double searchMs = 0.0;
};

/// Why a round was drafted as it was, from a decoder that chooses. A plain value.
struct DraftChoice {
    std::string_view drafter = {}; ///< "none", "free", "skip", "exit"; empty: nothing was chosen
    int nodes = 0;
    double expectedTokens = 1.0;   ///< of this round, the bonus included
    double expectedCost = 1.0;     ///< in plain steps, as measured
    std::string_view refused = {}; ///< the best of the others; empty when there was none
    double refusedTokens = 1.0;
    double refusedCost = 1.0;
    double plainMs = 0.0; ///< what a plain step takes just now; 0 before it was measured
    bool isProbe = false; ///< chosen to learn what it gives, not because it pays
};

/// A row that ran beside a draft and could not be accepted: a mask, a guess of a window.
struct SideRow {
    TokenId token = kNoToken;
    /// A node of the draft, or draft.size() + an earlier row of this kind; -1 = the root.
    int parent = -1;

    bool operator==(const SideRow&) const = default;
};

/// A cell of a StepTable: a token, shown as its text, or a number, or words.
struct TokenCell {
    TokenId token = kNoToken;

    bool operator==(const TokenCell&) const = default;
};

using TableCell = std::variant<TokenCell, double, std::string>;

/// What a decoder shows of its round beyond draft and plan, for views that know no decoder: its
/// window, its pool, its table of exits. A plain value.
struct StepTable {
    std::string name;                         ///< "pool", for scripts
    std::string title;                        ///< "Pool", for people
    std::vector<std::string> columns;         ///< headings
    std::vector<std::vector<TableCell>> rows; ///< each [at most columns]
    int chosenRow = -1;                       ///< the one that was acted upon; -1 = none
};

/// What one round of a decoder gave, and how it came about. A plain value.
struct DecodeStep {
    std::vector<TokenId> tokens;  ///< newly emitted, in order; never empty
    std::vector<TokenFact> facts; ///< [tokens]
    /// [tokens] what the full model held most likely at each place, best first.
    std::vector<std::vector<TokenChance>> chances;
    DraftTree draft;          ///< empty for a plain step, and where nothing was drafted
    std::vector<int> path;    ///< accepted nodes of `draft`, in order
    std::uint64_t planId = 0; ///< what was drafted with; 0 = the full model
    SearchReport search;
    DraftChoice choice;
    std::vector<SideRow> sides; ///< ran beside the draft
    std::vector<StepTable> tables;
    int verifiedRows = 0;
    /// Layers whose weights were read, a skipped sublayer as half of one: together the cost that
    /// tokens per layer count (eTPL, arXiv 2504.05598).
    double draftLayers = 0.0;
    double verifyLayers = 0.0;
    /// What passes took for prompt tokens that they read along (Target::unread), shared out by
    /// rows: the prompt's time, in none of the others.
    double promptMs = 0.0;
    double draftMs = 0.0;
    double verifyMs = 0.0;        ///< for a plain step: the whole pass
    bool isInsideGrammar = false; ///< there is a grammar, and it wants more behind the last token

    /// By the full model alone: rows beside a draft make it a round of a method even without one.
    bool isPlain() const { return draft.size() == 0 && sides.empty(); }

    /// Leaves only the first `count` tokens and what belongs to them.
    void cutTo(std::size_t count);
};

} // namespace engine
