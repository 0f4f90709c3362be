// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <span>
#include <string>
#include <vector>

namespace engine {

/// Work of the lens, made one pass of the model at a time, so that it can be left at any time.
/// Thread: engine.
class LensWork {
public:
    virtual ~LensWork() = default;

    /// Makes the next pass; only while it is not done. Errors: those of a pass.
    virtual Result<void> step() = 0;

    virtual bool isDone() const = 0;

    /// The part of all passes that is done, 0 to 1.
    virtual double part() const = 0;
};

/// A text that the model reads again, into a cache of its own: the caches of decoders and what is
/// computed from them stay as they are.
class LensText {
public:
    /// Errors: InvalidInput for a text that is empty, has unknown ids or is longer than
    /// `contextLength`; those of makeCache().
    static Result<LensText>
    make(Transformer& transformer, std::vector<TokenId> tokens, int contextLength);

    Transformer& transformer() { return *m_transformer; }

    KvCache& cache() { return m_cache; }

    int layerCount() const { return m_transformer->config().layerCount; }

    const std::vector<TokenId>& tokens() const { return m_tokens; }

    /// Tokens that were read.
    int length() const { return m_cache.length(); }

    /// `count` tokens behind those that were read.
    std::span<const TokenId> next(int count) const {
        return std::span(m_tokens).subspan(static_cast<std::size_t>(length()),
                                           static_cast<std::size_t>(count));
    }

    /// Reads up to kPrefillRows tokens through the layers below `endLayer`, none at or beyond token
    /// `end`. Errors: those of a pass.
    Result<void> readPiece(int end, int endLayer);

    /// The same passes until token `end`.
    static int pieces(int tokens);

private:
    LensText(Transformer& transformer, std::vector<TokenId> tokens, KvCache cache)
        : m_transformer(&transformer)
        , m_tokens(std::move(tokens))
        , m_cache(std::move(cache))
        , m_plan(LayerPlan::full(transformer.config().layerCount)) {}

    Transformer* m_transformer;
    std::vector<TokenId> m_tokens;
    KvCache m_cache;
    LayerPlan m_plan;
    ForwardResult m_result;
};

} // namespace engine
