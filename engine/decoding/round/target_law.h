// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/draft_tree.h"
#include "engine/model/transformer.h"
#include "engine/sampling/penalties.h"

#include <span>
#include <vector>

namespace engine {

/// The rows of a verify pass that can decide a token. Guests of the call.
struct LawRows {
    std::span<const TokenId> sequence; ///< prompt and answer, the pending token its last
    std::size_t promptLength = 0;      ///< where the answer begins in it
    const DraftTree& draft;
};

/// What the sampling options make of the full model's logits: the part of the law that depends on
/// the tokens before a row. Each row of a pass has its own: the prompt, the answer, and its path
/// from the root of the draft. Whatever drafted, what is verified is the law that vanilla draws
/// from, so speculation stays exact. Thread: engine.
class TargetLaw {
public:
    /// `options` must have passed validateFor(vocabSize).
    TargetLaw(const SamplingOptions& options, int vocabSize)
        : m_penalties(options, vocabSize) {}

    /// Whether rows are left as they are. Otherwise apply() needs the logits of all of them, also
    /// for a greedy choice: a summary does not show what comes up when its best tokens go down.
    bool isOff() const { return m_penalties.areOff(); }

    /// Changes the logits of the rows and makes their summaries anew. Shapes: pass.logits and
    /// pass.summaries [1 + draft or more]; row 0 belongs to the root, row 1 + i to node i, the
    /// others stay.
    void apply(const LawRows& rows, ForwardResult& pass);

private:
    Penalties m_penalties;
    std::vector<TokenId> m_sequence; // of one row
};

} // namespace engine
