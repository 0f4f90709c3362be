// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/atomic_file.h"
#include "engine/session/loading/model_inspection.h"
#include "engine/session/worker/prompt_text.h"
#include "engine/session/worker/session_worker.h"

#include <algorithm>
#include <utility>

// The commands of a session that change nothing of a run: questions about models and prompts, the
// tasks that are known, the skip sets that are kept, and recordings.

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

/// Errors: NotFound where nothing is kept.
Result<SkipSetMemory*> SessionWorker::skipSetMemory() const {
    if (m_memory)
        return m_memory.get();
    return Error{ErrorCode::NotFound,
                 m_model ? "The tasks and skip sets of this model are not kept."
                         : "There is no model whose tasks and skip sets are kept.",
                 m_model ? "It needs a data folder, and a model that was read from files."
                         : "Load a model first."};
}

/// The owner may come from the run of somebody else. Errors: as skipSetMemory(); InvalidInput for
/// what is no fingerprint, which names a file, and where other sets of this model say that it has
/// another number of layers: a change would set them aside.
Result<SkipSetMemory> SessionWorker::skipSetMemoryOf(const SkipSetOwner& owner) const {
    const std::string& name = owner.fingerprint;
    if (name.empty() || (m_memory && m_memory->fingerprint() == name)) {
        ENGINE_TRY(const SkipSetMemory* const memory, skipSetMemory());
        return *memory;
    }
    if (m_options.dataFolder.empty())
        return Error{ErrorCode::NotFound,
                     "The skip sets of other models are not kept.",
                     "It needs a data folder."};
    constexpr std::string_view kLetters = "0123456789abcdef";
    constexpr std::size_t kLongestName = 64;
    constexpr int kMostModelLayers = 10'000; // as in the files
    const Error unknown{ErrorCode::InvalidInput,
                        "The model of these skip sets is not known.",
                        "Load the model and import them there."};
    if (name.find_first_not_of(kLetters) != std::string::npos || name.size() > kLongestName ||
        owner.layerCount < 1 || owner.layerCount > kMostModelLayers)
        return unknown;
    SkipSetMemory memory(m_options.dataFolder, name, owner.layerCount);
    const auto known = readSkipSetLibrary(memory.path(), 0); // as many layers as it says
    if (known && known.value().layerCount != owner.layerCount)
        return unknown;
    if (known && !known.value().model.empty())
        return memory; // its file keeps the name that it has
    return SkipSetMemory(m_options.dataFolder, name, owner.layerCount, owner.model);
}

Result<void> SessionWorker::handle(const ReadLens& command) { return beginLens(command); }

Result<void> SessionWorker::handle(const ReadAttention& command) { return beginLens(command); }

/// What fails here has not begun; what was begun before goes on.
template <typename Command> Result<void> SessionWorker::beginLens(const Command& command) {
    if (!m_model)
        return Error{ErrorCode::NotFound, "There is no model to look into.", "Load a model first."};
    // A stop of all prompts, an unload and the end of the session stop this work, too.
    return m_lens.begin(command, *m_model, m_channels.control.beginPrompt(m_task.number, 0));
}

Result<void> SessionWorker::handle(const StopLens&) {
    m_lens.stop();
    return {};
}

/// Errors: NotFound where the tasks of no model are kept.
Result<TaskMemory> SessionWorker::taskMemory() const {
    ENGINE_TRY(const SkipSetMemory* memory, skipSetMemory());
    return TaskMemory(*memory);
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

/// Sends it with what is stored by now.
void SessionWorker::tellSkipSets(SkipSetsListed listed) {
    AllSkipSets all;
    if (!m_options.dataFolder.empty())
        all = readAllSkipSets(m_options.dataFolder);
    if (m_memory) {
        listed.own.fingerprint = m_memory->fingerprint();
        listed.own.model = m_model->file.name;
        listed.own.layerCount = m_memory->layerCount();
    }
    for (ModelSkipSets& model : all.models) {
        if (m_memory && model.fingerprint == m_memory->fingerprint())
            listed.own.sets = std::move(model.sets);
        else
            listed.others.push_back(std::move(model));
    }
    listed.problems = std::move(all.problems);
    m_outlet.emit(std::move(listed));
}

namespace {

/// The reply about a change of the stored sets.
SkipSetsListed listedAfter(std::uint64_t requestId, SkipSetChange change) {
    SkipSetsListed listed;
    listed.requestId = requestId;
    for (auto& [task, stored] : change.lost)
        listed.lost.push_back({task, std::move(stored)});
    listed.kept = std::move(change.kept);
    listed.note = std::move(change.note);
    return listed;
}

} // namespace

Result<void> SessionWorker::handle(const ListSkipSets& command) {
    tellSkipSets(listedAfter(command.requestId, {}));
    return {};
}

Result<void> SessionWorker::handle(const ChangeSkipSets& command) {
    ENGINE_TRY(SkipSetMemory memory, skipSetMemoryOf(command.owner));
    SkipSetsByTask added;
    for (const NamedSkipSet& each : command.added)
        added.insert_or_assign(each.task, each.stored);
    ENGINE_TRY(SkipSetChange change, memory.exchange(command.removed, added));
    SkipSetsListed listed = listedAfter(command.requestId, std::move(change));
    for (const auto& [task, stored] : added)
        listed.taken.push_back(task);
    tellSkipSets(std::move(listed));
    return {};
}

Result<void> SessionWorker::handle(const RenameSkipSet& command) {
    ENGINE_TRY(SkipSetMemory* const memory, skipSetMemory());
    ENGINE_TRY(SkipSetChange change, memory->rename(command.task, command.name));
    SkipSetsListed listed = listedAfter(command.requestId, std::move(change));
    listed.taken = {command.name};
    tellSkipSets(std::move(listed));
    return {};
}

Result<void> SessionWorker::handle(const ImportSkipSets& command) {
    ENGINE_TRY(SkipSetMemory memory, skipSetMemoryOf(command.owner));
    ENGINE_TRY(ImportedSets imports,
               readSkipSetImport(command.path,
                                 memory.layerCount(),
                                 memory.fingerprint(),
                                 command.owner.fingerprint.empty()));
    if (const auto known = memory.all())
        std::erase_if(imports.sets, [&](const auto& offered) {
            const auto found = known.value().sets.find(offered.first);
            if (found == known.value().sets.end())
                return false;
            return offered.second.trials > 0 ? found->second == offered.second
                                             : found->second.set == offered.second.set;
        });
    SkipSetChange change;
    if (!imports.sets.empty()) {
        ENGINE_TRY(change,
                   command.replaces ? memory.replace(imports.sets)
                                    : memory.storeMissing(imports.sets));
    }
    SkipSetsListed listed = listedAfter(command.requestId, std::move(change));
    for (const auto& [task, stored] : imports.sets)
        if (std::ranges::find(listed.kept, task) == listed.kept.end())
            listed.taken.push_back(task);
    listed.leftOut = std::move(imports.leftOut);
    tellSkipSets(std::move(listed));
    return {};
}

Result<void> SessionWorker::handle(const ExportSkipSets& command) {
    ENGINE_TRY(const SkipSetMemory* const memory, skipSetMemory());
    ENGINE_TRY(SkipSetLibrary library, memory->all());
    library.layerCount = memory->layerCount();
    library.model = m_model->file.name;
    SkipSetsListed listed;
    listed.requestId = command.requestId;
    std::erase_if(library.sets, [&](const auto& each) {
        return !command.tasks.empty() &&
               std::ranges::find(command.tasks, each.first) == command.tasks.end();
    });
    for (const auto& [task, stored] : library.sets)
        listed.taken.push_back(task);
    if (listed.taken.empty())
        return Error{ErrorCode::NotFound,
                     "There is no skip set to export.",
                     "SWIFT finds one while it answers."};
    ENGINE_TRY(const std::string text, skipSetExport(library, command.form));
    ENGINE_TRY_DO(writeFileAtomically(command.path, text));
    tellSkipSets(std::move(listed));
    return {};
}

Result<void> SessionWorker::handle(const StartRecording& command) {
    return m_outlet.startRecording(command.path, command.mayOverwrite);
}

Result<void> SessionWorker::handle(const StopRecording&) {
    m_outlet.stopRecording();
    return {};
}

} // namespace engine
