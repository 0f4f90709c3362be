// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What the answers to a prompt are for.
enum class RowSplit : std::uint8_t { Training, Validation, Test };

/// How a prompt's text decides that. The plan of a run says by which rule its prompts were dealt
/// out, so that it goes on with the same ones.
enum class SplitRule : std::uint8_t {
    ByBytes, ///< of runs of earlier versions: texts that look alike may be of two splits
    ByText,  ///< how lines end counts nothing, nor blanks behind them and behind the text
};

/// By a hash of the prompt's text alone: of ten texts about eight, one and one. The same text is of
/// the same split in every run, in every file and under every id.
RowSplit splitOf(std::string_view text, SplitRule rule = SplitRule::ByText);

/// Whether no run trains on the text, by whichever rule.
bool isNeverTrainedOn(std::string_view text);

/// The rows of one answer and of the end of its prompt, as they are stored. Row t has the stream
/// behind the model's last layer (float16) and the token that it read. What the model said is known
/// of the last prompt row and of all rows behind it. A plain value.
struct AnswerRows {
    std::vector<std::uint16_t> streams; ///< [rows, hidden] float16
    std::vector<TokenId> tokens;        ///< [rows]
    std::vector<TeacherRow> teacher;    ///< [rows - promptRows + 1]
    int promptRows = 0;                 ///< the first rows, one at least
    TokenId last = kNoToken;            ///< the answer's last token, which no row has read

    int rows() const { return static_cast<int>(tokens.size()); }

    /// Rows that have read a token of the answer.
    int answerRows() const { return rows() - promptRows; }

    bool operator==(const AnswerRows& other) const;
};

/// A text as a trainer reads it: owns what `view()` shows. Behind the rows stands the answer's last
/// token, whose stream is not known (zeros), because only slots behind it would read that. What
/// the model said about rows of the prompt but the last is not known either: their teachers have no
/// tokens, and as the tokens behind them were not written by the model, no loss counts what they
/// say.
class TrainingRows {
public:
    TrainingRows(const AnswerRows& from, int hiddenSize);

    TrainingText view() const { return {m_streams, m_tokens, m_answers, m_teacher}; }

private:
    std::vector<float> m_streams;
    std::vector<TokenId> m_tokens;
    std::vector<std::uint8_t> m_answers;
    std::vector<TeacherRow> m_teacher;
};

} // namespace engine
