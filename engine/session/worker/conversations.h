// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/worker/decoder_slot.h"
#include "engine/session/worker/prompt_run.h"
#include "engine/session/worker/work_control.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

namespace engine {

/// What the engine is doing, for failures.
struct SessionTask {
    std::uint64_t number = 0; ///< of its command
    std::string_view name;
    std::optional<std::uint64_t> conversation = {}; ///< none: of the whole session
    std::uint64_t promptId = 0;
    std::uint64_t requestId = 0;
    std::optional<PromptCount> tooLong = {}; ///< of a prompt that does not fit
};

/// A prompt that is being answered.
struct RunningPrompt {
    RunningPrompt(const SessionTask& promptTask, PromptSetup setup)
        : task(promptTask)
        , run(std::move(setup)) {}

    const SessionTask task;
    PromptRun run;
};

/// A conversation: its decoder with its own cache and totals, and the prompt that it answers.
struct Conversation {
    Conversation(std::uint64_t number, DecoderRegistry& registry)
        : id(number)
        , slot(registry) {}

    const std::uint64_t id;
    DecoderSlot slot;
    /// Of the prompt and of the pause behind its answer, in which the decoder may go on working.
    std::unique_ptr<const WorkControl::Work> work;
    std::unique_ptr<RunningPrompt> prompt; ///< refers to the slot; null = idle
    std::uint64_t lastTurn = 0;            ///< counts the turns of all conversations
};

/// The conversations of a session, and whose turn it is. Thread: engine.
class Conversations {
public:
    explicit Conversations(DecoderRegistry& registry)
        : m_registry(registry) {}

    /// The conversation of this number, which begins now if it is new.
    Conversation& at(std::uint64_t id);

    bool isRunning(std::uint64_t id) const;

    bool isAnyRunning() const;

    /// Of those with a prompt, the one that has waited longest; it counts as served. Null if none
    /// has a prompt.
    Conversation* next();

    /// One whose decoder may use the pause behind its answer; null if there is none.
    Conversation* inPause();

    void erase(std::uint64_t id) { m_all.erase(id); }

    /// Notes that it is served now.
    void touch(Conversation& conversation) { conversation.lastTurn = ++m_turns; }

    /// Makes room for the cache of one more conversation: frees the caches of idle ones, the one
    /// that was idle longest first, as long as less than `limitBytes` (0 = what the system or the
    /// GPU has) is left; calls `onFree` before each. Nothing is done for a conversation that has
    /// its cache, and for the only one. Errors: NoMemory if no cache is left to be freed.
    Result<void> makeRoom(const Conversation& wanting,
                          const SessionModel& model,
                          std::uint64_t limitBytes,
                          const std::function<void(Conversation& conversation)>& onFree);

    template <typename Visit> void forEach(Visit&& visit) {
        for (auto& [id, conversation] : m_all)
            visit(conversation);
    }

private:
    /// Frees the cache that was idle longest; false: none is idle.
    bool freeIdle(const std::function<void(Conversation& conversation)>& onFree);

    DecoderRegistry& m_registry;
    std::map<std::uint64_t, Conversation> m_all;
    std::uint64_t m_turns = 0;
};

} // namespace engine
