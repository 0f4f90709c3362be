// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/answer/generation.h"
#include "engine/session/worker/decoder_slot.h"
#include "engine/session/worker/events/event_outlet.h"
#include "engine/text/chat_prompt.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace engine {

/// The environment of a prompt; the references must outlive the run.
struct PromptSetup {
    const SubmitPrompt& command;
    const SessionModel& model;
    DecoderGround ground;
    DecoderSlot& slot;
    EventOutlet& outlet;
    std::stop_token stop;
    std::int64_t promptsFinished = 0;     ///< before this one
    std::function<double()> betweenSteps; ///< the milliseconds that it searched
};

/// Runs one prompt from its messages to PromptFinished and reports the Answer as events. Thread:
/// engine.
class PromptRun {
public:
    explicit PromptRun(PromptSetup setup)
        : m_setup(std::move(setup)) {}

    /// Errors: those of the template, the tokenizer, making the decoder and Answer; InvalidInput
    /// for a prompt that does not fit. The decoder is dropped if its state may be inconsistent.
    Result<void> run();

    /// The prompt's length, if run() refused it because it does not fit into the context.
    const std::optional<PromptCount>& tooLong() const { return m_tooLong; }

private:
    Result<void> makePrompt();
    Result<void> leaveOut(int room);
    Result<void> answer(Decoder& decoder);
    GenerationRequest request();
    void tell(const AnswerPart& part);
    void tellStep(const AnswerStep& made);
    void tellStatistics(std::size_t tokens, std::int64_t promptsFinished);
    void tellSearch(const SearchReport& report, bool tellsPhase);
    void tellEnd(const GenerationResult& result);

    PromptSetup m_setup;
    std::vector<TokenId> m_prompt;
    std::vector<TokenId> m_begun; ///< of an answer to be continued; the end of m_prompt if known
    DecodeMetrics m_metrics;      // of this prompt alone
    std::optional<PromptCount> m_tooLong;
    int m_stepCount = 0;
    std::size_t m_tokenCount = 0;
    double m_decodeMs = 0.0;
};

} // namespace engine
