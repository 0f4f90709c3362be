// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/answer_rows.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <xxhash.h>

#include <algorithm>
#include <string>

namespace engine {

namespace {

constexpr std::uint64_t kParts = 10;
constexpr std::uint64_t kTrainingParts = 8;
constexpr std::uint64_t kValidationPart = 8;

TeacherRow unknownTeacher() {
    TeacherRow row{};
    row.logProbabilities.fill(kNoLogProbability);
    return row;
}

/// Lines end with \n, whatever ended them, and no blanks are left behind them or behind the text.
/// Most texts are as they were.
std::string withoutBlanksBehind(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\v\f";
    std::string kept;
    kept.reserve(text.size() + 1);
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
        const std::string_view line = text.substr(at, end - at);
        kept += line.substr(0, line.find_last_not_of(kBlanks) + 1);
        kept += '\n';
        at = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
    }
    kept.erase(kept.find_last_not_of('\n') + 1);
    return kept;
}

RowSplit splitOfBytes(std::string_view bytes) {
    const std::uint64_t part = XXH3_64bits(bytes.data(), bytes.size()) % kParts;
    if (part < kTrainingParts)
        return RowSplit::Training;
    return part == kValidationPart ? RowSplit::Validation : RowSplit::Test;
}

} // namespace

RowSplit splitOf(std::string_view text, SplitRule rule) {
    if (rule == SplitRule::ByBytes)
        return splitOfBytes(text);
    return splitOfBytes(withoutBlanksBehind(text));
}

bool isNeverTrainedOn(std::string_view text) {
    return splitOf(text, SplitRule::ByText) != RowSplit::Training &&
           splitOf(text, SplitRule::ByBytes) != RowSplit::Training;
}

bool AnswerRows::operator==(const AnswerRows& other) const {
    const auto isSame = [](const TeacherRow& one, const TeacherRow& two) {
        return one.ids == two.ids && one.logProbabilities == two.logProbabilities;
    };
    return streams == other.streams && tokens == other.tokens && promptRows == other.promptRows &&
           last == other.last &&
           std::equal(
               teacher.begin(), teacher.end(), other.teacher.begin(), other.teacher.end(), isSame);
}

TrainingRows::TrainingRows(const AnswerRows& from, int hiddenSize)
    : m_streams(from.streams.size() + toSize(hiddenSize))
    , m_tokens(from.tokens)
    , m_answers(toSize(from.promptRows), std::uint8_t{0})
    , m_teacher(toSize(from.promptRows - 1), unknownTeacher()) {
    std::transform(from.streams.begin(), from.streams.end(), m_streams.begin(), floatFromHalf);
    m_tokens.push_back(from.last);
    m_answers.resize(m_tokens.size(), std::uint8_t{1});
    m_teacher.insert(m_teacher.end(), from.teacher.begin(), from.teacher.end());
    m_teacher.push_back(unknownTeacher());
}

} // namespace engine
