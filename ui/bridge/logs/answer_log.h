// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ui {

/// Prompts with this id or a higher one are not shown in the chat: a search uses them to try skip
/// sets.
inline constexpr std::uint64_t kFirstHiddenPrompt = std::uint64_t{1} << 40U;

/// A token of an answer and its position in the answer's text. A plain value.
struct AnswerToken {
    engine::TokenId id = engine::kNoToken;
    std::size_t begin = 0; ///< bytes into Answer::text
    std::size_t end = 0;
    engine::TokenFact fact;
    int step = 0;        ///< of this answer, from 0
    double stepMs = 0.0; ///< of the whole step
};

/// One answer as it came. A plain value.
struct Answer {
    std::uint64_t promptId = 0;
    std::string task;
    std::string question; ///< as reported by PromptStarted
    int promptTokens = 0;
    int reusedTokens = 0;
    int firstStep = 0;       ///< among those of the whole answer, which it may continue
    double promptPart = 0.0; ///< read so far, 0 to 1
    double promptTime = 0.0; ///< when it was, seconds since the session began
    double startTime = 0.0;  ///< seconds since the session began
    std::string text;
    std::vector<AnswerToken> tokens;
    std::vector<engine::StepFinished> steps; ///< only for recent answers of the current model
    std::optional<engine::PromptFinished> finished;
    std::optional<engine::EngineFailed> failed;

    bool isRunning() const { return !finished && !failed; }
};

/// The answers of this run, oldest first. Old answers first lose their steps and are later dropped:
/// the chat store keeps what the user keeps. Thread: UI.
class AnswerLog {
public:
    static constexpr std::size_t kAnswersKept = 64;
    static constexpr std::size_t kAnswersWithSteps = 8;

    /// Applies an event if it concerns answers, and returns whether it did.
    bool apply(const engine::EngineEvent& event);

    const std::deque<Answer>& answers() const { return m_answers; }

    /// The newest one, null before the first.
    const Answer* latest() const { return m_answers.empty() ? nullptr : &m_answers.back(); }

    /// The newest one of the chat, not of a search, that has steps; null if there is none.
    const Answer* latestShown() const;

    const Answer* find(std::uint64_t promptId) const;

    bool isRunning() const { return !m_answers.empty() && m_answers.back().isRunning(); }

private:
    Answer* findRunning(std::uint64_t promptId);
    void begin(const engine::PromptStarted& started, double time);
    void addStep(const engine::StepFinished& step);

    std::deque<Answer> m_answers;
};

} // namespace ui
