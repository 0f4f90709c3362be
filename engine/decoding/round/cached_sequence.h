// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/skip_sets/sublayer_influence.h"
#include "engine/model/transformer.h"

#include <functional>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Rows of a prompt that go through the model at once, so that memory does not grow with the
/// square of the prompt's length and a stop takes effect soon.
inline constexpr int kPrefillRows = 128;

/// The residual stream of the last row of a prompt that is read before its answer begins, which has
/// seen all of the prompt but its last token. It is taken from the pass that reads this row anyway;
/// where the cache has the row already, `values` stays empty.
struct PromptRow {
    int layer = 0;                   ///< behind which it is taken
    std::vector<double> values = {}; ///< [hidden size]
};

/// The residual stream behind the last layer of rows of a prompt that are read, for drafters that
/// are fed with it.
struct PromptStreams {
    HiddenRows rows = {};
    Position first = 0; ///< of the first of `rows`
    /// Rows from here on are read again, though they may be cached.
    Position known = std::numeric_limits<Position>::max();
    /// Called behind each piece that was read and cached; may empty `rows`, and then says in
    /// `first` where they go on. Its error ends the reading.
    std::function<Result<void>()> pieceRead = {};
};

/// How reading a prompt is watched and ended from outside.
struct PromptWork {
    std::stop_token stop = {};                 ///< polled between pieces
    std::function<void(double)> progress = {}; ///< the part done, 0 to 1, after each piece
    SublayerInfluence* influence = nullptr;    ///< gathers what the passes show, if wanted
    PromptRow* lastRow = nullptr;              ///< filled, if wanted
    PromptStreams* streams = nullptr;          ///< replaced by those of the rows read, if wanted
};

/// Refuses prompts that no pass could take. Errors: InvalidInput, saying which id or length.
Result<void> checkPrompt(std::span<const TokenId> prompt, int vocabSize, int contextLength);

/// A cache and the tokens whose keys and values it holds: what every decoder works on.
/// Thread: engine.
class CachedSequence {
public:
    explicit CachedSequence(KvCache cache)
        : m_cache(std::move(cache)) {}

    KvCache& cache() { return m_cache; }

    Position length() const { return m_cache.length(); }

    Position capacity() const { return m_cache.capacity(); }

    /// How many of the first of these the cache holds already.
    std::size_t sharedLength(std::span<const TokenId> tokens) const;

    /// Makes the cache hold exactly `tokens`. What it already holds of their beginning stays (the
    /// earlier turns of a chat); the rest runs through the model piece by piece. The one routine
    /// that every decoder fills its cache with.
    /// Errors: those of a pass; Cancelled between pieces. The cache then holds a beginning.
    Result<void>
    fill(Transformer& transformer, std::span<const TokenId> tokens, const PromptWork& work);

    std::span<const TokenId> tokens() const { return m_tokens; }

    /// Commits slots that the last pass has written, for these tokens: `slots` ascending, at or
    /// beyond length(). Shapes: both [n].
    void commit(std::span<const TokenId> tokens, std::span<const Position> slots);

private:
    KvCache m_cache;
    std::vector<TokenId> m_tokens; // [m_cache.length()]
};

} // namespace engine
