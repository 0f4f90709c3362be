// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/cached_sequence.h"

#include <algorithm>

namespace engine {

Result<void> checkPrompt(std::span<const TokenId> prompt, int vocabSize, int contextLength) {
    if (prompt.empty())
        return Error{
            ErrorCode::InvalidInput, "The prompt holds no tokens.", "Give some text to continue."};
    for (std::size_t i = 0; i < prompt.size(); ++i)
        if (prompt[i] < 0 || prompt[i] >= vocabSize)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("Token id {} at place {} of the prompt is outside the model's "
                                     "vocabulary of {} (ids 0 to {}).",
                                     prompt[i],
                                     i,
                                     vocabSize,
                                     vocabSize - 1),
                         "Check that the ids, or the tokenizer, belong to this model."};
    if (prompt.size() >= static_cast<std::size_t>(contextLength))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The prompt has {} tokens, but the context holds {}, one of them "
                                 "for the answer.",
                                 prompt.size(),
                                 contextLength),
                     "Shorten the prompt or raise --context (up to what the model was made for)."};
    return {};
}

std::size_t CachedSequence::sharedLength(std::span<const TokenId> tokens) const {
    const auto differs =
        std::mismatch(m_tokens.begin(), m_tokens.end(), tokens.begin(), tokens.end());
    return static_cast<std::size_t>(differs.first - m_tokens.begin());
}

Result<void> CachedSequence::fill(Transformer& transformer,
                                  std::span<const TokenId> tokens,
                                  const PromptWork& work) {
    std::size_t kept = sharedLength(tokens);
    if (work.streams != nullptr) {
        kept = std::min(kept, static_cast<std::size_t>(work.streams->known));
        work.streams->rows.clear();
        work.streams->first = static_cast<Position>(kept);
    }
    m_tokens.resize(kept);
    m_cache.truncate(static_cast<Position>(m_tokens.size()));
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    while (m_tokens.size() < tokens.size()) {
        if (work.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Reading the prompt was cancelled.", ""};
        const std::size_t left = tokens.size() - m_tokens.size();
        const auto piece =
            tokens.subspan(m_tokens.size(), std::min<std::size_t>(left, kPrefillRows));
        const int rows = static_cast<int>(piece.size());
        const AttentionLayout layout = AttentionLayout::chain(length(), rows);
        const bool takesRow = work.lastRow != nullptr && piece.size() == left;
        HiddenRows states;
        std::vector<HandOut> handOuts;
        const int lastLayer = transformer.config().layerCount - 1;
        const bool takesStreams = work.streams != nullptr;
        if (takesRow && !(takesStreams && work.lastRow->layer == lastLayer))
            handOuts.push_back({work.lastRow->layer, &states});
        if (takesStreams)
            handOuts.push_back({lastLayer, &work.streams->rows});
        ENGINE_TRY(const ForwardResult result,
                   transformer.forward({.plan = plan,
                                        .layout = layout,
                                        .tokens = piece,
                                        .handOuts = handOuts,
                                        .wantsInfluence = work.influence != nullptr},
                                       m_cache));
        if (work.influence != nullptr)
            work.influence->add(result.influence, rows);
        if (takesRow) {
            work.lastRow->values.resize(static_cast<std::size_t>(transformer.config().hiddenSize));
            const HiddenRows& from = states.count() > 0 ? states : work.streams->rows;
            ENGINE_TRY_DO(from.read(from.count() - 1, work.lastRow->values));
        }
        m_cache.commit(rows);
        m_tokens.insert(m_tokens.end(), piece.begin(), piece.end());
        if (takesStreams && work.streams->pieceRead)
            ENGINE_TRY_DO(work.streams->pieceRead());
        if (work.progress)
            work.progress(static_cast<double>(m_tokens.size()) /
                          static_cast<double>(tokens.size()));
    }
    return {};
}

void CachedSequence::commit(std::span<const TokenId> tokens, std::span<const Position> slots) {
    ENGINE_CHECK(tokens.size() == slots.size(), "{} ids for {} slots", tokens.size(), slots.size());
    m_cache.keepPath(slots);
    m_tokens.insert(m_tokens.end(), tokens.begin(), tokens.end());
}

} // namespace engine
