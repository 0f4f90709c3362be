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

/// Determines which tokens may follow, by a grammar over their bytes. The tokens allowed in a state
/// are found by one walk through the vocabulary's trie and cached. The first token of an answer is
/// read as TokenTrie::first() has it, for so it is shown. Thread: one at a time.
class TokenGrammar {
public:
    using State = GrammarMatcher::State;

    TokenGrammar(std::shared_ptr<const GrammarGraph> graph,
                 std::shared_ptr<const TokenTrie> vocabulary);

    /// kDead if the grammar is too ambiguous to be followed from its start.
    State start() const {
        return m_matcher.start() == GrammarMatcher::kDead ? GrammarMatcher::kDead : kBegin;
    }

    static Error ambiguityError();

    /// The state after a token. kDead after a token that the grammar does not allow, and after
    /// kDead.
    State next(State state, TokenId token);

    /// Sets the logits of all tokens that may not follow to -infinity. End ids are allowed where
    /// the text can end, and never count as text. Shapes: logits [vocab]. `state` is not kDead.
    /// Errors: InvalidInput if no token may follow (the model's tokens cannot write what the
    /// grammar requires), and if the grammar is too ambiguous to be followed.
    Result<void> apply(State state, std::span<const TokenId> endIds, std::span<double> logits);

    /// Call it between passes with the one state that is still needed: it forgets the others if
    /// there are many. Returns the state's new number.
    State settle(State state);

private:
    /// A bit for each token that may follow.
    using Mask = std::vector<std::uint64_t>;

    /// Nothing is written yet. No state of the matcher, because a text may come back to its start.
    static constexpr State kBegin = -2;

    State placeOf(State state) const { return state == kBegin ? m_matcher.start() : state; }

    const TokenTrie& tokensIn(State state) const {
        return state == kBegin ? m_vocabulary->first() : *m_vocabulary;
    }

    const Mask& maskOf(State state);
    bool isNewInWalk(std::size_t transition);

    GrammarMatcher m_matcher;
    std::shared_ptr<const TokenTrie> m_vocabulary;
    std::unordered_map<State, Mask> m_masks;
    std::vector<State> m_path;          // [depth of the trie + 1] of the walk
    std::vector<std::uint32_t> m_walks; // [transitions] the newest walk that came along each
    std::uint32_t m_walk = 0;           // the number of the newest walk
};

} // namespace engine
