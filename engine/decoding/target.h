// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"
#include "engine/decoding/round/cached_sequence.h"
#include "engine/decoding/round/draft.h"
#include "engine/decoding/round/logit_processor.h"
#include "engine/decoding/round/verifier.h"
#include "engine/decoding/statistics/decayed_rate.h"
#include "engine/decoding/statistics/step_costs.h"
#include "engine/model/skip_sets/sublayer_influence.h"

#include <algorithm>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Milliseconds since some fixed moment. Whatever is decided by measured time asks this clock
/// alone, so that tests can invent what passes cost.
using StepClock = std::function<double()>;

/// One row of a verify pass and the full model's prediction behind it. A plain value.
struct SeenRow {
    TokenId previous = kNoToken; ///< the token before the row's own; kNoToken if there is none
    TokenId token = kNoToken;    ///< the row's own
    HeadSummary summary;         ///< the full model's distribution of the next token
};

/// How a draft is verified, and what else the pass shall give. Spans and pointers are guests of the
/// call.
struct VerifyTerms {
    VerifyRule rule = VerifyRule::Match;
    VerifyDraws* draws = nullptr; ///< see Verifier
    bool drawsFromSides = false;  ///< whether lastLogits() is wanted of the rows beside the draft
    /// See ForwardRequest::handOuts; the rows are as in Draft::layersRun.
    std::span<const HandOut> handOuts = {};
};

/// The full model together with the sequence that is being decoded: what every decoder that drafts
/// and verifies keeps between its rounds. It keeps the invariant of Decoder: the cache holds the
/// rows of all tokens but the pending one. Thread: engine.
class Target {
public:
    /// `scratchRows` slots are reserved behind the context for drafts and for scoring candidates.
    /// Errors: InvalidInput for sampling options out of range; NoMemory for the cache.
    static Result<Target> make(Transformer& transformer,
                               const SamplingOptions& sampling,
                               int contextLength,
                               int scratchRows);

    /// Times passes with this clock from now on; empty = with the machine's steady clock.
    void useClock(StepClock clock) { m_clock = std::move(clock); }

    double nowMs() const;

    /// See Decoder::begin. The last `unreadRows` prompt tokens before the pending one (at most
    /// kPrefillRows, and none that are cached already) are left for the next pass to read.
    Result<void> begin(const Prompt& prompt, const PromptWork& work, int unreadRows = 0);

    /// See Decoder::readAhead.
    Result<bool> readAhead(const Prompt& prompt, const PromptWork& work);

    /// Draws with these options from the next pass on. Errors: InvalidInput for an option out of
    /// range, or for a token outside the vocabulary.
    Result<void> changeSampling(const SamplingOptions& sampling);

    /// One pass of the full model over the pending token and the draft; keeps what is accepted. All
    /// of the step is set but what depends on the method: `search`, `choice` and `tables`. Errors:
    /// those of a pass, Cancelled. A draft whose shapes do not fit is a bug (ENGINE_CHECK).
    Result<DecodeStep> verify(Draft draft, const VerifyTerms& terms);

    Result<DecodeStep> verify(Draft draft, VerifyRule rule = VerifyRule::Match) {
        return verify(std::move(draft), VerifyTerms{.rule = rule});
    }

    /// verify() without a draft.
    Result<DecodeStep> plainStep() { return verify(Draft()); }

    Transformer& transformer() const { return *m_transformer; }

    KvCache& cache() { return m_sequence.cache(); }

    const Sampler& sampler() const { return m_sampler; }

    std::stop_token stop() const { return m_stop; }

    /// The newest token, which is not in the cache yet; kNoToken before begin().
    TokenId pending() const { return m_pending; }

    Position promptLength() const { return m_promptLength; }

    /// The ids that end this answer, from the prompt given to begin().
    std::span<const TokenId> endIds() const { return m_endIds; }

    bool endsAnswer(TokenId token) const {
        return std::find(m_endIds.begin(), m_endIds.end(), token) != m_endIds.end();
    }

    /// Prompt tokens between the cached ones and the pending one, which the next pass reads too.
    /// There are some only before the first step, if begin() was asked to leave them unread.
    std::span<const TokenId> unread() const { return m_unread; }

    /// Rows in the cache; the slot and position of the pending token when nothing is unread.
    Position length() const { return m_sequence.length(); }

    /// The place in the answer of the token to come, which keys what is drawn; an answer that goes
    /// on counts from its own beginning.
    Position outputPosition() const {
        return m_begunTokens + static_cast<Position>(m_output.size());
    }

    /// [length()] the cached tokens, the prompt's first.
    std::span<const TokenId> cachedTokens() const { return m_sequence.tokens(); }

    /// Tokens emitted for this prompt.
    std::span<const TokenId> output() const { return m_output; }

    /// [output] the full model's most probable token at each place; the output itself when greedy.
    std::span<const TokenId> outputArgmax() const { return m_outputArgmax; }

    /// The full model's predictions in the newest pass of verify(), one for each row, rejected
    /// branches included: first the row of the pending token, then those of the draft's nodes (both
    /// after the LogitProcessor), then those of the rows beside the draft. Empty before the first
    /// pass.
    std::span<const HeadSummary> lastSummaries() const { return m_pass.summaries; }

    /// All logits of such a row, [vocab], until the transformer's next pass. Greedy decoding may
    /// not compute them; rows beside the draft have them only if VerifyTerms::drawsFromSides asked
    /// for them. Errors: those of LogitRows::row().
    Result<std::span<const double>> lastLogits(int row);

    /// The prediction of a row together with its tokens; 0 <= row < lastSummaries().size().
    SeenRow seenRow(int row) const;

    int remainingContext() const {
        return m_contextLength - length() - static_cast<int>(m_unread.size()) - 1;
    }

    /// Tokens that the answer can still take: limited by the context or by Prompt::maxTokens.
    int remainingTokens() const;

    /// Nodes that a draft of this answer should have at most where nobody says otherwise: by
    /// nodesWorth() as many as the passes before it have shown to be worth their rows, until then
    /// as many as the backend prefers.
    int preferredNodes() const { return m_preferredNodes; }

    /// How much each sublayer changes the residual stream, over all full passes so far.
    const SublayerInfluence& influence() const { return m_influence; }

private:
    Target(Transformer& transformer,
           const SamplingOptions& sampling,
           int contextLength,
           KvCache cache);

    void leaveAnswer();
    Result<void> read(std::span<const TokenId> tokens, std::size_t count, const PromptWork& work);
    Result<void> runPass(const Draft& draft, const VerifyTerms& terms);
    void gatherRows(const Draft& draft);
    void forbidMaskToken();
    Result<void> processLogits(const DraftTree& draft);
    void cutBehindStuckRow(Verdict& verdict) const;
    Result<void> describe(DecodeStep& step, const Verdict& verdict);
    Result<double> probabilityAt(int row, TokenId token);
    std::vector<TokenChance> chancesAt(int row) const;
    void keep(const Verdict& verdict);
    void measure(const DecodeStep& step, bool isOfRowsAlone);

    Transformer* m_transformer;
    StepClock m_clock;
    Sampler m_sampler;
    LogitProcessor m_processor;
    CachedSequence m_sequence;
    LayerPlan m_fullPlan;
    SublayerInfluence m_influence;
    std::stop_token m_stop;
    std::vector<TokenId> m_endIds;
    std::vector<TokenId> m_output;
    std::vector<TokenId> m_outputArgmax; // [output]
    ForwardResult m_pass;                // of the newest verify pass, its memory used again
    std::vector<TokenId> m_rowTokens;    // [rows of that pass], unread ones first
    std::vector<int> m_headRows;         // of them those from the pending token's on
    std::vector<HiddenPiece> m_resumed;  // what that pass went on from
    std::vector<int> m_rowParents;       // [rows of that pass] rows; -1 for the first
    TokenId m_beforeRows = kNoToken;     // the token before the first row's
    std::vector<TokenId> m_unread;
    TokenId m_pending = kNoToken;
    Position m_promptLength = 0;
    Position m_begunTokens = 0; // of the prompt, see Prompt
    int m_contextLength;
    int m_maxTokens = 0;
    StepCosts m_costs;        // of passes by their rows
    DecayedRate m_firstTaken; // how often something of a draft was accepted
    int m_preferredNodes = 0; // of this answer
};

} // namespace engine
