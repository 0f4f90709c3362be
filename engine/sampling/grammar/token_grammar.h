// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/sampling/grammar/grammar_matcher.h"
#include "engine/text/vocabulary/token_trie.h"

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

/// Which tokens may follow, by a grammar over their bytes. What may follow a state is found by one
/// walk through the vocabulary's trie and kept. Thread: one at a time.
class TokenGrammar {
public:
    using State = GrammarMatcher::State;

    TokenGrammar(std::shared_ptr<const GrammarGraph> graph,
                 std::shared_ptr<const TokenTrie> vocabulary);

    /// kDead where the grammar is too ambiguous to be followed from its start.
    State start() const { return m_matcher.start(); }

    static Error ambiguityError();

    /// Behind a token. kDead behind one that the grammar does not allow and behind kDead.
    State next(State state, TokenId token);

    bool canEnd(State state) const { return m_matcher.canEnd(state); }

    /// Makes -infinity of the logits of all tokens that may not follow; end ids may where the text
    /// can end, and never count as text. Shapes: logits [vocab]. `state` is not kDead.
    /// Errors: InvalidInput when no token may follow (those of this model cannot write what the
    /// grammar asks for), and when the grammar is too ambiguous to be followed.
    Result<void> apply(State state, std::span<const TokenId> endIds, std::span<double> logits);

    /// To be called between passes with the one state that is still needed: forgets the others
    /// when they are many. Returns its number from now on.
    State settle(State state);

private:
    /// A bit for each token that may follow.
    using Mask = std::vector<std::uint64_t>;

    const Mask& maskOf(State state);

    GrammarMatcher m_matcher;
    std::shared_ptr<const TokenTrie> m_vocabulary;
    std::unordered_map<State, Mask> m_masks;
    std::vector<State> m_path; // [depth of the trie + 1] of the walk
};

} // namespace engine
