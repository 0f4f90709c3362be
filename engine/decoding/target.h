// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"
#include "engine/decoding/round/cached_sequence.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/decoding/round/target_law.h"
#include "engine/decoding/round/verifier.h"
#include "engine/model/sublayer_influence.h"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Milliseconds since any moment. What is decided by measured time asks nothing else, so that tests
/// can make up what passes cost.
using StepClock = std::function<double()>;

/// What a verify pass showed behind one of its rows. A plain value.
struct SeenRow {
    TokenId previous = kNoToken; ///< the token before the row's own; kNoToken when there is none
    TokenId token = kNoToken;    ///< the row's own
    HeadSummary summary;         ///< of what the full model would have follow
};

/// What one verify pass shall check, and what else it shall show. All spans are guests of the call.
struct VerifyRequest {
    DraftTree draft = {};
    VerifyRule rule = VerifyRule::Match;
    VerifyDraws* draws = nullptr; ///< see Verifier
    /// Rows beside the draft: they see what their parents see and are never accepted.
    std::span<const SideRow> sides = {};
    bool drawsFromSides = false; ///< whether lastLogits() is wanted of them, too
    /// Where the pass resumes what drafting began: the layers below have run for all its rows,
    /// their keys and values are in the cache, and `hidden` is the stream that enters this one.
    int firstLayer = 0;
    /// [unread + 1 + draft + sides, hidden size]; empty when `firstLayer` is 0.
    std::span<const double> hidden = {};
    /// See ForwardRequest::hiddenLayers; given back by Target::lastHidden().
    std::span<const int> hiddenLayers = {};
};

/// The full model on the sequence that is being decoded: what every decoder that drafts and
/// verifies keeps between its rounds. Holds the invariant of Decoder: the cache has the rows of all
/// tokens but the pending one. Thread: engine.
class Target {
public:
    /// `scratchRows` slots are reserved behind the context for drafts and for scoring candidates.
    /// Errors: InvalidInput for sampling options out of range; NoMemory for the cache.
    static Result<Target> make(Transformer& transformer,
                               const SamplingOptions& sampling,
                               int contextLength,
                               int scratchRows);

    /// Passes are timed by it from now on; empty = the machine's steady clock, as at first.
    void useClock(StepClock clock) { m_clock = std::move(clock); }

    double nowMs() const;

    /// See Decoder::begin. At most `unreadRows` (up to kPrefillRows) prompt tokens before the last
    /// one are left to the next pass; what is cached already stays.
    Result<void> begin(const Prompt& prompt, const PromptWork& work, int unreadRows = 0);

    /// Draws with these options from the next pass on. Errors: InvalidInput, out of range or of
    /// the vocabulary.
    Result<void> changeSampling(const SamplingOptions& sampling);

    /// One pass of the full model over the pending token and the draft; keeps what is accepted.
    /// The step has its tokens, facts, path, rows and verifyMs set. Errors: those of a pass,
    /// Cancelled. `draws`: see Verifier.
    Result<DecodeStep> verify(DraftTree draft, VerifyRule rule, VerifyDraws* draws = nullptr);

    /// The same with rows beside the draft, from a layer on, with hidden states. A request whose
    /// shapes do not fit is a bug (ENGINE_CHECK).
    Result<DecodeStep> verify(VerifyRequest request);

    /// verify() without a draft.
    Result<DecodeStep> plainStep();

    Transformer& transformer() { return *m_transformer; }

    KvCache& cache() { return m_sequence.cache(); }

    const Sampler& sampler() const { return m_sampler; }

    std::stop_token stop() const { return m_stop; }

    /// The newest token, not in the cache yet; kNoToken before begin().
    TokenId pending() const { return m_pending; }

    Position promptLength() const { return m_promptLength; }

    /// The ids that end this answer, as begin() was told.
    std::span<const TokenId> endIds() const { return m_endIds; }

    /// Prompt tokens between the cached ones and the pending one, which the next pass reads along;
    /// none but before the first step of an answer that begin() was asked to leave some to.
    std::span<const TokenId> unread() const { return m_unread; }

    /// Rows in the cache; the slot and position of the pending token when nothing is unread.
    Position length() const { return m_sequence.length(); }

    /// The place in the answer of the token to come, which keys what is drawn; an answer that goes
    /// on counts from its own beginning.
    Position outputPosition() const {
        return m_begunTokens + static_cast<Position>(m_output.size());
    }

    /// Tokens emitted for this prompt.
    std::span<const TokenId> output() const { return m_output; }

    /// For each of them the full model's most probable token at its place; the same when greedy.
    std::span<const TokenId> outputArgmax() const { return m_outputArgmax; }

    /// For each row of the newest pass of verify() what the full model said, rejected branches
    /// included: the pending token's row, then those of the draft's nodes, both as the TargetLaw
    /// has it, and of the rows beside the draft. Empty before the first.
    std::span<const HeadSummary> lastSummaries() const { return m_pass.summaries; }

    /// All logits of such a row, [vocab]; unless greedy, which may need none. Of a row beside the
    /// draft only when the request said that it draws from those.
    std::span<const double> lastLogits(int row) const;

    /// The hidden states that its request asked for, [hiddenLayers, unread + 1 + draft + sides,
    /// hidden size].
    std::span<const double> lastHidden() const { return m_pass.hidden; }

    /// The same with the tokens that a row stands behind; 0 <= row < lastSummaries().size().
    SeenRow seenRow(int row) const;

    int remainingContext() const {
        return m_contextLength - length() - static_cast<int>(m_unread.size()) - 1;
    }

    /// Tokens that the answer can still take: the context's room or the answer's.
    int remainingTokens() const;

    /// Gathered from every full pass since the decoder was made.
    const SublayerInfluence& influence() const { return m_influence; }

private:
    Target(Transformer& transformer,
           const SamplingOptions& sampling,
           int contextLength,
           KvCache cache);

    Result<void> runPass(const VerifyRequest& request);
    void gatherRows(const VerifyRequest& request);
    void forbidMaskToken();
    Result<void> applyLaw(const DraftTree& draft);
    void describe(DecodeStep& step, const Verdict& verdict) const;
    double probabilityAt(int row, TokenId token) const;
    std::vector<TokenChance> chancesAt(int row) const;
    void keep(const Verdict& verdict);

    Transformer* m_transformer;
    StepClock m_clock;
    Sampler m_sampler;
    TargetLaw m_law;
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
    std::vector<int> m_rowParents;       // [rows of that pass] rows; -1 for the first
    TokenId m_beforeRows = kNoToken;     // the token before the first row's
    std::vector<TokenId> m_unread;
    TokenId m_pending = kNoToken;
    Position m_promptLength = 0;
    Position m_begunTokens = 0; // of the prompt, see Prompt
    int m_contextLength;
    int m_maxTokens = 0;
};

} // namespace engine
