// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace engine {

/// F1 of the overlap between an answer and its reference, 0 to 1: of words, of pairs of words, and
/// of the longest common subsequence of words. Words are runs of letters and digits, in small
/// letters as far as ASCII goes; no stemming. Source: Lin 2004, "ROUGE: A Package for Automatic
/// Evaluation of Summaries".
struct RougeScores {
    double rouge1 = 0.0;
    double rouge2 = 0.0;
    double rougeL = 0.0;
};

/// With several references, for each of the three the one that fits best. At most the first 4096
/// words of a text count.
RougeScores rouge(std::string_view answer, std::span<const std::string> references);

/// Whether the last number of an answer is the last number of any reference: 1,200 and 1200.0 are
/// the same. False without a number.
bool hasSameResult(std::string_view answer, std::span<const std::string> references);

/// Whether the answer, or its first line, is one of the references but for case, punctuation,
/// articles and spaces.
bool isExactMatch(std::string_view answer, std::span<const std::string> references);

} // namespace engine
