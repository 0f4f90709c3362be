// SPDX-License-Identifier: Apache-2.0
#include "engine/session/lens/lens_desk.h"

#include "engine/base/to_size.h"
#include "engine/session/worker/events/step_texts.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace engine {

void LensDesk::note(SeenAnswer answer) {
    m_answers.push_back(std::move(answer));
    if (m_answers.size() > kLensAnswers)
        m_answers.pop_front();
}

Result<SeenAnswer> LensDesk::answerOf(std::uint64_t promptId) const {
    const auto found = std::find_if(m_answers.rbegin(), m_answers.rend(), [=](const auto& answer) {
        return answer.promptId == promptId;
    });
    if (found == m_answers.rend())
        return Error{ErrorCode::NotFound,
                     "The text of this answer is not at hand any more.",
                     "Ask again: the lens reads answers that ended since the model was loaded."};
    return *found;
}

Result<void> LensDesk::begin(const ReadLens& command,
                             const SessionModel& model,
                             std::unique_ptr<const WorkControl::Work> control) {
    ENGINE_TRY(SeenAnswer answer, answerOf(command.promptId));
    const int length = static_cast<int>(answer.tokens.size()) - answer.promptTokens;
    if (command.first < 0 || command.first >= length)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The answer has {} tokens, and none at {}.", length, command.first),
            "Ask for tokens of the answer."};
    ENGINE_TRY(AnswerLens lens,
               AnswerLens::begin(*model.transformer,
                                 std::move(answer.tokens),
                                 answer.promptTokens + command.first,
                                 command.count > 0 ? command.count : length - command.first,
                                 model.contextLength));
    if (m_lens)
        tellStopped(*m_lens);
    m_lens = std::make_unique<LensJob>(
        LensJob{{command.requestId, command.promptId, std::move(control), model.tokenizer.get()},
                std::move(lens),
                command.first});
    return {};
}

Result<void> LensDesk::begin(const ReadAttention& command,
                             const SessionModel& model,
                             std::unique_ptr<const WorkControl::Work> control) {
    ENGINE_TRY(SeenAnswer answer, answerOf(command.promptId));
    const int length = static_cast<int>(answer.tokens.size()) - answer.promptTokens;
    if (command.token < 0 || command.token >= length)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The answer has {} tokens, and none at {}.", length, command.token),
            "Ask for a token of the answer."};
    const int token = answer.promptTokens + command.token;
    ENGINE_TRY(AttentionLens lens,
               AttentionLens::begin(
                   *model.transformer, answer.tokens, token, command.layer, model.contextLength));
    answer.tokens.resize(toSize(token));
    if (m_attention)
        tellStopped(*m_attention);
    m_attention = std::make_unique<AttentionJob>(AttentionJob{
        {command.requestId, command.promptId, std::move(control), model.tokenizer.get()},
        std::move(lens),
        std::move(answer.tokens),
        answer.promptTokens,
        command.token,
        command.layer});
    return {};
}

const LensDesk::Job& LensDesk::job() const {
    if (m_attention)
        return *m_attention;
    return *m_lens;
}

Result<void> LensDesk::step() {
    if (stopToken().stop_requested()) {
        tellStopped(job());
        dropCurrent();
        return {};
    }
    if (m_attention) {
        ENGINE_TRY_DO(makePass(m_attention->lens, *m_attention));
        if (m_attention->lens.isDone())
            tellAttention();
        return {};
    }
    ENGINE_TRY_DO(makePass(m_lens->lens, *m_lens));
    tellTokens();
    if (m_lens->lens.isDone()) {
        m_outlet.emit(
            LensFinished{m_lens->requestId, false, m_lens->lens.influence(), m_lens->seconds});
        m_lens.reset();
    }
    return {};
}

Result<void> LensDesk::makePass(LensWork& work, Job& job) {
    const auto start = ForwardClock::now();
    ENGINE_TRY_DO(work.step());
    const std::chrono::duration<double> passed = ForwardClock::now() - start;
    job.seconds += passed.count();
    m_outlet.emit(LensProgress{job.requestId, work.part()});
    return {};
}

/// The tokens that have become complete, if there are any.
void LensDesk::tellTokens() {
    LensTokensRead read{m_lens->requestId, m_lens->promptId, m_lens->next, {}, {}};
    read.tokens = m_lens->lens.takeTokens();
    if (read.tokens.empty())
        return;
    m_lens->next += static_cast<int>(read.tokens.size());
    std::set<TokenId> named;
    for (const LensToken& token : read.tokens) {
        named.insert(token.token);
        for (const LensCell& cell : token.cells)
            named.insert(cell.ids.begin(), cell.ids.end());
    }
    for (const TokenId id : named)
        read.texts.push_back({id, tokenText(id, m_lens->tokenizer)});
    m_outlet.emit(std::move(read));
}

void LensDesk::tellAttention() {
    AttentionRead read{m_attention->requestId,
                       m_attention->promptId,
                       m_attention->token,
                       m_attention->layer,
                       m_attention->lens.heads(),
                       {},
                       m_attention->promptTokens};
    for (const TokenId id : m_attention->text)
        read.texts.push_back(tokenText(id, m_attention->tokenizer));
    m_outlet.emit(std::move(read));
    m_attention.reset();
}

void LensDesk::tellStopped(const Job& job) {
    m_outlet.emit(LensFinished{job.requestId, true, {}, job.seconds});
}

void LensDesk::dropCurrent() {
    if (m_attention)
        m_attention.reset();
    else
        m_lens.reset();
}

void LensDesk::stop() {
    while (hasWork()) {
        tellStopped(job());
        dropCurrent();
    }
}

void LensDesk::forget() {
    stop();
    m_answers.clear();
}

} // namespace engine
