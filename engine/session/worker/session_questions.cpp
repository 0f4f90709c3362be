// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/model_inspection.h"
#include "engine/session/worker/prompt_text.h"
#include "engine/session/worker/session_worker.h"

#include <utility>

// The commands of a session that change nothing of a run: questions about models and prompts, and
// the tasks that are known.

namespace engine {

Result<void> SessionWorker::handle(const InspectModel& command) {
    ENGINE_TRY(ModelInspected inspected, inspectModel(m_options.moduleFolder, command));
    m_outlet.emit(std::move(inspected));
    return {};
}

Result<void> SessionWorker::handle(const CountTokens& command) {
    if (!m_model)
        return Error{
            ErrorCode::NotFound, "There is no model to count tokens with.", "Load a model first."};
    ENGINE_TRY(PromptCount count, countTokens(command, *m_model));
    m_outlet.emit(TokensCounted{
        command.requestId, count.total, std::move(count.perMessage), m_model->contextLength});
    return {};
}

/// Errors: NotFound where the tasks of no model are kept.
Result<TaskMemory> SessionWorker::taskMemory() const {
    if (m_memory)
        return TaskMemory(*m_memory);
    return Error{ErrorCode::NotFound,
                 m_model ? "The tasks of this model are not kept."
                         : "There is no model with tasks.",
                 m_model ? "It needs a data folder, and a model that was read from files."
                         : "Load a model first."};
}

void SessionWorker::tellTasks(std::uint64_t requestId, const TaskLibrary& known, std::string note) {
    TasksListed listed{requestId, {}, std::move(note)};
    for (const auto& [name, task] : known.tasks)
        listed.tasks.push_back({name, task.prompts, task.metAt});
    m_outlet.emit(std::move(listed));
}

Result<void> SessionWorker::handle(const ListTasks& command) {
    ENGINE_TRY(const TaskMemory memory, taskMemory());
    ENGINE_TRY(const TaskLibrary known, memory.all());
    tellTasks(command.requestId,
              known,
              known.unusable.empty() ? std::string() : known.unusable.front().message + ".");
    return {};
}

Result<void> SessionWorker::handle(const RenameTask& command) {
    ENGINE_TRY_DO(changeTasks(command.requestId, [&](TaskMemory& memory) {
        return memory.rename(command.task, command.name);
    }));
    m_conversations.forEach(
        [&](Conversation& each) { each.slot.seenPrompt().rename(command.task, command.name); });
    return {};
}

Result<void> SessionWorker::handle(const ForgetTask& command) {
    ENGINE_TRY_DO(changeTasks(command.requestId,
                              [&](TaskMemory& memory) { return memory.forget(command.task); }));
    m_conversations.forEach(
        [&](Conversation& each) { each.slot.seenPrompt().rename(command.task, {}); });
    return {};
}

Result<void>
SessionWorker::changeTasks(std::uint64_t requestId,
                           const std::function<Result<std::string>(TaskMemory&)>& change) {
    ENGINE_TRY(TaskMemory memory, taskMemory());
    ENGINE_TRY(std::string note, change(memory));
    ENGINE_TRY(const TaskLibrary known, memory.all());
    tellTasks(requestId, known, std::move(note));
    return {};
}

} // namespace engine
