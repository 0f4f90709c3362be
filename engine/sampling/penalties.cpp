// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/penalties.h"

#include <algorithm>
#include <utility>

namespace engine {

Penalties::Penalties(const SamplingOptions& options, int vocabSize)
    : m_options(options)
    , m_repeats(options.repetitionPenalty != 1.0)
    , m_counts(options.presencePenalty != 0.0 || options.frequencyPenalty != 0.0) {
    if (m_repeats || m_counts)
        m_times.resize(static_cast<std::size_t>(vocabSize));
}

void Penalties::apply(std::span<const TokenId> sequence,
                      std::size_t promptLength,
                      std::span<double> logits) {
    if (m_repeats) {
        const auto window = static_cast<std::size_t>(m_options.repetitionWindow);
        const std::size_t length =
            window == 0 ? sequence.size() : std::min(window, sequence.size());
        penaliseRepetition(sequence.last(length), logits);
    }
    if (m_counts)
        penaliseCounts(sequence.subspan(promptLength), logits);
    for (const LogitBias& bias : m_options.logitBias)
        logits[static_cast<std::size_t>(bias.token)] += bias.value;
}

void Penalties::penaliseRepetition(std::span<const TokenId> window, std::span<double> logits) {
    count(window);
    for (const TokenId token : window)
        if (takeCount(token) > 0) {
            double& logit = logits[static_cast<std::size_t>(token)];
            logit = logit > 0.0 ? logit / m_options.repetitionPenalty
                                : logit * m_options.repetitionPenalty;
        }
}

void Penalties::penaliseCounts(std::span<const TokenId> answer, std::span<double> logits) {
    count(answer);
    for (const TokenId token : answer)
        if (const int times = takeCount(token); times > 0)
            logits[static_cast<std::size_t>(token)] -=
                m_options.frequencyPenalty * times + m_options.presencePenalty;
}

void Penalties::count(std::span<const TokenId> tokens) {
    for (const TokenId token : tokens)
        ++m_times[static_cast<std::size_t>(token)];
}

/// Returns the count of a token and resets it to 0: each token is visited once.
int Penalties::takeCount(TokenId token) {
    return std::exchange(m_times[static_cast<std::size_t>(token)], 0);
}

} // namespace engine
