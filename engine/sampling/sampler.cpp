// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/sampler.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace engine {

namespace {

constexpr double kRemoved = -std::numeric_limits<double>::infinity();

/// Removes what lies below the k-th largest logit; all that tie with it stay.
void keepTopK(std::vector<double>& logits, int topK) {
    const std::size_t k = static_cast<std::size_t>(topK);
    if (topK == 0 || k >= logits.size())
        return;
    std::vector<double> ordered = logits;
    const auto kth = ordered.begin() + (topK - 1);
    std::nth_element(ordered.begin(), kth, ordered.end(), std::greater<>());
    for (double& logit : logits)
        if (logit < *kth)
            logit = kRemoved;
}

/// Turns the finite logits into probabilities that sum to 1, in place.
void softmax(std::vector<double>& logits) {
    const double highest = *std::max_element(logits.begin(), logits.end());
    double total = 0.0;
    for (double& logit : logits)
        total += logit = std::exp(logit - highest);
    for (double& probability : logits)
        probability /= total;
}

/// Keeps the best tokens whose predecessors together stay below p, so the one that crosses p is
/// the last; then makes the rest sum to 1 again. Of equals the lower id comes first, as in argmax.
void keepTopP(Distribution& distribution, double topP) {
    std::vector<std::size_t> order(distribution.ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::vector<double>& probabilities = distribution.probabilities;
    std::sort(order.begin(), order.end(), [&probabilities](std::size_t a, std::size_t b) {
        return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
    });
    std::size_t kept = 0;
    double sum = 0.0;
    while (kept < order.size() && (kept == 0 || sum < topP))
        sum += probabilities[order[kept++]];
    order.resize(kept);
    std::sort(order.begin(), order.end());
    Distribution narrowed;
    for (const std::size_t index : order) {
        narrowed.ids.push_back(distribution.ids[index]);
        narrowed.probabilities.push_back(probabilities[index] / sum);
    }
    distribution = std::move(narrowed);
}

} // namespace

Result<void> SamplingOptions::validate() const {
    if (!(temperature >= 0.0 && temperature <= 100.0))
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The temperature is {}, but must lie between 0 and 100.", temperature),
            "0 always takes the most probable token; .7 to 1 is usual for variety."};
    if (topK < 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Top-k is {}, but must not be negative.", topK),
                     "0 switches it off."};
    if (!(topP > 0.0 && topP <= 1.0))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Top-p is {}, but must lie above 0 and not above 1.", topP),
                     "1 switches it off; .9 to .95 is usual."};
    return {};
}

TokenId argmax(std::span<const double> logits) {
    ENGINE_CHECK(!logits.empty(), "argmax of no logits");
    return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

Distribution Sampler::distribution(std::span<const double> logits) const {
    if (isGreedy())
        return {{argmax(logits)}, {1.0}};
    std::vector<double> work(logits.begin(), logits.end());
    // Differences first: the smallest temperatures would carry the logits themselves to infinity.
    const double highest = *std::max_element(work.begin(), work.end());
    for (double& logit : work)
        logit = (logit - highest) / m_options.temperature;
    keepTopK(work, m_options.topK);
    softmax(work);
    Distribution distribution;
    for (std::size_t id = 0; id < work.size(); ++id)
        if (work[id] > 0.0) {
            distribution.ids.push_back(static_cast<TokenId>(id));
            distribution.probabilities.push_back(work[id]);
        }
    if (m_options.topP < 1.0)
        keepTopP(distribution, m_options.topP);
    return distribution;
}

TokenId drawByNoise(const Distribution& p, std::uint64_t seed, Position outputPosition) {
    ENGINE_CHECK(!p.ids.empty(), "a draw from no tokens");
    TokenId best = p.ids.front();
    double bestScore = kRemoved;
    for (std::size_t i = 0; i < p.ids.size(); ++i) {
        if (p.probabilities[i] <= 0.0)
            continue;
        const double score =
            std::log(p.probabilities[i]) +
            counterGumbel(seed, static_cast<std::uint64_t>(outputPosition), p.ids[i]);
        if (score > bestScore) {
            bestScore = score;
            best = p.ids[i];
        }
    }
    return best;
}

TokenId Sampler::choose(std::span<const double> logits, Position outputPosition) const {
    if (isGreedy())
        return argmax(logits);
    return drawByNoise(distribution(logits), m_options.seed, outputPosition);
}

} // namespace engine
