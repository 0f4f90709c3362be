// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/sampler.h"

#include "engine/sampling/kept_tokens.h"
#include "engine/sampling/logit_blocks.h"
#include "engine/sampling/noise/noise_ranking.h"

#include <algorithm>
#include <cmath>

namespace engine {

TokenId argmax(std::span<const double> logits) {
    ENGINE_CHECK(!logits.empty(), "argmax of no logits");
    return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

Distribution Sampler::distribution(std::span<const double> logits) const {
    if (isGreedy())
        return {{argmax(logits)}, {1.0}};
    KeptTokens kept = keepTokens(logits, m_options);
    const auto isLower = [](const KeptToken& a, const KeptToken& b) { return a.id < b.id; };
    if (!std::is_sorted(kept.tokens.begin(), kept.tokens.end(), isLower))
        std::sort(kept.tokens.begin(), kept.tokens.end(), isLower);
    Distribution distribution;
    distribution.ids.reserve(kept.tokens.size());
    distribution.probabilities.reserve(kept.tokens.size());
    for (const KeptToken& token : kept.tokens) {
        if (token.weight / kept.weight <= 0.0)
            continue;
        distribution.ids.push_back(token.id);
        distribution.probabilities.push_back(token.weight / kept.weight);
    }
    return distribution;
}

std::vector<TokenId>
drawSeveralByNoise(const Distribution& p, int count, std::uint64_t seed, Position outputPosition) {
    NoiseRanking ranking(seed, outputPosition, count);
    for (std::size_t i = 0; i < p.ids.size(); ++i)
        if (p.probabilities[i] > 0.0)
            ranking.offer(p.ids[i], std::log(p.probabilities[i]));
    return ranking.best();
}

TokenId drawByNoise(const Distribution& p, std::uint64_t seed, Position outputPosition) {
    ENGINE_CHECK(!p.ids.empty(), "a draw from no tokens");
    const std::vector<TokenId> best = drawSeveralByNoise(p, 1, seed, outputPosition);
    return best.empty() ? p.ids.front() : best.front();
}

TokenId Sampler::choose(std::span<const double> logits, Position outputPosition) const {
    if (isGreedy())
        return argmax(logits);
    return chooseSeveral(logits, 1, outputPosition).front();
}

std::vector<TokenId>
Sampler::chooseSeveral(std::span<const double> logits, int count, Position outputPosition) const {
    ENGINE_CHECK(!isGreedy() && count > 0, "{} tokens drawn", count);
    NoiseRanking ranking(m_options.seed, outputPosition, count);
    if (keepsAllTokens(m_options)) {
        ranking.offerRow(logits, LogitBlocks(logits).highest(), m_options.temperature);
        return ranking.best();
    }
    for (const KeptToken& token : keepTokens(logits, m_options).tokens)
        ranking.offer(token.id, token.exponent);
    return ranking.best();
}

} // namespace engine
