// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/compare/quality/code_sandbox.h"
#include "engine/experiments/data/data_stream.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace app {

/// How good an answer is by its record's reference. Scores that do not fit the task are none.
struct AnswerQuality {
    static constexpr std::array<std::string_view, 5> kNames = {
        "rouge1", "rouge2", "rougeL", "exact_match", "pass_at_1"};

    std::array<std::optional<double>, kNames.size()> scores = {}; ///< [names], each 0 to 1

    bool operator==(const AnswerQuality&) const = default;
};

/// Scores answers by their task: a summary by ROUGE, a calculation by its last number, an answer to
/// a question by exact match, a program by whether it passes its tests, or the examples in its
/// description.
class QualityJudge {
public:
    /// Without a sandbox, programs are not run and have no score.
    explicit QualityJudge(std::optional<CodeSandbox> sandbox)
        : m_sandbox(std::move(sandbox)) {}

    /// `answer` is the text behind the record's only turn; conversations and records without a
    /// reference have no scores. Errors: those of CodeSandbox::passes.
    engine::Result<AnswerQuality> score(const engine::DataRecord& record,
                                        const std::string& answer) const;

private:
    std::optional<CodeSandbox> m_sandbox;
};

/// What has to be run for an answer to a programming task: the prompt with what the answer adds to
/// the function, or the answer's own function, which it may give in a block of Markdown. None if
/// the task has neither tests nor examples.
std::optional<CodeTrial> codeTrial(const engine::DataRecord& record, const std::string& answer);

} // namespace app
