// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"
#include "engine/decoding/round/draft_tree.h"
#include "engine/model/transformer.h"
#include "engine/sampling/grammar/token_grammar.h"
#include "engine/sampling/penalties.h"

#include <memory>
#include <span>
#include <vector>

namespace engine {

/// The rows of a verify pass that can decide a token. Guests of the call.
struct ProcessedRows {
    std::span<const TokenId> sequence; ///< prompt and answer, the pending token its last
    const DraftTree& draft;
};

/// Changes the full model's logits as the sampling options say, before a token is drawn: penalties
/// and the grammar, which depend on the tokens before a row. Each row of a pass has its own: the
/// prompt, the answer, and its path from the root of the draft. Whatever drafted, a row is verified
/// with the distribution that vanilla draws from, so speculation stays exact. Thread: engine.
class LogitProcessor {
public:
    /// `options` must have passed validateFor(vocabSize).
    LogitProcessor(const SamplingOptions& options, int vocabSize);

    /// The same with other options; what is known of the grammar stays where that is the same.
    void change(const SamplingOptions& options);

    /// A new answer. Errors: InvalidInput for a grammar without a vocabulary, for one that is too
    /// ambiguous, and where what the answer has begun with does not fit it.
    Result<void> begin(const Prompt& prompt);

    /// Whether rows are left as they are. Otherwise apply() needs the logits of all of them, also
    /// for a greedy choice: a summary does not show what comes up when its best tokens go down.
    bool isOff() const { return m_penalties.areOff() && m_grammar.isOff(); }

    /// Changes the logits of the rows and makes their summaries anew. Shapes: pass.logits and
    /// pass.summaries [1 + draft or more]; row 0 belongs to the root, row 1 + i to node i, the
    /// others stay, as does a row behind a token that the grammar forbids: no token can come of it.
    /// Errors: those of TokenGrammar::apply at the root, and of LogitRows::row().
    Result<void> apply(const ProcessedRows& rows, ForwardResult& pass);

    /// Whether the grammar cannot go on behind this row of a draft. Vanilla may never come there,
    /// so nothing that such a row decides is emitted: the next step has it at its root, and tells
    /// it.
    bool isStuck(int row) const { return m_isStuck[static_cast<std::size_t>(row)]; }

    /// These tokens belong to the answer now.
    void keep(std::span<const TokenId> tokens);

private:
    using State = TokenGrammar::State;

    bool isEnd(TokenId token) const;
    void findStates(const DraftTree& draft);

    int m_vocabSize;
    Penalties m_penalties;
    Grammar m_grammar;
    std::shared_ptr<const TokenTrie> m_vocabulary;
    std::unique_ptr<TokenGrammar> m_tokens; // null without a grammar, and before the first answer
    std::vector<TokenId> m_endIds;
    State m_state = GrammarMatcher::kDead; // behind the answer
    std::size_t m_answerStart = 0;         // where the answer begins in a sequence
    std::vector<State> m_states;           // [rows] of a pass
    std::vector<bool> m_isStuck;           // [rows]
    std::vector<TokenId> m_sequence;       // of one row
};

} // namespace engine
