// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuning_folder.h"

#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/tuning/files/hashed_file.h"
#include "engine/tuning/tuning_plan.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <system_error>
#include <vector>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFile = "plan.json";
constexpr const char* kLockFile = "lock";
constexpr const char* kModelFolder = "model";
constexpr std::uint64_t kMostPlanBytes = 1'000'000;

std::string planFileText(const RunPlanTexts& plan) {
    return nlohmann::ordered_json{{"rows", plan.rows}, {"all", plan.all}}.dump(1) + "\n";
}

Result<std::optional<RunPlanTexts>> readPlan(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return std::optional<RunPlanTexts>();
    ENGINE_TRY(const std::string text, readTextFile(path, kMostPlanBytes));
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!json.is_object() || !json.value("rows", nlohmann::ordered_json()).is_string() ||
        !json.value("all", nlohmann::ordered_json()).is_string())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} is damaged.", path.string()),
                     "Begin anew with --overwrite."};
    return std::optional(RunPlanTexts{json["rows"], json["all"]});
}

/// Files that a run writes.
struct RunFiles {
    const char* beginning; ///< of their names
    const char* end;
};

constexpr RunFiles kRowFiles = {"rows-", ".bin"};
constexpr RunFiles kPromptFiles = {"self-prompts", ".jsonl"};
constexpr RunFiles kCheckpointFiles = {"checkpoint-", ".bin"};

/// What a process that was killed had not finished.
constexpr RunFiles kPartFiles = {".swift-studio-", ".part"};

void removeFiles(const fs::path& folder, const RunFiles& files) {
    std::error_code failure;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(files.beginning) && name.ends_with(files.end))
            found.push_back(entry->path());
    }
    for (const fs::path& file : found)
        fs::remove(file, failure);
}

constexpr RunFiles kAnyFiles = {"", ""};

/// All that a run has made but the lock.
void removeWork(const fs::path& folder) {
    removeFiles(folder, kPromptFiles);
    removeFiles(folder, kRowFiles);
    removeFiles(folder, kCheckpointFiles);
    removeFiles(folder / kModelFolder, kAnyFiles);
    std::error_code ignored;
    fs::remove(folder / kModelFolder, ignored); // only if it is empty
    fs::remove(folder / kPlanFile, ignored);
}

Result<void> checkEarlier(const RunPlanTexts& plan, const RunPlanTexts& was, EarlierWork earlier) {
    const bool keepsRows = earlier == EarlierWork::KeepRows;
    ENGINE_TRY(const std::string difference,
               differenceOf(keepsRows ? plan.rows : plan.all, keepsRows ? was.rows : was.all));
    if (difference.empty())
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The earlier run was another one: {}.", difference),
                 keepsRows ? "Only what concerns the training may differ here."
                           : "Give the same options as then; --retrain keeps the rows and trains "
                             "anew, --overwrite begins anew."};
}

} // namespace

fs::path TuningFolder::modelPath() const { return m_path / kModelFolder; }

fs::path TuningFolder::folderFor(const fs::path& output) { return output.string() + ".work"; }

Result<TuningFolder>
TuningFolder::open(const fs::path& output, const RunPlanTexts& plan, EarlierWork earlier) {
    const fs::path path = folderFor(output);
    const bool needsEarlier = earlier == EarlierWork::GoOn || earlier == EarlierWork::KeepRows;
    std::error_code failure;
    if (needsEarlier && !fs::exists(path / kPlanFile, failure))
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no earlier run in {}.", path.string()),
                     "Leave out --resume and --retrain."};
    fs::create_directories(path, failure);
    if (failure)
        return Error{ErrorCode::Io,
                     fmt::format("{} cannot be made: {}.", path.string(), failure.message()),
                     "Check the folder, its permissions and the free space."};
    ENGINE_TRY(std::optional<FileLock> lock, FileLock::take(path / kLockFile));
    if (!lock)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Another run works on {} at this moment.", output.string()),
                     "Wait until it has ended, or name another output."};
    TuningFolder folder(path, std::move(*lock));
    folder.m_rowsRun = contentSumOf(plan.rows);
    folder.m_run = contentSumOf(plan.all);
    removeFiles(path, kPartFiles);
    if (earlier == EarlierWork::Replace)
        removeWork(path);
    ENGINE_TRY(const auto was, readPlan(path / kPlanFile));
    if (was && earlier == EarlierWork::Refuse)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} holds an earlier run.", path.string()),
                     "Go on with it by --resume, or begin anew with --overwrite."};
    if (was)
        ENGINE_TRY_DO(checkEarlier(plan, *was, earlier));
    if (earlier == EarlierWork::KeepRows)
        removeFiles(path, kCheckpointFiles);
    if (earlier != EarlierWork::GoOn)
        ENGINE_TRY_DO(writeFileAtomically(path / kPlanFile, planFileText(plan)));
    return folder;
}

void TuningFolder::remove() {
    removeWork(m_path);
    removeFiles(m_path, kPartFiles);
    std::error_code ignored;
    fs::remove(m_path / kLockFile, ignored);
    fs::remove(m_path, ignored); // only if it is empty
}

} // namespace engine
