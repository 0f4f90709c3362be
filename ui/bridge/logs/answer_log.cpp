// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/logs/answer_log.h"

#include <algorithm>
#include <ranges>

namespace ui {

using namespace engine;

namespace {

bool isOfChat(const Answer& answer) { return answer.promptId < kFirstHiddenPrompt; }

} // namespace

bool AnswerLog::apply(const EngineEvent& event) {
    if (const auto* started = event.as<PromptStarted>()) {
        begin(*started, event.time);
        return true;
    }
    if (const auto* step = event.as<StepFinished>()) {
        addStep(*step);
        return true;
    }
    if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr) {
        for (Answer& answer : m_answers)
            answer.steps = {};
        return true;
    }
    if (const auto* progress = event.as<PromptProgress>()) {
        if (Answer* answer = findRunning(progress->promptId)) {
            answer->promptPart = progress->part;
            answer->promptTime = event.time;
        }
        return true;
    }
    if (const auto* released = event.as<TextReleased>()) {
        if (Answer* answer = findRunning(released->promptId))
            answer->text += released->text;
        return true;
    }
    if (const auto* finished = event.as<PromptFinished>()) {
        if (Answer* answer = findRunning(finished->promptId))
            answer->finished = *finished;
        return true;
    }
    if (const auto* failed = event.as<EngineFailed>(); failed && failed->task == "submit_prompt") {
        if (Answer* answer = findRunning(failed->promptId))
            answer->failed = *failed;
        return true;
    }
    return false;
}

const Answer* AnswerLog::latestShown() const {
    const auto found =
        std::ranges::find_if(m_answers.rbegin(), m_answers.rend(), [](const Answer& a) {
            return isOfChat(a) && !a.steps.empty();
        });
    return found == m_answers.rend() ? nullptr : &*found;
}

const Answer* AnswerLog::find(std::uint64_t promptId) const {
    const auto found = std::ranges::find(
        m_answers.rbegin(), m_answers.rend(), promptId, [](const Answer& a) { return a.promptId; });
    return found == m_answers.rend() ? nullptr : &*found;
}

Answer* AnswerLog::findRunning(std::uint64_t promptId) {
    for (Answer& answer : m_answers | std::views::reverse)
        if (answer.promptId == promptId)
            return answer.isRunning() ? &answer : nullptr;
    return nullptr;
}

void AnswerLog::begin(const PromptStarted& started, double time) {
    Answer answer;
    answer.promptId = started.promptId;
    answer.task = started.task;
    answer.question = started.question;
    answer.promptTokens = started.promptTokens;
    answer.reusedTokens = started.reusedTokens;
    answer.firstStep = started.firstStep;
    answer.startTime = time;
    m_answers.push_back(std::move(answer));
    // Those of a search, of which there may be many, do not push out those of the chat.
    const bool isNewestOfChat = isOfChat(m_answers.back());
    std::size_t count = 0;
    for (Answer& each : m_answers | std::views::reverse)
        if (isOfChat(each) == isNewestOfChat && ++count > kAnswersWithSteps)
            each.steps = {};
    if (m_answers.size() <= kAnswersKept)
        return;
    const auto end = m_answers.end() - 1; // the newest one stays
    const auto hidden = std::ranges::find_if_not(m_answers.begin(), end, isOfChat);
    m_answers.erase(hidden == end ? m_answers.begin() : hidden);
}

void AnswerLog::addStep(const StepFinished& step) {
    Answer* answer = findRunning(step.promptId);
    if (answer == nullptr)
        return;
    const double stepMs = step.draftMs + step.verifyMs + step.searchMs + step.otherMs;
    for (const EmittedToken& token : step.tokens) {
        const std::size_t begin = answer->text.size();
        answer->text += token.text;
        answer->tokens.push_back(
            {token.id, begin, answer->text.size(), token.fact, step.step, stepMs});
    }
    answer->steps.push_back(step);
}

} // namespace ui
