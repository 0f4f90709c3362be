// SPDX-License-Identifier: Apache-2.0
#include "engine/lens/lens_text.h"

#include "engine/decoding/round/cached_sequence.h"

#include <algorithm>

namespace engine {

Result<LensText>
LensText::make(Transformer& transformer, std::vector<TokenId> tokens, int contextLength) {
    // A whole context may end with a token that nothing follows, hence one more than checkPrompt()
    // allows for a prompt.
    ENGINE_TRY_DO(checkPrompt(tokens, transformer.config().vocabSize, contextLength + 1));
    ENGINE_TRY(KvCache cache, transformer.makeCache(static_cast<Position>(tokens.size())));
    return LensText(transformer, std::move(tokens), std::move(cache));
}

Result<void> LensText::readPiece(int end, int endLayer) {
    const int rows = std::min(kPrefillRows, end - length());
    ENGINE_TRY_DO(m_transformer->forwardInto({.plan = m_plan,
                                              .layout = AttentionLayout::chain(length(), rows),
                                              .tokens = next(rows),
                                              .endLayer = endLayer},
                                             m_cache,
                                             m_result));
    m_cache.commit(rows);
    return {};
}

int LensText::pieces(int tokens) { return (tokens + kPrefillRows - 1) / kPrefillRows; }

} // namespace engine
