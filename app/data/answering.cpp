// SPDX-License-Identifier: Apache-2.0
#include "app/data/answering.h"

namespace app {

using namespace engine;

namespace {

/// Sends one turn and adds it to `answers`; returns the answer's text.
Result<std::string> answerTurn(Decoder& decoder,
                               const GenerationRequest& asked,
                               const AnswerRequest& request,
                               Answers& answers) {
    DecodeTally tally;
    ENGINE_TRY(Answer answer, Answer::begin(decoder, asked));
    while (true) {
        std::shared_ptr<void> turn = turnOf(request);
        ENGINE_TRY(const std::optional<AnswerPart> part, answer.next());
        turn.reset();
        if (!part)
            break;
        if (const auto* made = std::get_if<AnswerStep>(&*part)) {
            tally.add(made->step);
            if (request.onStep)
                request.onStep(made->step);
        } else if (const auto* end = std::get_if<AnswerEnd>(&*part)) {
            tally.add(end->report);
            if (request.onEnd)
                request.onEnd(end->report);
        }
    }
    GenerationResult result = answer.result();
    answers.tally.add(tally);
    answers.promptTokens += result.metrics.promptTokens;
    answers.promptMs += result.metrics.promptMs;
    answers.decodeMs += result.metrics.decodeMs;
    answers.isCancelled = result.reason == FinishReason::Cancelled;
    answers.turns.push_back(
        {{asked.prompt.begin(), asked.prompt.end()}, std::move(result.tokens), result.text});
    return std::move(result.text);
}

} // namespace

Result<Answers>
answerRecord(Decoder& decoder, const DataRecord& record, const AnswerRequest& request) {
    Answers answers;
    std::vector<StoredMessage> messages;
    for (const std::string& turn : record.turns) {
        messages.push_back({{"user", turn}, {}});
        ENGINE_TRY(const auto prompt, request.model.encoder->encode(messages));
        GenerationRequest asked;
        asked.prompt = prompt;
        asked.task = record.task;
        asked.limits = {.maxTokens = request.maxTokens, .endIds = request.model.endIds};
        asked.tokenizer = request.model.tokenizer.get();
        asked.vocabulary = request.vocabulary;
        asked.stop = request.stop;
        auto text = answerTurn(decoder, asked, request, answers);
        if (!text && text.error().code == ErrorCode::InvalidInput && !answers.turns.empty())
            break; // the conversation has outgrown the context
        if (!text)
            return std::move(text).error();
        if (answers.isCancelled)
            break;
        messages.push_back({{"assistant", std::move(text).value()}, answers.turns.back().tokens});
    }
    return answers;
}

} // namespace app
