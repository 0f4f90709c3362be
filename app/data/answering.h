// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/data_model.h"
#include "app/data/decode_tally.h"
#include "engine/decoding/answer/generation.h"
#include "engine/experiments/data/data_stream.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// One turn of a record and a decoder's answer.
struct AnsweredTurn {
    std::vector<engine::TokenId> prompt;
    std::vector<engine::TokenId> tokens;
    std::string text;
};

/// A decoder's answers to one record, all turns together.
struct Answers {
    std::vector<AnsweredTurn> turns;
    DecodeTally tally;
    long promptTokens = 0;
    double promptMs = 0.0; ///< all but the last token of the prompts
    double decodeMs = 0.0; ///< everything after that
    bool isCancelled = false;
};

/// The options for answering records.
struct AnswerRequest {
    const DataModel& model;
    int maxTokens = 0; ///< of each turn
    std::stop_token stop;
    std::function<void(const engine::DecodeStep&)> onStep = {};
    std::function<void(const engine::SearchReport&)> onEnd = {};
    std::shared_ptr<const engine::TokenTrie> vocabulary = nullptr; ///< for a grammar
    /// Called before each part of an answer; the part is made while the result lives. Its waiting
    /// belongs to no measured time.
    std::function<std::shared_ptr<void>()> takeTurn = {};
};

/// A turn of the processor as the request takes it; null where nobody else wants one.
inline std::shared_ptr<void> turnOf(const AnswerRequest& request) {
    return request.takeTurn ? request.takeTurn() : nullptr;
}

/// Sends every turn of a record, each after the decoder's own earlier answers. A conversation that
/// no longer fits into the context ends there. Errors: those of encoding and of generate(); for the
/// first turn also InvalidInput.
engine::Result<Answers> answerRecord(engine::Decoder& decoder,
                                     const engine::DataRecord& record,
                                     const AnswerRequest& request);

} // namespace app
