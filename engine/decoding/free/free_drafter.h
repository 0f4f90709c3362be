// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/drafter.h"
#include "engine/decoding/free/free_candidates.h"
#include "engine/decoding/free/successor_memory.h"
#include "engine/decoding/statistics/skip_set_memory.h"

#include <optional>
#include <string>
#include <vector>

namespace engine {

/// How a free draft may grow.
struct FreeDraftOptions {
    int maxNodes = 7;
    int maxDepth = 7;       ///< the caller leaves room for the bonus token
    double leastGain = 0.0; ///< a node below this product of probabilities is not worth its row
    FreeSources sources = {};
    std::span<const TokenId> endIds = {}; ///< nothing is drafted behind these
};

/// Drafts from what the model has done before: the longest recent match of the newest tokens, and
/// the successors that it gave these tokens last time, in one tree that holds the likeliest paths.
/// How likely they are it learns from every token that is emitted, drafted or not, so a source that
/// does not pay is not asked until it would. Successors and statistics are kept across prompts.
/// The same calls give the same trees.
class FreeDrafter final : public Drafter {
public:
    explicit FreeDrafter(int vocabSize)
        : m_successors(vocabSize) {}

    /// Stores what is to be remembered and is not stored yet; errors are not reported.
    ~FreeDrafter() override;

    FreeDrafter(const FreeDrafter&) = delete;
    FreeDrafter& operator=(const FreeDrafter&) = delete;

    /// Goes on from the successors that earlier runs have stored for the model of `memory`, and
    /// lets keep() and the destructor store them again; null stores no more. Returns a note for the
    /// user, usually empty.
    std::string remember(const SkipSetMemory* memory);

    /// Whether a memory was named, also one that is only read.
    bool isRemembering() const { return m_isRemembering; }

    /// At the end of an answer: stores the successors if enough of them are new. Returns a note for
    /// the user, usually empty.
    std::string keep();

    /// Stores whatever is not stored yet. Returns notes for the user, usually none.
    std::vector<std::string> storeAll();

    /// A new prompt, read to its end, and how its answer is drawn.
    void begin(const Prompt& prompt, const SamplingOptions& sampling);

    /// What drafts are made from, and how little a node may promise: see FreeDraftOptions.
    void use(FreeSources sources, double leastGain = 0.0) {
        m_sources = sources;
        m_leastGain = leastGain;
    }

    /// The best tree within the options: parents before children, the likeliest chain first, with
    /// its gains. DraftNode::probability is that the model takes the node where it has taken its
    /// parent. Empty when nothing is worth it.
    Draft propose(const FreeDraftOptions& options) const;

    /// What a round has emitted, and the rows that its pass has computed.
    void observe(std::span<const TokenId> emitted, std::span<const SeenRow> rows);

    /// The same from the round that `target` has just made, whatever drafted it.
    void observe(const Target& target, const DecodeStep& step);

    const LookupDrafter& lookup() const { return m_lookup; }

private:
    Result<Draft> makeDraft(Target& target, const DraftTerms& terms) override;
    std::string failureOf(const Result<void>& stored);

    FreeCandidateFinder finder(FreeSources sources) const {
        return {m_lookup, m_successors, m_statistics, m_sampling, sources};
    }

    LookupDrafter m_lookup;
    SuccessorTable m_successors;
    FreeStatistics m_statistics;
    SamplingOptions m_sampling;
    std::optional<SuccessorMemory> m_memory;
    bool m_isRemembering = false;
    FreeSources m_sources;
    double m_leastGain = 0.0;
    std::string m_reportedFailure; // of storing: the same one is reported once
    std::size_t m_answerStart = 0; // among the tokens of m_lookup
};

} // namespace engine
