// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_files.h"

#include "app/commands/experiment/executors/slurm_board.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/readable_text.h"

#include <algorithm>
#include <fstream>

namespace app {

using namespace engine;

namespace {

namespace fs = std::filesystem;

constexpr std::streamoff kMostLogTail = 4096;

/// A word of a shell's command that means exactly this text.
std::string shellWord(const std::string& text) {
    std::string word = "'";
    for (const char letter : text)
        word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return word + "'";
}

} // namespace

Result<SlurmFiles> SlurmFiles::make(const fs::path& runFolder) {
    std::error_code code;
    const fs::path absolute = fs::canonical(runFolder, code);
    if (!code)
        fs::create_directories(absolute / "slurm", code);
    if (code)
        return Error{
            ErrorCode::Io,
            fmt::format("{} cannot be made: {}.", (runFolder / "slurm").string(), code.message()),
            "Check the folder, its permissions and the free space."};
    return SlurmFiles(absolute);
}

Result<fs::path> SlurmFiles::writeScript(int family) const {
    std::error_code code;
    const fs::path program = fs::read_symlink("/proc/self/exe", code);
    if (code)
        return Error{ErrorCode::Io,
                     "The path of this program cannot be found: " + code.message() + ".",
                     "Mount /proc."};
    const fs::path script = m_runFolder / "slurm" / fmt::format("shards-{}.sh", family);
    ENGINE_TRY_DO(writeFileAtomically(
        script,
        fmt::format("#!/bin/sh\n"
                    "# Runs one part of the experiment in this folder. Each task of a job array "
                    "is a part.\n"
                    "exec {} experiment --run-part $(({} + SLURM_ARRAY_TASK_ID)) --out {}\n",
                    shellWord(program.string()),
                    family * kSlurmFamily + 1, // parts are counted from 1, tasks from 0
                    shellWord(m_runFolder.string()))));
    return script;
}

std::string SlurmFiles::logPattern() const {
    std::string pattern;
    for (const char letter : (m_runFolder / "slurm").string())
        pattern += letter == '%' ? std::string("%%") : std::string(1, letter);
    return pattern + "/%A_%a.log";
}

std::optional<std::string> SlurmFiles::lastWords(long job, int index) const {
    std::ifstream log(m_runFolder / "slurm" / fmt::format("{}_{}.log", job, index),
                      std::ios::binary | std::ios::ate);
    if (!log)
        return std::nullopt;
    const std::streamoff size = log.tellg();
    std::string tail(static_cast<std::size_t>(std::clamp<std::streamoff>(size, 0, kMostLogTail)),
                     '\0');
    log.seekg(size - static_cast<std::streamoff>(tail.size()));
    log.read(tail.data(), static_cast<std::streamsize>(tail.size()));
    tail.resize(static_cast<std::size_t>(log.gcount()));
    while (tail.ends_with('\n'))
        tail.pop_back();
    return readable(std::string_view(tail).substr(tail.rfind('\n') + 1), 300);
}

} // namespace app
