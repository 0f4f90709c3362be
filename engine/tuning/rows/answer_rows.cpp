// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/answer_rows.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <xxhash.h>

#include <algorithm>

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

} // namespace

RowSplit splitOf(std::string_view text) {
    const std::uint64_t part = XXH3_64bits(text.data(), text.size()) % kParts;
    if (part < kTrainingParts)
        return RowSplit::Training;
    return part == kValidationPart ? RowSplit::Validation : RowSplit::Test;
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
