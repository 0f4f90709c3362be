// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"
#include "engine/decoding/target.h"
#include "tests/support/programs/live_bytes.h"
#include "tests/support/transformers/forward_helpers.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

// References for the tests of rounds: vanilla's tokens, and passes with new caches.

namespace support {

using Ids = std::vector<engine::TokenId>;

inline constexpr int kTinyVocab = 160; ///< see tinyConfig()

inline engine::TokenId randomId(std::mt19937& random) {
    return static_cast<engine::TokenId>(random() % kTinyVocab);
}

inline Ids randomIds(std::mt19937& random, std::size_t count) {
    Ids ids;
    while (ids.size() < count)
        ids.push_back(randomId(random));
    return ids;
}

inline Ids joined(Ids head, std::span<const engine::TokenId> tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}

/// The first `count` of them, or all if there are fewer.
inline Ids firstOf(const Ids& ids, std::size_t count) {
    return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()))};
}

inline Ids draftedTokens(const engine::DraftTree& draft) {
    Ids ids;
    for (const engine::DraftNode& node : draft.nodes())
        ids.push_back(node.token);
    return ids;
}

/// The first tokens of vanilla's answer. Fails by exception.
inline Ids vanillaAnswer(engine::Transformer& transformer,
                         const Ids& prompt,
                         std::size_t count,
                         const engine::SamplingOptions& sampling = {}) {
    const int context = static_cast<int>(prompt.size() + count) + 1;
    const auto decoder = engine::makeVanillaDecoder(transformer, sampling, context).value();
    ENGINE_CHECK(decoder->begin({prompt}, {}).hasValue(), "a prompt was refused");
    Ids answer;
    while (answer.size() < count)
        answer.push_back(decoder->step().value().tokens.front());
    return answer;
}

/// The model's output after these tokens under a plan, with a new cache.
inline engine::HeadSummary
freshSummary(engine::Transformer& transformer, const Ids& tokens, const engine::LayerPlan& plan) {
    engine::KvCache cache = emptyCache(transformer, static_cast<engine::Position>(tokens.size()));
    return engine::summarise(runChain(transformer, cache, plan, tokens, 64).back());
}

/// The same for the full model.
inline engine::HeadSummary freshSummary(engine::Transformer& transformer, const Ids& tokens) {
    return freshSummary(
        transformer, tokens, engine::LayerPlan::full(transformer.config().layerCount));
}

/// The invariant between rounds: the cache has one row for each token of prompt and answer except
/// the pending one, and each is the same as in a new prefill of these tokens.
inline bool isCacheFresh(engine::Target& target, const Ids& prompt) {
    Ids tokens = joined(prompt, target.output());
    if (tokens.back() != target.pending() ||
        target.length() != static_cast<engine::Position>(tokens.size()) - 1)
        return false;
    engine::Transformer& transformer = target.transformer();
    engine::CachedSequence fresh(
        emptyCache(transformer, static_cast<engine::Position>(tokens.size())));
    tokens.pop_back();
    return fresh.fill(transformer, tokens, {}).hasValue() &&
           liveBytes(target.cache()) == liveBytes(fresh.cache());
}

} // namespace support
