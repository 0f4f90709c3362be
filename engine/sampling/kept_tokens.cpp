// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/kept_tokens.h"

#include "engine/sampling/logit_blocks.h"
#include "engine/sampling/noise/exponential.h"
#include "engine/sampling/row_weight.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace engine {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Tokens are examined in bands of this many exponents below the best one until top-p is reached;
/// the first few nearly always suffice.
constexpr std::array<double, 5> kDepths = {5.0, 8.0, 12.0, 18.0, kUnbounded};

/// In exponents; far above the rounding error.
constexpr double kRounding = 1e-6;

/// Differences first, because dividing a logit itself by a very small temperature would give
/// infinity.
class Weigher {
public:
    Weigher(double highest, double temperature)
        : m_highest(highest)
        , m_temperature(temperature) {}

    double exponentOf(double logit) const { return (logit - m_highest) / m_temperature; }

    double logitAt(double exponent) const { return m_highest + exponent * m_temperature; }

    /// The tokens with at least this logit, in the order of ids.
    KeptTokens weigh(const LogitBlocks& row, double leastLogit) const {
        KeptTokens kept;
        row.forEachFrom(leastLogit, [&](TokenId id, double logit) {
            const double exponent = exponentOf(logit);
            const double weight =
                exponent < kLeastExponent ? std::exp(exponent) : exponentialOf(exponent);
            if (weight <= 0.0)
                return;
            kept.tokens.push_back({id, exponent, weight});
            kept.weight += weight;
        });
        return kept;
    }

private:
    double m_highest;
    double m_temperature;
};

/// Among equals the lower id comes first, as in argmax.
bool isBetter(const KeptToken& a, const KeptToken& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
}

/// Gives the tokens in sorted order, and sorts only as many as are requested.
template <typename Order> class FirstOf {
public:
    FirstOf(std::vector<KeptToken>& tokens, Order comesBefore)
        : m_tokens(tokens)
        , m_comesBefore(comesBefore) {}

    /// `place` counts up from 0.
    const KeptToken& at(std::size_t place) {
        if (place == m_sorted) {
            const auto begin = m_tokens.begin() + static_cast<std::ptrdiff_t>(m_sorted);
            m_sorted = std::min(m_sorted + m_next, m_tokens.size());
            m_next *= 4;
            const auto end = m_tokens.begin() + static_cast<std::ptrdiff_t>(m_sorted);
            if (end != m_tokens.end())
                std::nth_element(begin, end, m_tokens.end(), m_comesBefore);
            std::sort(begin, end, m_comesBefore);
        }
        return m_tokens[place];
    }

private:
    std::vector<KeptToken>& m_tokens;
    Order m_comesBefore;
    std::size_t m_sorted = 0;
    std::size_t m_next = 32;
};

/// Keeps the first tokens whose predecessors together stay below `wanted`, so the one that crosses
/// it is the last. Returns false if they all stay below it.
template <typename Order> bool cutBehind(double wanted, Order comesBefore, KeptTokens& kept) {
    FirstOf<Order> first(kept.tokens, comesBefore);
    double sum = 0.0;
    std::size_t count = 0;
    while (count < kept.tokens.size() && (count == 0 || sum < wanted))
        sum += first.at(count++).weight;
    kept.tokens.resize(count);
    kept.weight = sum;
    return sum >= wanted;
}

KeptTokens keepBest(std::span<const double> logits, const SamplingOptions& options) {
    const LogitBlocks row(logits);
    const Weigher weigher(row.highest(), options.temperature);
    if (options.topK > 0 || options.topP >= 1.0) {
        double least = options.topK > 0 ? row.highestAt(options.topK) : -kUnbounded;
        if (options.topP >= 1.0 && options.minP > 0.0) // those below are removed anyway
            least = std::max(least, weigher.logitAt(std::log(options.minP) - kRounding));
        KeptTokens kept = weigher.weigh(row, least);
        if (options.topP < 1.0)
            cutBehind(options.topP * kept.weight, isBetter, kept);
        return kept;
    }
    const double wanted = options.topP * rowWeight(logits, row.highest(), options.temperature);
    KeptTokens kept;
    for (const double depth : kDepths) {
        kept = weigher.weigh(row, weigher.logitAt(-depth));
        const bool isTooLight = depth < kUnbounded && kept.weight < wanted; // spares the sorting
        if (!isTooLight && cutBehind(wanted, isBetter, kept))
            break;
    }
    return kept;
}

/// The best token weighs 1.
void keepFrom(double leastWeight, KeptTokens& kept) {
    std::erase_if(kept.tokens, [&](const KeptToken& t) { return t.weight < leastWeight; });
    kept.weight = 0.0;
    for (const KeptToken& token : kept.tokens)
        kept.weight += token.weight;
}

/// A token is the more typical, the nearer its information is to the entropy of the distribution. A
/// token's information is log(all weights) - exponent, and the entropy is the mean of it. So the
/// measure is the distance of an exponent from the mean exponent.
void keepTypical(double part, KeptTokens& kept) {
    double mean = 0.0;
    for (const KeptToken& token : kept.tokens)
        mean += token.weight * token.exponent;
    mean /= kept.weight;
    const auto isMoreTypical = [mean](const KeptToken& a, const KeptToken& b) {
        const double farA = std::abs(a.exponent - mean);
        const double farB = std::abs(b.exponent - mean);
        return farA != farB ? farA < farB : a.id < b.id;
    };
    cutBehind(part * kept.weight, isMoreTypical, kept);
}

} // namespace

bool keepsAllTokens(const SamplingOptions& options) {
    return options.topK == 0 && options.topP >= 1.0 && options.minP <= 0.0 &&
           options.typicalP >= 1.0;
}

KeptTokens keepTokens(std::span<const double> logits, const SamplingOptions& options) {
    KeptTokens kept = keepBest(logits, options);
    if (options.minP > 0.0)
        keepFrom(options.minP, kept);
    if (options.typicalP < 1.0)
        keepTypical(options.typicalP, kept);
    return kept;
}

} // namespace engine
