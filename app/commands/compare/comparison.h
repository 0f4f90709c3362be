// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/compare/answer_difference.h"
#include "app/commands/compare/quality/answer_quality.h"
#include "app/commands/compare/variants.h"
#include "app/data/answering.h"
#include "engine/decoding/decoder_registry.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// A decoder in the comparison: one instance for each half, so that neither half's search has seen
/// the other's prompts.
struct Contestant {
    Variant variant;
    std::array<std::unique_ptr<engine::Decoder>, 2> halves; // forward, reverse
    std::optional<engine::Error> failure = {}; ///< why it was dropped, and after how many prompts

    const std::string& name() const { return variant.name; }
};

/// One decoder's result for one prompt, both halves together.
struct PromptOutcome {
    DecodeTally tally;
    long promptTokens = 0;
    std::array<double, 2> promptMs = {};       ///< [halves]
    std::array<double, 2> decodeMs = {};       ///< [halves]
    std::vector<Difference> differences;       ///< the first of each half; empty: equal tokens
    std::array<std::string, 2> texts = {};     ///< [halves] of the first turn
    std::array<AnswerQuality, 2> quality = {}; ///< [halves], as far as scored

    bool isEqual() const { return differences.empty(); }

    /// Whether every half differs only at a near tie.
    bool isNearTie() const;

    double decodeSeconds() const { return (decodeMs[0] + decodeMs[1]) / 1e3; }

    double promptSeconds() const { return (promptMs[0] + promptMs[1]) / 1e3; }

    double tokensPerSecond() const;
};

/// [contestants]; none for one that has failed.
using PromptOutcomes = std::vector<std::optional<PromptOutcome>>;

/// Runs prompts with several decoders and compares their tokens with vanilla's. A decoder that
/// fails is dropped; the others go on.
class Comparison {
public:
    /// One of `contestants` is vanilla.
    Comparison(const AnswerRequest& request, std::vector<Contestant> contestants);

    const std::vector<Contestant>& contestants() const { return m_contestants; }

    std::size_t vanilla() const { return m_vanilla; }

    /// Runs a record with every decoder in order, then in reverse order. `onTurn` is called with
    /// the next decoder. None if it was cancelled. Errors: those of answerRecord, except for errors
    /// of a decoder other than vanilla.
    engine::Result<std::optional<PromptOutcomes>>
    run(const engine::DataRecord& record,
        const std::function<void(std::string_view decoder)>& onTurn);

private:
    engine::Result<std::optional<Answers>>
    answer(std::size_t which, std::size_t half, const engine::DataRecord& record);
    engine::Result<void> compare(const Answers& reference,
                                 const Answers& answers,
                                 bool isReverse,
                                 PromptOutcome& outcome) const;

    AnswerRequest m_request;
    std::vector<Contestant> m_contestants;
    std::size_t m_vanilla = 0;
};

} // namespace app
