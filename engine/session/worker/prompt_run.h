// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/answer/generation.h"
#include "engine/session/lens/lens_desk.h"
#include "engine/session/worker/decoder_slot.h"
#include "engine/session/worker/events/event_outlet.h"
#include "engine/text/chat_prompt.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace engine {

/// The environment of a prompt; the references must outlive the run.
struct PromptSetup {
    SubmitPrompt command;
    const SessionModel& model;
    DecoderGround ground;
    DecoderSlot& slot;
    EventOutlet& outlet;
    LensDesk& lens; ///< is given the answer's text
    std::stop_token stop;
    std::int64_t& promptsFinished; ///< of the session; this one is added at its end
    bool measuresBaseline = true;  ///< see SessionOptions
};

/// Runs one prompt from its messages to PromptFinished, a step at a time, and reports the Answer as
/// events. Thread: engine.
class PromptRun {
public:
    explicit PromptRun(PromptSetup setup)
        : m_setup(std::move(setup))
        , m_naming(m_setup.command,
                   m_setup.ground.memory,
                   m_setup.slot.seenPrompt(),
                   m_setup.model.transformer->config().layerCount) {}

    PromptRun(const PromptRun&) = delete; // the answer refers to its members
    PromptRun& operator=(const PromptRun&) = delete;

    /// Makes the prompt. Errors: those of the template, the tokenizer, making the decoder and
    /// Answer; InvalidInput for a prompt that does not fit.
    Result<void> begin();

    /// Reads the next piece of the prompt or makes the next part of the answer; false at its end,
    /// when PromptFinished was sent. Call it only after a begin() that succeeded. Errors: those of
    /// Answer; the run is over then, and the decoder dropped if its state may be inconsistent.
    Result<bool> advance();

    /// The next part has waited so long for its turn, which is no time of this answer.
    void leaveOut(double waitedMs) { m_answer->leaveOut(waitedMs); }

    /// Adds the time of a search between two steps.
    void addSearch(double ms) { m_metrics.addSearch(ms); }

    /// The prompt's length, if begin() refused it because it does not fit into the context.
    const std::optional<PromptCount>& tooLong() const { return m_tooLong; }

private:
    Result<void> makePrompt();
    Result<void> leaveOut(int room);
    Result<bool> makePart();
    GenerationRequest request();
    void emit(EventContent content);
    void dropAfter(const Error& error);
    void tell(const AnswerPart& part);
    void tellStep(const AnswerStep& made);
    void tellStatistics(std::size_t tokens);
    void tellSearch(const SearchReport& report, bool tellsPhase);
    void tellEnd(const GenerationResult& result);

    PromptSetup m_setup;
    TaskNaming m_naming; // refers to the setup
    std::vector<TokenId> m_prompt;
    std::vector<TokenId> m_begun;   ///< of an answer to be continued; the end of m_prompt if known
    std::optional<Answer> m_answer; // refers to the two above; none before begin()
    DecodeMetrics m_metrics;        // of this prompt alone
    std::optional<PromptCount> m_tooLong;
    int m_stepCount = 0;
    std::size_t m_tokenCount = 0;
    double m_decodeMs = 0.0;
};

} // namespace engine
