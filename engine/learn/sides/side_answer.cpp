// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/sides/side_answer.h"

namespace engine {

bool SideAnswer::apply(const EngineEvent& event) {
    if (isOver())
        return false;
    if (const auto* started = event.as<PromptStarted>()) {
        promptTokens = started->promptTokens;
    } else if (const auto* step = event.as<StepFinished>()) {
        add(*step);
    } else if (const auto* released = event.as<TextReleased>()) {
        text += released->text;
    } else if (const auto* statistics = event.as<Statistics>()) {
        metrics = statistics->total;
    } else if (const auto* note = event.as<Note>()) {
        notes.push_back(note->text);
    } else if (const auto* finished = event.as<PromptFinished>()) {
        state = SideState::Finished;
        reason = finished->reason;
        metrics = finished->decoding;
        text = finished->text;
    } else if (const auto* failed = event.as<EngineFailed>()) {
        // A prompt that is stopped before it begins was not answered, but nothing is wrong.
        const bool isStopped = failed->error.code == ErrorCode::Cancelled;
        state = isStopped ? SideState::Finished : SideState::Failed;
        reason = FinishReason::Cancelled;
        if (!isStopped)
            error = failed->error;
    } else {
        return false;
    }
    return true;
}

void SideAnswer::add(const StepFinished& step) {
    state = SideState::Writing;
    const double beginMs = decodeMs;
    decodeMs += step.draftMs + step.verifyMs + step.searchMs + step.otherMs;
    rounds.push_back({.firstToken = static_cast<int>(tokens.size()),
                      .tokens = static_cast<int>(step.tokens.size()),
                      .beginMs = beginMs,
                      .endMs = decodeMs,
                      .isPlain = step.isPlain()});
    tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
    text += step.text;
}

} // namespace engine
