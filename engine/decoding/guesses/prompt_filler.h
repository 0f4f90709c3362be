// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/counter_random.h"
#include "engine/decoding/round/verifier.h"

#include <algorithm>
#include <span>
#include <vector>

namespace engine {

/// Random tokens of the prompt, which parallel decoding guesses with where it knows nothing better:
/// they suit a decoder-only model more than padding does. The same seed gives the same tokens.
/// Thread: one. Source: arXiv 2402.02057, 3.1.
class PromptFiller {
public:
    /// `prompt` is not empty. End ids are not given, unless it holds nothing else: what is guessed
    /// behind them is lost.
    void
    begin(std::span<const TokenId> prompt, std::span<const TokenId> endIds, std::uint64_t seed) {
        m_tokens.clear();
        std::copy_if(
            prompt.begin(), prompt.end(), std::back_inserter(m_tokens), [endIds](TokenId token) {
                return std::find(endIds.begin(), endIds.end(), token) == endIds.end();
            });
        if (m_tokens.empty())
            m_tokens.assign(prompt.begin(), prompt.end());
        m_seed = streamSeed(seed, RandomStream::Draft);
        m_count = 0;
    }

    TokenId next() {
        const std::uint64_t bits = counterBits(counterKey(m_seed, m_count++), 0);
        return m_tokens[static_cast<std::size_t>(bits % m_tokens.size())];
    }

    /// Of each token on average.
    double probability() const { return 1.0 / static_cast<double>(m_tokens.size()); }

private:
    std::vector<TokenId> m_tokens;
    std::uint64_t m_seed = 0;
    std::uint64_t m_count = 0; // given since the prompt began
};

} // namespace engine
