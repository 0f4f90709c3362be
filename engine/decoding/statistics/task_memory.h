// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/decoding/statistics/task_recogniser.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// What a file of known tasks holds: what can be used, and why the rest cannot. A plain value.
struct TaskLibrary {
    KnownTasks tasks;
    std::vector<Error> unusable; ///< each names its task
};

/// What the prompts of one model's tasks look like, beside its skip sets in the user's data folder:
/// tasks/FINGERPRINT.json. It names the tasks of prompts; which skip set is used does not depend on
/// it. The file may have been changed by anyone: all of it is checked each time it is read, and a
/// vector that cannot be used costs only itself.
/// Thread: any, one at a time. Several processes may learn at once: the file is always whole, and
/// of two that store in the same moment the last one wins.
class TaskMemory {
public:
    static constexpr std::size_t kTasksKept = 64;

    /// For the model of these skip sets.
    explicit TaskMemory(const SkipSetMemory& sets);

    const std::filesystem::path& path() const { return m_path; }

    /// Nothing where there is no file. Errors: CorruptFile (no such file at all, or of another
    /// model), Unsupported (of a later version), Io.
    Result<TaskLibrary> all() const;

    /// Adds a prompt to a task, which begins if it is not known; then the one that was not met for
    /// the longest time goes when there are too many. A file that cannot be understood, or not all
    /// of it, is never overwritten: it is renamed to NAME.broken-N. Returns a note for the user
    /// that says so, usually an empty one. Errors: InvalidInput (a name that is no UTF-8 or too
    /// long), Io. Nothing is lost then.
    Result<std::string>
    learn(const std::string& task, const PromptVector& vector, std::int64_t now);

    /// Gives a task another name; two tasks become one if there is a task of that name. Returns a
    /// note as learn(). Errors: NotFound, and those of learn().
    Result<std::string> rename(const std::string& from, const std::string& to);

    /// Forgets what the prompts of a task look like. Returns a note as learn(). Errors: NotFound,
    /// and those of learn().
    Result<std::string> forget(const std::string& task);

private:
    Result<std::string> change(const std::function<Result<void>(KnownTasks&)>& change);
    std::string toJson(const KnownTasks& tasks) const;

    std::string m_fingerprint;
    std::filesystem::path m_path;
};

} // namespace engine
