// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/comparison.h"

#include <algorithm>
#include <array>

namespace app {

using namespace engine;

namespace {

using HalfAnswers = std::array<std::vector<std::optional<Answers>>, 2>; // [halves][contestants]

void addHalf(const Answers& answers, std::size_t half, PromptOutcome& outcome) {
    outcome.tally.add(answers.tally);
    outcome.promptTokens += answers.promptTokens;
    outcome.promptMs.at(half) = answers.promptMs;
    outcome.decodeMs.at(half) = answers.decodeMs;
    outcome.texts.at(half) = answers.turns.front().text;
}

} // namespace

bool PromptOutcome::isNearTie() const {
    return !differences.empty() &&
           std::all_of(differences.begin(), differences.end(), [](const Difference& difference) {
               return difference.isNearTie();
           });
}

double PromptOutcome::tokensPerSecond() const {
    return decodeSeconds() > 0.0 ? static_cast<double>(tally.tokens()) / decodeSeconds() : 0.0;
}

Comparison::Comparison(const AnswerRequest& request, std::vector<Contestant> contestants)
    : m_request(request)
    , m_contestants(std::move(contestants)) {
    while (m_vanilla < m_contestants.size() && !m_contestants[m_vanilla].variant.isVanilla())
        ++m_vanilla;
    ENGINE_CHECK(m_vanilla < m_contestants.size(), "a comparison without vanilla");
}

Result<std::optional<PromptOutcomes>>
Comparison::run(const DataRecord& record, const std::function<void(std::string_view)>& onTurn) {
    const std::size_t count = m_contestants.size();
    HalfAnswers answers = {std::vector<std::optional<Answers>>(count),
                           std::vector<std::optional<Answers>>(count)};
    for (std::size_t i = 0; i < 2 * count; ++i) {
        const std::size_t half = i / count;
        const std::size_t which = half == 0 ? i : 2 * count - 1 - i;
        if (m_contestants[which].failure)
            continue;
        onTurn(m_contestants[which].name());
        ENGINE_TRY(answers.at(half)[which], answer(which, half, record));
        if (answers.at(half)[which] && answers.at(half)[which]->isCancelled)
            return std::optional<PromptOutcomes>();
    }
    PromptOutcomes outcomes(count);
    const Answers& reference = *answers[0][m_vanilla];
    for (std::size_t which = 0; which < count; ++which) {
        if (m_contestants[which].failure)
            continue;
        outcomes[which].emplace();
        for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
            const Answers& own = *answers.at(half)[which];
            addHalf(own, half, *outcomes[which]);
            ENGINE_TRY_DO(compare(reference, own, half == 1, *outcomes[which]));
        }
    }
    return std::optional(std::move(outcomes));
}

/// None if the decoder has just failed.
Result<std::optional<Answers>>
Comparison::answer(std::size_t which, std::size_t half, const DataRecord& record) {
    Contestant& contestant = m_contestants[which];
    auto answers = answerRecord(*contestant.halves.at(half), record, m_request);
    if (answers)
        return std::optional(std::move(answers).value());
    const ErrorCode code = answers.error().code;
    const bool isItsOwn = code == ErrorCode::Internal || code == ErrorCode::Unsupported;
    if (!isItsOwn || which == m_vanilla)
        return std::move(answers).error();
    contestant.failure = std::move(answers).error();
    contestant.halves = {};
    return std::optional<Answers>();
}

Result<void> Comparison::compare(const Answers& reference,
                                 const Answers& answers,
                                 bool isReverse,
                                 PromptOutcome& outcome) const {
    ENGINE_TRY(auto difference, findDifference(reference, answers, m_request));
    if (!difference)
        return {};
    difference->isInReverseHalf = isReverse;
    outcome.differences.push_back(*difference);
    return {};
}

} // namespace app
