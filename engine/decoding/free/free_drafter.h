// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/free/free_candidates.h"
#include "engine/decoding/free/successor_memory.h"
#include "engine/decoding/learnt/skip_set_memory.h"
#include "engine/decoding/round/draft_tree.h"
#include "engine/decoding/target.h"

#include <optional>
#include <string>
#include <vector>

namespace engine {

/// How a free draft may grow.
struct FreeDraftOptions {
    int maxNodes = 7;
    int maxDepth = 7;       ///< room for the bonus is the caller's affair
    double leastGain = 0.0; ///< a node below this product of probabilities is not worth its row
    FreeSources sources = {};
};

/// A draft that cost no pass, and what it promises. A plain value.
struct FreeDraft {
    DraftTree tree;              ///< empty when nothing is worth it
    double expectedTokens = 1.0; ///< of a round that verifies it, the bonus included
    /// [nodes] what each node adds to that, falling: a draft of at most n nodes has the first n.
    std::vector<double> gains = {};
};

/// Drafts from what the model has done before: the longest recent match of the newest tokens, and
/// the successors that it gave these tokens last time, in one tree that holds the likeliest paths.
/// How likely they are is learnt from every token that is emitted, drafted or not, so a source that
/// does not pay is not asked until it would. Successors and statistics are kept across prompts.
/// The same calls give the same trees. Thread: engine.
class FreeDrafter {
public:
    explicit FreeDrafter(int vocabSize)
        : m_successors(vocabSize) {}

    /// Stores what is to be remembered and is not stored yet; what then fails is not told.
    ~FreeDrafter();

    FreeDrafter(const FreeDrafter&) = delete;
    FreeDrafter& operator=(const FreeDrafter&) = delete;

    /// Goes on from the successors that earlier runs have stored for the model of `learned`, and
    /// stores them again as keep() and the end ask for it; null stores no more. Returns a remark
    /// for the user, mostly empty.
    std::string remember(const SkipSetMemory* learned);

    bool isRemembering() const { return m_memory.has_value(); }

    /// Behind an answer: stores the successors when enough of them are new. Returns a remark for
    /// the user, mostly empty.
    std::string keep();

    /// Stores whatever is not stored yet. Returns remarks for the user, mostly none.
    std::vector<std::string> storeAll();

    /// A new prompt, read to its end, and how its answer is drawn.
    void begin(const Prompt& prompt, const SamplingOptions& sampling);

    /// The best tree within the options: parents before children, the likeliest chain first.
    /// DraftNode::probability is that the model takes the node where it has taken its parent.
    FreeDraft draft(const FreeDraftOptions& options) const;

    /// What a round has emitted, and the rows that its pass has computed.
    void observe(std::span<const TokenId> emitted, std::span<const SeenRow> rows);

    /// The same from the round that `target` has just made; plain ones and other drafters' count.
    void observe(const Target& target, const DecodeStep& step);

    SuccessorTable& successors() { return m_successors; }

    const SuccessorTable& successors() const { return m_successors; }

    const LookupDrafter& lookup() const { return m_lookup; }

private:
    std::string failureOf(const Result<void>& stored);

    FreeCandidateFinder finder(FreeSources sources) const {
        return {m_lookup, m_successors, m_statistics, m_sampling, sources};
    }

    LookupDrafter m_lookup;
    SuccessorTable m_successors;
    FreeStatistics m_statistics;
    SamplingOptions m_sampling;
    std::optional<SuccessorMemory> m_memory;
    std::string m_toldFailure;     // of storing: the same one is told once
    std::size_t m_answerStart = 0; // among the tokens of m_lookup
};

} // namespace engine
