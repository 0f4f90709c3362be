// SPDX-License-Identifier: Apache-2.0
#include "plugins/jacobi/guess_block.h"

#include <algorithm>

namespace jacobi {

using namespace engine;

void GuessBlock::clear() {
    m_guesses.clear();
    m_placesLeft = 0;
}

void GuessBlock::refill(int length, bool slides, const Filler& filler) {
    m_slides = slides;
    if (!slides && !m_guesses.empty())
        return;
    m_placesLeft = length;
    while (static_cast<int>(m_guesses.size()) < length)
        m_guesses.push_back(filler(m_guesses.empty() ? kNoToken : m_guesses.back().token));
}

DraftTree GuessBlock::chain(int length, std::span<const TokenId> endIds) const {
    DraftTree tree;
    for (const Guess& guess : m_guesses) {
        if (tree.size() >= length)
            break;
        tree.add(guess.token, tree.size() - 1, guess.probability);
        tree.addConfidence(guess.probability);
        if (std::find(endIds.begin(), endIds.end(), guess.token) != endIds.end()) {
            tree.setEnd({DraftEndReason::EndToken});
            return tree;
        }
    }
    // What is left of a block that is not refilled is a whole draft, too.
    tree.setEnd({DraftEndReason::Length, 0.0, static_cast<double>(tree.size())});
    return tree;
}

/// `predicted[i]` and `m_guesses[i]` stand at the same place, which is decided if i < emitted.
void GuessBlock::shift(int emitted, std::span<const Guess> predicted) {
    if (predicted.size() > m_guesses.size())
        m_guesses.resize(predicted.size());
    std::copy(predicted.begin(), predicted.end(), m_guesses.begin());
    const std::size_t decided = std::min(m_guesses.size(), static_cast<std::size_t>(emitted));
    m_guesses.erase(m_guesses.begin(), m_guesses.begin() + static_cast<std::ptrdiff_t>(decided));
    m_placesLeft = std::max(m_placesLeft - emitted, 0);
    if (!m_slides && m_guesses.size() > static_cast<std::size_t>(m_placesLeft))
        m_guesses.resize(static_cast<std::size_t>(m_placesLeft));
}

} // namespace jacobi
