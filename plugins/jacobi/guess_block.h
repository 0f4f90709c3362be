// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/draft_tree.h"

#include <functional>
#include <span>
#include <vector>

namespace jacobi {

/// A token that could stand at a coming place.
struct Guess {
    engine::TokenId token = engine::kNoToken;
    double probability = 0.0; ///< by the distribution it was taken from, temperature 1

    bool operator==(const Guess&) const = default;
};

/// Guesses for the places behind the pending token. A block that slides always reaches as far
/// ahead; one that does not ends where it began to end, and is exhausted when all its places are
/// decided. Thread: one. Source: arXiv 2305.10427, algorithms 1 to 3.
class GuessBlock {
public:
    /// Of the token before it (kNoToken: the pending one) the next guess.
    using Filler = std::function<Guess(engine::TokenId before)>;

    void clear();

    /// Fills a block that slides up to `length` guesses, and another one when it is exhausted.
    void refill(int length, bool slides, const Filler& filler);

    /// The first `length` guesses as a chain, up to the first end id.
    engine::DraftTree chain(int length, std::span<const engine::TokenId> endIds) const;

    /// A pass over `predicted.size() - 1` of the guesses has emitted so many tokens; `predicted` is
    /// what the model said behind the pending token and each of them. Guesses that it did not run
    /// stay.
    void shift(int emitted, std::span<const Guess> predicted);

private:
    std::vector<Guess> m_guesses;
    bool m_slides = true;
    int m_placesLeft = 0; // of a block that does not slide
};

} // namespace jacobi
