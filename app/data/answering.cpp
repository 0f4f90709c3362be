// SPDX-License-Identifier: Apache-2.0
#include "app/data/answering.h"

namespace app {

using namespace engine;

namespace {

/// Asks one turn and adds it to `answers`; gives the answer's text.
Result<std::string> answerTurn(Decoder& decoder, const GenerationRequest& asked, Answers& answers) {
    GenerationRequest request = asked;
    DecodeTally tally;
    request.onStep = [&](const DecodeStep& step, std::string_view text) {
        tally.add(step);
        if (asked.onStep && !step.tokens.empty())
            asked.onStep(step, text);
    };
    request.onEnd = [&](const SearchReport& report) {
        tally.add(report);
        if (asked.onEnd)
            asked.onEnd(report);
    };
    ENGINE_TRY(GenerationResult result, generate(decoder, request));
    answers.tally.add(tally);
    answers.promptTokens += result.metrics.promptTokens;
    answers.promptMs += result.metrics.promptMs;
    answers.decodeMs += result.metrics.decodeMs;
    answers.isCancelled = result.reason == FinishReason::Cancelled;
    answers.turns.push_back({{asked.prompt.begin(), asked.prompt.end()}, std::move(result.tokens)});
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
        if (request.onStep)
            asked.onStep = [&](const DecodeStep& step, std::string_view) { request.onStep(step); };
        asked.onEnd = request.onEnd;
        auto text = answerTurn(decoder, asked, answers);
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
