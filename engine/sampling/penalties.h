// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/sampling_options.h"

#include <cstddef>
#include <span>
#include <vector>

namespace engine {

/// Changes logits according to the tokens before a row: repetition penalty (arXiv 1909.05858,
/// section 4.1), then frequency and presence penalties, then the bias. The result depends only on a
/// row's logits and the tokens before it. Thread: one at a time, because scratch memory is reused.
class Penalties {
public:
    /// `options` must have passed validateFor(vocabSize).
    Penalties(const SamplingOptions& options, int vocabSize);

    bool areOff() const { return !m_repeats && !m_counts && m_options.logitBias.empty(); }

    /// Shapes: `sequence` is the prompt and the tokens after it up to the row, the answer begins at
    /// `promptLength`; logits [vocab], finite or -infinity, which stays.
    void
    apply(std::span<const TokenId> sequence, std::size_t promptLength, std::span<double> logits);

private:
    void penaliseRepetition(std::span<const TokenId> window, std::span<double> logits);
    void penaliseCounts(std::span<const TokenId> answer, std::span<double> logits);
    int takeCount(TokenId token);
    void count(std::span<const TokenId> tokens);

    SamplingOptions m_options;
    bool m_repeats;           // the repetition penalty is on
    bool m_counts;            // the frequency or presence penalty is on
    std::vector<int> m_times; // [vocab] 0 between calls
};

} // namespace engine
