// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/locks/file_lock.h"
#include "engine/tuning/rows/answer_rows.h"

#include <filesystem>
#include <string>

namespace engine {

/// What a run does with the work of an earlier one on the same output.
enum class EarlierWork : std::uint8_t {
    Refuse,   ///< there must be none
    Replace,  ///< it is deleted
    GoOn,     ///< it is continued; its plan must have been the same, see differenceOf()
    KeepRows, ///< its rows are used, the training begins anew
};

/// What decides whether earlier work belongs to a run: texts of TuningPlan.
struct RunPlanTexts {
    std::string rows;
    std::string all;
};

/// OUT.work, the folder of a run: its plan, the shards of its rows and its checkpoints. One process
/// at a time has it; others are refused until this object ends. Thread: one.
class TuningFolder {
public:
    /// Makes the folder, or opens that of an earlier run. Nothing but files that such runs write is
    /// ever deleted. Errors: InvalidInput for a folder with files in which no run has worked, if
    /// another process has it, if there is an earlier run where there must be none, or one with
    /// another plan (names the first difference); NotFound if there is none to go on with; Io;
    /// CorruptFile.
    static Result<TuningFolder>
    open(const std::filesystem::path& output, const RunPlanTexts& plan, EarlierWork earlier);

    /// The folder for an output file.
    static std::filesystem::path folderFor(const std::filesystem::path& output);

    /// By which rule the prompts of an earlier run for this output were dealt out; that of today
    /// where there is none, or none that can be read, which open() tells.
    static SplitRule splitRuleFor(const std::filesystem::path& output);

    const std::filesystem::path& path() const { return m_path; }

    /// Where a tuned model is written until it is whole.
    std::filesystem::path modelPath() const;

    /// Where the adapter of the best state so far is kept.
    std::filesystem::path bestFile() const;

    /// Where prompts are kept that the model has written itself.
    std::filesystem::path selfPromptsFile() const;

    /// To which rows, and to which checkpoints, a file must belong: where earlier ones are used, to
    /// theirs.
    const std::string& rowsRun() const { return m_rowsRun; }

    const std::string& run() const { return m_run; }

    /// Deletes the files of the run, and the folder if it is empty then.
    void remove();

private:
    TuningFolder(std::filesystem::path path, FileLock lock)
        : m_path(std::move(path))
        , m_lock(std::move(lock)) {}

    std::filesystem::path m_path;
    FileLock m_lock;
    std::string m_rowsRun;
    std::string m_run;
};

} // namespace engine
