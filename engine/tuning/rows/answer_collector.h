// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/cached_sequence.h"
#include "engine/sampling/sampling_options.h"
#include "engine/tuning/rows/answer_rows.h"

#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Rows of a prompt that are kept, at most, for a network that drafts: its window, or more.
inline constexpr int kPromptRows = 256;

/// How one prompt is answered. Spans are guests of the call.
struct AnswerTerms {
    std::span<const SamplingOptions> sampling; ///< of each of the answers, one at least
    int maxTokens = 0;
    std::span<const TokenId> endIds;
    std::stop_token stop;
    TokenId forbidden = kNoToken; ///< is never written; kNoToken: the model's own mask token
};

/// Answers a prompt several times at once: each pass has a row for each answer that has not ended,
/// so the weights are read once for all of them. Keeps the streams and the best tokens of these
/// rows. The tokens of each answer are vanilla's own. Thread: engine.
class AnswerCollector {
public:
    /// For so many answers of so many tokens at once, with so many rows of their prompt at most.
    /// `transformer` must outlive it. Errors: NoMemory for the cache.
    static Result<AnswerCollector> make(Transformer& transformer,
                                        int contextLength,
                                        int mostAnswers,
                                        int mostTokens,
                                        int promptRows = kPromptRows);

    /// The rows of each answer; one with few tokens may have no answer rows at all. Errors:
    /// InvalidInput for a prompt that does not fit; those of a pass; Cancelled.
    Result<std::vector<AnswerRows>> collect(std::span<const TokenId> prompt,
                                            const AnswerTerms& terms);

private:
    /// One of the answers to the prompt.
    struct Answer {
        AnswerRows rows;
        TokenId pending = kNoToken; ///< its newest token, which no row has read
        int node = 0;               ///< of the row before; see m_parents
        bool isOpen = true;
    };

    AnswerCollector(Transformer& transformer, int contextLength, int promptRows, KvCache cache);

    Result<void> readPrompt(std::span<const TokenId> prompt, const AnswerTerms& terms);
    Result<void> readLastToken(TokenId token, const AnswerTerms& terms);
    Result<void> makeStep(const AnswerTerms& terms, Position outputPosition);
    Result<void> runPass(const AnswerTerms& terms);
    void addRow(Answer& answer, int row, TokenId token) const;
    Result<TokenId> choose(int row, const SamplingOptions& sampling, Position outputPosition);

    Transformer* m_transformer;
    int m_contextLength;
    std::size_t m_keptBefore; // rows of the prompt that are kept, its last one left out
    std::size_t m_width;
    CachedSequence m_prompt; // all of it but its last token
    AnswerRows m_promptRows; // what all answers begin with
    std::vector<Answer> m_answers;
    // The last token of the prompt and the tokens of the answers as nodes of a tree over the
    // prompt, in the order of their rows; the newest ones are the rows of the next pass.
    std::vector<int> m_parents;       // [nodes]
    std::vector<TokenId> m_rowTokens; // [rows of the pass]
    std::vector<int> m_rowAnswers;    // [rows of the pass]
    ForwardResult m_pass;             // the newest one
    HiddenRows m_streams;             // of that pass
    std::vector<double> m_read;       // the same here
};

} // namespace engine
