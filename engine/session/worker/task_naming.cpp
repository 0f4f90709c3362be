// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/task_naming.h"

#include "engine/session/worker/prompt_text.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace engine {

TaskNaming::TaskNaming(const SubmitPrompt& command,
                       const SkipSetMemory* sets,
                       SeenPrompt& seen,
                       int layerCount)
    : m_command(command)
    , m_seen(seen)
    , m_row{.layer = recognitionLayer(layerCount)} {
    if (sets != nullptr && command.taskUse != TaskUse::Given && !command.messages.empty())
        m_memory.emplace(*sets);
}

std::optional<TaskRecognised> TaskNaming::recognise(std::span<const TokenId> prompt) {
    if (!m_memory)
        return std::nullopt;
    m_isFresh = !std::ranges::equal(prompt, m_seen.tokens);
    if (m_isFresh && m_row.values.empty()) { // its row was cached, or is read later
        m_isFresh = false;
        return std::nullopt;
    }
    if (m_isFresh) {
        m_seen.tokens.assign(prompt.begin(), prompt.end());
        m_seen.vector = promptVector(m_row.values);
        m_seen.task = m_command.task;
    }
    if (m_command.taskUse != TaskUse::Recognised)
        return std::nullopt;
    const auto known = m_memory->all();
    TaskRecognised event = named(known ? known.value().tasks : KnownTasks());
    m_seen.task = event.task;
    return event;
}

TaskRecognised TaskNaming::named(const KnownTasks& known) const {
    const Recognition found = recogniseTask(known, m_seen.vector);
    TaskRecognised event;
    event.promptId = m_command.promptId;
    if (found.task) {
        event.task = found.task->task;
        event.likeness = found.task->likeness;
    } else {
        event.task = nameOfNewTask(questionOf(m_command), known);
        event.isNew = true;
    }
    if (found.other) {
        event.otherTask = found.other->task;
        event.otherLikeness = found.other->likeness;
    }
    return event;
}

std::string TaskNaming::learn() {
    if (!std::exchange(m_isFresh, false) || m_seen.task.empty())
        return {};
    const auto note =
        m_memory->learn(m_seen.task, m_seen.vector, static_cast<std::int64_t>(std::time(nullptr)));
    const std::string text =
        note ? note.value() : notStored("What the prompt looks like", note.error());
    return std::exchange(m_seen.note, text) == text ? std::string() : text;
}

} // namespace engine
