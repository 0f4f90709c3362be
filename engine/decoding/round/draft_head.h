// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// The tokens that a draft chooses from: the first ones of the vocabulary, which is where a
/// tokenizer that was made by merging pairs has the frequent ones; those that end the answer; and
/// all that stand in the text so far, with their neighbours in the vocabulary. A draft pass reads
/// no other rows of the output head, which in a small model is a fifth of all weights. The text
/// stays what it is: verification reads the whole head. Source of the idea: arXiv 2502.14856, which
/// keeps the tokens that are frequent in a corpus. Thread: engine.
class DraftHead {
public:
    /// From now on this share of the vocabulary is kept, the first tokens; see keptShare().
    void use(double share) { m_wanted = share; }

    /// For the next draft pass of this target: for ForwardRequest::headSpans, valid until the next
    /// call. Empty for the whole vocabulary.
    std::span<const TokenSpan> spans(const Target& target);

    /// The share of the head's rows that is kept at the beginning of a text where `share` of the
    /// vocabulary is asked for: a small vocabulary is kept whole, and so is every one by a backend
    /// that leaves no tokens out.
    static double keptShare(const Transformer& transformer, double share);

private:
    void begin(const Target& target);
    void keep(TokenId token);
    void gather();

    double m_wanted = 1.0;
    double m_used = 1.0;                ///< of the blocks that are kept now
    std::vector<TokenId> m_seen;        ///< cached tokens that are kept
    std::vector<std::uint8_t> m_isKept; ///< [blocks of the vocabulary]
    bool m_hasNew = false;
    int m_vocabSize = 0;
    std::vector<TokenSpan> m_spans;
};

} // namespace engine
