// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/answer/generation_metrics.h"
#include "engine/metrics/decode_metrics.h"
#include "engine/session/engine_event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// A round of a side. Its times count from the beginning of the first round and hold the rounds of
/// this side alone, whatever else was answered meanwhile. A plain value.
struct SideRound {
    int firstToken = 0;
    int tokens = 0;
    double beginMs = 0.0;
    double endMs = 0.0;
    bool isPlain = true; ///< the full model wrote its one token without a draft
};

enum class SideState : std::uint8_t {
    Waiting, ///< its prompt is being read, or waits for that
    Writing,
    Finished, ///< to its end, or stopped: see SideAnswer::reason
    Failed,
};

/// One of two answers to the same prompt, as far as it has come. A plain value.
struct SideAnswer {
    SideState state = SideState::Waiting;
    std::vector<EmittedToken> tokens;
    std::vector<SideRound> rounds;
    std::string text;
    double decodeMs = 0.0; ///< of its rounds
    DecodeMetrics metrics; ///< of its rounds
    int promptTokens = 0;
    FinishReason reason = FinishReason::MaxTokens; ///< once it is finished
    std::optional<Error> error;                    ///< once it has failed
    std::vector<std::string> notes;                ///< sentences of its decoder

    bool isOver() const { return state == SideState::Finished || state == SideState::Failed; }

    /// It has come to its own end, and was not stopped before.
    bool isWhole() const {
        return state == SideState::Finished && reason != FinishReason::Cancelled;
    }

    /// 0 before the first round.
    double tokensPerSecond() const {
        return decodeMs > 0.0 ? static_cast<double>(tokens.size()) / decodeMs * 1e3 : 0.0;
    }

    /// Adds what an event of the side's conversation tells. Returns whether that changed anything.
    bool apply(const EngineEvent& event);

private:
    void add(const StepFinished& step);
};

} // namespace engine
