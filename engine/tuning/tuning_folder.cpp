// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuning_folder.h"

#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/part_file.h"
#include "engine/tuning/files/hashed_file.h"
#include "engine/tuning/model/tuned_model.h"
#include "engine/tuning/tuning_plan.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFile = "plan.json";
constexpr const char* kLockFile = "lock";
constexpr const char* kBestFile = "best.safetensors";
constexpr const char* kPromptFile = "self-prompts.jsonl";
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
                     "Begin anew with --anew."};
    return std::optional(RunPlanTexts{json["rows"], json["all"]});
}

/// Names of files that a run writes: a beginning, a number or the one word, and an end.
struct RunFiles {
    std::string_view beginning;
    std::string_view word;
    std::string_view end;

    bool holds(std::string_view name) const {
        if (name.size() <= beginning.size() + end.size() || !name.starts_with(beginning) ||
            !name.ends_with(end))
            return false;
        name.remove_prefix(beginning.size());
        name.remove_suffix(end.size());
        return name == word || name.find_first_not_of("0123456789") == std::string_view::npos;
    }
};

constexpr RunFiles kRowFiles = {"rows-", "unfinished", ".bin"};
constexpr RunFiles kCheckpointFiles = {"checkpoint-", "good", ".bin"};

template <typename Predicate> void removeFiles(const fs::path& folder, Predicate isMeant) {
    std::error_code failure;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure))
        if (isMeant(entry->path().filename().string()))
            found.push_back(entry->path());
    for (const fs::path& file : found)
        fs::remove(file, failure);
}

void removeCheckpoints(const fs::path& folder) {
    removeFiles(folder, [](const std::string& name) {
        return kCheckpointFiles.holds(name) || name == kBestFile;
    });
}

/// All that a run has made but the lock.
void removeWork(const fs::path& folder) {
    removeFiles(folder, [](const std::string& name) {
        return name == kPromptFile || kRowFiles.holds(name);
    });
    removeCheckpoints(folder);
    removeFiles(folder / kModelFolder, isTunedModelFile);
    std::error_code ignored;
    fs::remove(folder / kModelFolder, ignored); // only if it is empty
    fs::remove(folder / kPlanFile, ignored);
}

/// A folder that a run has made holds its lock, and its plan or nothing else yet. One that is empty
/// or not there is nobody's.
Result<void> checkIsOurs(const fs::path& folder) {
    std::error_code failure;
    if (fs::exists(folder / kLockFile, failure) && fs::exists(folder / kPlanFile, failure))
        return {};
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name != kLockFile && !isPartFile(name))
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} is needed for the work of this run, but holds {}, which "
                                     "no earlier run has made.",
                                     folder.string(),
                                     name),
                         "Move that folder away, or name another output."};
    }
    return {};
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
                             "anew, --anew begins anew."};
}

} // namespace

fs::path TuningFolder::modelPath() const { return m_path / kModelFolder; }

fs::path TuningFolder::bestFile() const { return m_path / kBestFile; }

fs::path TuningFolder::selfPromptsFile() const { return m_path / kPromptFile; }

fs::path TuningFolder::folderFor(const fs::path& output) { return output.string() + ".work"; }

SplitRule TuningFolder::splitRuleFor(const fs::path& output) {
    const auto was = readPlan(folderFor(output) / kPlanFile);
    return was && was.value() ? splitRuleOf(was.value()->rows) : SplitRule::ByText;
}

Result<TuningFolder>
TuningFolder::open(const fs::path& output, const RunPlanTexts& plan, EarlierWork earlier) {
    const fs::path path = folderFor(output);
    const bool needsEarlier = earlier == EarlierWork::GoOn || earlier == EarlierWork::KeepRows;
    std::error_code failure;
    if (needsEarlier && !fs::exists(path / kPlanFile, failure))
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no earlier run in {}.", path.string()),
                     "Leave out --resume and --retrain."};
    ENGINE_TRY_DO(checkIsOurs(path));
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
    removeFiles(path, isPartFile); // what a process that was killed had not finished
    if (earlier == EarlierWork::Replace)
        removeWork(path);
    ENGINE_TRY(const auto was, readPlan(path / kPlanFile));
    if (was && earlier == EarlierWork::Refuse)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} holds an earlier run.", path.string()),
                     "Go on with --resume, or begin anew with --anew."};
    RunPlanTexts own = plan;
    if (was) {
        ENGINE_TRY_DO(checkEarlier(plan, *was, earlier));
        own = {was->rows, earlier == EarlierWork::GoOn ? was->all : plan.all};
    }
    folder.m_rowsRun = contentSumOf(own.rows);
    folder.m_run = contentSumOf(own.all);
    if (earlier == EarlierWork::KeepRows)
        removeCheckpoints(path);
    if (earlier != EarlierWork::GoOn)
        ENGINE_TRY_DO(writeFileAtomically(path / kPlanFile, planFileText(own)));
    return folder;
}

void TuningFolder::remove() {
    removeWork(m_path);
    removeFiles(m_path, isPartFile);
    std::error_code ignored;
    fs::remove(m_path / kLockFile, ignored);
    fs::remove(m_path, ignored); // only if it is empty
}

} // namespace engine
