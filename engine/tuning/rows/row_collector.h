// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"
#include "engine/tuning/rows/row_store.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// Answers to a prompt that are made together. Of the validation split only the first two count, so
/// that half of what is measured is greedy.
inline constexpr int kAnswersAtOnce = 4;
inline constexpr int kAnswersOfValidation = 2;

/// A prompt that the model is to answer.
struct TuningPrompt {
    RowSplit split = RowSplit::Training; ///< what its answers are for, see splitOf()
    std::string task;
    std::vector<TokenId> tokens;
};

/// What decides which rows are collected, besides the model and the prompts.
struct CollectPlan {
    std::int64_t answerTokens = 0; ///< of the training split; the collecting ends behind them
    int longestAnswer = 192;       ///< tokens
    int promptRows = 0;            ///< of each prompt, its last ones; 0: kPromptRows
    std::uint64_t seed = 0;
    double seconds = 0.0; ///< the collecting ends behind so many, all runs together; 0: never
};

/// How far collecting is. A plain value.
struct CollectProgress {
    int prompts = 0;                ///< answered so far by this run
    std::int64_t answerTokens = 0;  ///< rows of training so far, all runs together
    std::int64_t plannedTokens = 0; ///< of these
    double tokensPerSecond = 0.0;   ///< of this run; 0: not known yet
    double secondsLeft = 0.0;       ///< 0: not known yet
};

/// What collecting works with. References are guests of the call.
struct CollectWork {
    Transformer& transformer;
    int contextLength = 0;
    std::span<const TuningPrompt> prompts;
    std::span<const TokenId> endIds;
    TokenId forbidden = kNoToken;  ///< as in AnswerTerms
    std::function<double()> nowMs; ///< a clock
    std::function<void(const CollectProgress&)> onProgress;
    std::stop_token stop;
    double keepSeconds = 300.0; ///< of collecting that a kill loses at most, but for a prompt
};

/// Collects what is missing of a run's rows. Pass 0 answers every prompt of the training and the
/// validation split kAnswersAtOnce times at once: greedily, and the others at temperature .7 and
/// top-p .9. Later passes answer the prompts of training with other draws. Where there is enough
/// for training before a prompt of the validation split was answered, one of them is the last.
/// Prompts of the test split are never answered. Which rows there are in the end does not depend on
/// where a run was stopped, unless time ended the collecting.
///
/// What it has is kept for a next run every `keepSeconds`, and when it is stopped; then it returns
/// Cancelled. Errors: InvalidInput if no prompt of the training split fits into the context; those
/// of a pass; Io.
Result<void> collectRows(RowStore& store,
                         const std::filesystem::path& folder,
                         const std::string& run,
                         const CollectPlan& plan,
                         const CollectWork& work);

} // namespace engine
