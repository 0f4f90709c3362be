// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/task_memory.h"
#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// The newest prompt of a conversation that was looked at. A plain value.
struct SeenPrompt {
    std::vector<TokenId> tokens;
    PromptVector vector{};
    std::string task; ///< that it was kept for; empty = it is not to be kept
    std::string note; ///< what was said of keeping prompts last

    void rename(const std::string& from, const std::string& to) {
        if (task == from)
            task = to;
    }
};

/// Names a prompt's task by what the prompt looks like, and keeps what was learnt. Thread: engine.
class TaskNaming {
public:
    /// `sets` may be null: nothing is named or kept then. `command` and `seen` must outlive this.
    TaskNaming(const SubmitPrompt& command,
               const SkipSetMemory* sets,
               SeenPrompt& seen,
               int layerCount);

    /// Where the row of the prompt belongs, which is read with it; null if none is wanted.
    PromptRow* row() { return m_memory ? &m_row : nullptr; }

    /// Names the task of the prompt, which has been read; none where nothing is to be recognised.
    /// A prompt that was asked again keeps its name. A memory that cannot be read knows no task.
    std::optional<TaskRecognised> recognise(std::span<const TokenId> prompt);

    /// Keeps the prompt as one of its task, unless it was asked again. Returns a sentence for the
    /// user, usually an empty one; the same one is not said twice in a row.
    std::string learn();

private:
    TaskRecognised named(const KnownTasks& known) const;

    const SubmitPrompt& m_command;
    SeenPrompt& m_seen;
    std::optional<TaskMemory> m_memory;
    PromptRow m_row;
    bool m_isFresh = false; // m_seen is this prompt, which is not kept yet
};

} // namespace engine
