// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <optional>
#include <string>

namespace app {

/// The folder "slurm" of a run folder: the scripts of the job arrays, and what their tasks wrote to
/// standard output and standard error. Thread: one.
class SlurmFiles {
public:
    /// Errors: Io if the folder cannot be made.
    static engine::Result<SlurmFiles> make(const std::filesystem::path& runFolder);

    /// Writes the script of the arrays of one family, which runs shard 1000 * `family` + index of
    /// the array with this very program. Errors: Io.
    engine::Result<std::filesystem::path> writeScript(int family) const;

    /// The path of the logs as sbatch takes it, with its %A and %a.
    std::string logPattern() const;

    /// The last line of a task's log, fit for a message; none if there is no log.
    std::optional<std::string> lastWords(long job, int index) const;

    const std::filesystem::path& runFolder() const { return m_runFolder; }

private:
    explicit SlurmFiles(std::filesystem::path runFolder)
        : m_runFolder(std::move(runFolder)) {}

    std::filesystem::path m_runFolder; // absolute
};

} // namespace app
