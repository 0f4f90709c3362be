// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/run_events.h"
#include "ui/bridge/links/engine_link.h"
#include "ui/bridge/links/playback.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace support {

/// An engine that says what the test wrote and remembers what it was asked. The test keeps a
/// pointer to it; the bridge owns it.
class ScriptedLink : public ui::EngineLink {
public:
    bool send(engine::EngineCommand command) override {
        if (isBusy)
            return false;
        sent.push_back(std::move(command));
        return true;
    }

    std::vector<engine::EngineEvent> takeEvents() override { return std::exchange(waiting, {}); }

    void borrowProcessor() override { hasProcessor = true; }

    void returnProcessor() override { hasProcessor = false; }

    bool takeRewind() override { return std::exchange(goesBack, false); }

    ui::Playback* playback() override { return recording.get(); }

    void say(engine::EventContent content) {
        waiting.push_back({time += 0.02, std::move(content)});
    }

    /// The newest command of this type, null when there is none.
    template <typename T> const T* lastSent() const {
        for (auto command = sent.rbegin(); command != sent.rend(); ++command)
            if (const T* found = std::get_if<T>(&*command))
                return found;
        return nullptr;
    }

    /// Answers the newest question of a length as the engine does, each message with `perMessage`
    /// tokens: a count is told; a prompt begins, unless it is longer than the context lets it be.
    void countNewest(int perMessage, int contextLength) {
        const auto isCounted = [](const engine::EngineCommand& command) {
            return std::holds_alternative<engine::CountTokens>(command) ||
                   std::holds_alternative<engine::SubmitPrompt>(command);
        };
        const auto newest = std::find_if(sent.rbegin(), sent.rend(), isCounted);
        if (const auto* question = std::get_if<engine::CountTokens>(&*newest)) {
            const std::vector<int> counts(question->messages.size(), perMessage);
            const int total = perMessage * static_cast<int>(counts.size());
            say(engine::TokensCounted{question->requestId, total, counts, contextLength});
            return;
        }
        const auto& prompt = std::get<engine::SubmitPrompt>(*newest);
        const std::vector<int> counts(prompt.messages.size(), perMessage);
        const int room = engine::promptRoom(contextLength, prompt.answerRoom);
        const engine::ContextFit fit = engine::fitContext(prompt.policy, counts, 0, room);
        if (fit.isEnough) {
            say(promptStarted(prompt.promptId, fit.sentTokens));
            return;
        }
        engine::EngineFailed failed = failedTask(
            "submit_prompt", {engine::ErrorCode::InvalidInput, "The prompt is too long.", ""});
        failed.promptId = prompt.promptId;
        failed.promptTokens = fit.sentTokens + fit.droppedTokens;
        failed.contextLength = contextLength;
        failed.perMessage = counts;
        say(failed);
    }

    std::vector<engine::EngineCommand> sent;
    std::vector<engine::EngineEvent> waiting;
    double time = 0.0;
    bool hasProcessor = false;               ///< one of the engine's, at the moment
    bool isBusy = false;                     ///< it takes no commands
    bool goesBack = false;                   ///< with the next tick everything begins anew
    std::unique_ptr<ui::Playback> recording; ///< set: the link is a replay
};

} // namespace support
