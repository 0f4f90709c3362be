// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/token_grammar.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace engine {

namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();
constexpr std::size_t kWordBits = 64;

/// The limit of what is kept after a round; ordinary grammars never reach it.
constexpr std::size_t kMostStates = 50'000;
constexpr std::size_t kMostMasks = 2'000;

/// The most that one walk may cost, in places of states. A walk costs more only if nearly every
/// token leads to a state of its own with many places; such a grammar would take seconds for each
/// token.
constexpr std::size_t kMostWork = 3'000'000;

} // namespace

TokenGrammar::TokenGrammar(std::shared_ptr<const GrammarGraph> graph,
                           std::shared_ptr<const TokenTrie> vocabulary)
    : m_matcher(std::move(graph))
    , m_vocabulary(std::move(vocabulary))
    , m_path(
          static_cast<std::size_t>(std::max(m_vocabulary->depth(), m_vocabulary->first().depth())) +
          1) {}

Error TokenGrammar::ambiguityError() {
    return {ErrorCode::InvalidInput,
            "The grammar is too ambiguous: the same text can be read in thousands of ways.",
            "Nest fewer repetitions, or lower their bounds."};
}

TokenGrammar::State TokenGrammar::next(State state, TokenId token) {
    const std::string& bytes = tokensIn(state).bytesOf(token);
    if (bytes.empty())
        return GrammarMatcher::kDead;
    state = placeOf(state);
    for (const char byte : bytes)
        state = m_matcher.next(state, static_cast<std::uint8_t>(byte));
    return state;
}

/// One walk: a byte that does not fit prunes everything below it. Its work counts each transition
/// once, also one that an earlier walk has found: the result does not depend on what was asked for
/// before.
const TokenGrammar::Mask& TokenGrammar::maskOf(State state) {
    const auto [entry, isNew] = m_masks.try_emplace(state);
    if (!isNew)
        return entry->second;
    Mask& mask = entry->second;
    mask.assign((static_cast<std::size_t>(m_vocabulary->vocabSize()) + kWordBits - 1) / kWordBits,
                0);
    ++m_walk;
    std::size_t work = 0;
    const auto nodes = tokensIn(state).nodes();
    const auto tokens = tokensIn(state).tokens();
    m_path.front() = placeOf(state);
    for (std::size_t at = 0; at < nodes.size() && work <= kMostWork;) {
        const TokenTrie::Node& node = nodes[at];
        const auto depth = static_cast<std::size_t>(node.depth);
        const State from = m_path[depth - 1];
        const State found = m_matcher.next(from, node.byte);
        if (m_matcher.isGivenUp(from, node.byte)) {
            mask.clear(); // what was found is not all
            return mask;
        }
        if (isNewInWalk(m_matcher.transitionOf(from, node.byte)))
            work += m_matcher.workOf(from, node.byte);
        if (found == GrammarMatcher::kDead) {
            at = static_cast<std::size_t>(node.behind);
            continue;
        }
        m_path[depth] = found;
        for (std::int32_t i = node.firstToken; i < node.endToken; ++i) {
            const auto id = static_cast<std::size_t>(tokens[static_cast<std::size_t>(i)]);
            mask[id / kWordBits] |= std::uint64_t{1} << (id % kWordBits);
        }
        ++at;
    }
    if (work > kMostWork)
        mask.clear();
    return mask;
}

bool TokenGrammar::isNewInWalk(std::size_t transition) {
    if (m_walks.size() <= transition)
        m_walks.resize(m_matcher.transitionCount(), 0);
    return std::exchange(m_walks[transition], m_walk) != m_walk;
}

Result<void>
TokenGrammar::apply(State state, std::span<const TokenId> endIds, std::span<double> logits) {
    const Mask& mask = maskOf(state);
    if (mask.empty())
        return ambiguityError();
    const bool canEnd = m_matcher.canEnd(placeOf(state));
    std::vector<double> ends; // [endIds]
    for (const TokenId id : endIds) {
        const bool isThere = id >= 0 && static_cast<std::size_t>(id) < logits.size();
        ends.push_back(isThere && canEnd ? logits[static_cast<std::size_t>(id)] : kForbidden);
    }
    for (std::size_t word = 0; word < mask.size(); ++word) {
        const std::size_t first = word * kWordBits;
        const std::size_t count = std::min(kWordBits, logits.size() - first);
        if (~mask[word] == 0)
            continue;
        for (std::size_t bit = 0; bit < count; ++bit)
            if ((mask[word] >> bit & 1U) == 0)
                logits[first + bit] = kForbidden;
    }
    for (std::size_t i = 0; i < endIds.size(); ++i)
        if (endIds[i] >= 0 && static_cast<std::size_t>(endIds[i]) < logits.size())
            logits[static_cast<std::size_t>(endIds[i])] = ends[i];
    const bool isStuck =
        std::all_of(logits.begin(), logits.end(), [](double logit) { return logit == kForbidden; });
    if (isStuck)
        return Error{ErrorCode::InvalidInput,
                     canEnd ? "The answer fits the grammar and has to end, but the model names no "
                              "token that ends an answer."
                            : "No token of this model writes what the grammar asks for next.",
                     canEnd ? "Use a model whose files name its end token."
                            : "Allow other characters, or use a model that can write these."};
    return {};
}

TokenGrammar::State TokenGrammar::settle(State state) {
    if (m_matcher.stateCount() <= kMostStates && m_masks.size() <= kMostMasks)
        return state;
    m_masks.clear();
    const State kept = m_matcher.forgetAllBut(placeOf(state));
    return state == kBegin ? kBegin : kept;
}

} // namespace engine
