// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lens/answer_lens.h"
#include "engine/lens/attention_lens.h"
#include "engine/session/engine_command.h"
#include "engine/session/loading/model_loader.h"
#include "engine/session/worker/events/event_outlet.h"
#include "engine/session/worker/work_control.h"

#include <deque>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

namespace engine {

/// The text of an answer that has ended.
struct SeenAnswer {
    std::uint64_t promptId = 0;
    std::vector<TokenId> tokens; ///< prompt and answer
    int promptTokens = 0;        ///< of these, those of the prompt
};

/// Works on ReadLens and ReadAttention, one pass at a time, and tells what they find. The newest of
/// each is worked on; attention, which is asked for a single cell, comes first. Thread: engine.
class LensDesk {
public:
    /// The outlet outlives it.
    explicit LensDesk(EventOutlet& outlet)
        : m_outlet(outlet) {}

    /// Keeps the last kLensAnswers of them.
    void note(SeenAnswer answer);

    /// Begins the work instead of an earlier one of the same kind, which is told to be stopped. The
    /// model must live until forget(). Errors: NotFound for an answer that is not kept; those of
    /// AnswerLens or AttentionLens.
    Result<void> begin(const ReadLens& command,
                       const SessionModel& model,
                       std::unique_ptr<const WorkControl::Work> control);
    Result<void> begin(const ReadAttention& command,
                       const SessionModel& model,
                       std::unique_ptr<const WorkControl::Work> control);

    bool hasWork() const { return m_attention || m_lens; }

    /// The command that is worked on next, for failures; only while there is one.
    std::string_view current() const { return m_attention ? "read_attention" : "read_lens"; }

    std::uint64_t currentRequest() const { return job().requestId; }

    const std::stop_token& stopToken() const { return job().control->token(); }

    /// Makes the next pass and tells what it has found. Errors: those of a pass; the work then has
    /// to be dropped.
    Result<void> step();

    /// Its failure was told.
    void dropCurrent();

    /// Ends all work and tells that it was stopped.
    void stop();

    /// Also forgets the answers: their model goes away.
    void forget();

private:
    struct Job {
        std::uint64_t requestId = 0;
        std::uint64_t promptId = 0;
        std::unique_ptr<const WorkControl::Work> control;
        const Tokenizer* tokenizer = nullptr; // null: the model has none
        double seconds = 0.0;
    };

    struct LensJob : Job {
        AnswerLens lens;
        int next = 0; // token of the answer that is told next
    };

    struct AttentionJob : Job {
        AttentionLens lens;
        std::vector<TokenId> text; // before the token
        int promptTokens = 0;
        int token = 0;
        int layer = 0;
    };

    const Job& job() const;
    Result<SeenAnswer> answerOf(std::uint64_t promptId) const;
    Result<void> makePass(LensWork& work, Job& job);
    void tellTokens();
    void tellAttention();
    void tellStopped(const Job& job);

    EventOutlet& m_outlet;
    std::deque<SeenAnswer> m_answers;
    std::unique_ptr<LensJob> m_lens;
    std::unique_ptr<AttentionJob> m_attention;
};

} // namespace engine
