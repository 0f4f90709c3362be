// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/run_folder.h"

#include "engine/experiments/data/data_stream.h"
#include "engine/experiments/data/reading/table_reader.h"
#include "engine/experiments/json/member_json.h"
#include "engine/experiments/run/executor_state.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/part_file.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRecipeName = "recipe.json";
constexpr const char* kPlanName = "plan.json";
constexpr const char* kDataName = "data.jsonl";
constexpr const char* kShardsName = "shards";
constexpr const char* kLockName = "lock";

/// What a run writes into its folder, besides temporary files.
constexpr std::array kOwnNames = {kRecipeName,
                                  kPlanName,
                                  kDataName,
                                  kShardsName,
                                  kLockName,
                                  "result.json",
                                  "report",
                                  kExecutorName,
                                  "slurm"};

constexpr std::uint64_t kMostFileBytes = 1U << 30U;
constexpr std::uint64_t kMostReasonBytes = 1U << 16U;

struct PartHead {
    int shard = 0;
    std::vector<std::string> variants;
};

template <typename V> void visitMembers(V& visit, PartHead& r) {
    visit("shard", r.shard);
    visit("variants", r.variants);
}

Error ioError(const fs::path& path, const std::string& what, const std::error_code& code) {
    return {ErrorCode::Io,
            fmt::format("{} cannot be {}: {}.", path.string(), what, code.message()),
            "Check the folder, its permissions and the free space."};
}

Result<bool> isEmptyFolder(const fs::path& path) {
    std::error_code code;
    const auto status = fs::status(path, code);
    if (status.type() == fs::file_type::not_found)
        return true;
    if (status.type() != fs::file_type::directory)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is not a folder, so no run can be kept in it.", path.string()),
                     "Name a new folder with --out."};
    const bool isEmpty = fs::is_empty(path, code);
    if (code)
        return ioError(path, "read", code);
    return isEmpty;
}

Error holdsRun(const fs::path& path) {
    return {ErrorCode::InvalidInput,
            fmt::format("{} holds a run already.", path.string()),
            "Go on with --resume, name another folder, or give --overwrite to delete that run."};
}

/// A plan of another program is no run of ours, though it has the name.
Result<void> checkIsOurs(const fs::path& path) {
    std::string beginning = planBeginning();
    const auto file = ByteReader::open(path / kPlanName);
    const bool isRead =
        file && file.value().size() >= beginning.size() &&
        file.value().readAt(0, std::as_writable_bytes(std::span(beginning)), "the plan");
    if (isRead && beginning == planBeginning())
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} holds a {} that is no plan of a run, so nothing in it is deleted.",
                             path.string(),
                             kPlanName),
                 "Name another folder with --out."};
}

/// A folder without a run may hold what is left of one, whose lock is there still, and nothing
/// else.
Result<void> checkLeftovers(const fs::path& path) {
    std::error_code ignored;
    const bool wasRun = fs::exists(path / kLockName, ignored);
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
        const std::string name = entry.path().filename().string();
        const bool isOwn = isPartFile(name) ||
                           std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
        if (!wasRun || !isOwn)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} holds other files, for instance {}.", path.string(), name),
                         "Name a new or an empty folder with --out."};
    }
    return {};
}

Result<FileLock> lockRun(const fs::path& path) {
    ENGINE_TRY(auto lock, FileLock::take(path / kLockName));
    if (!lock)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Another process works on the run in {}.", path.string()),
                     "Wait until it ends, or stop it."};
    return std::move(*lock);
}

/// data.jsonl. A prompt that could not be read back from it is refused.
Result<std::string> promptLines(const std::vector<DataRecord>& prompts) {
    std::string lines;
    for (const DataRecord& prompt : prompts) {
        const std::string line = promptJson(prompt);
        if (line.size() > kMaxRowBytes)
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("Prompt {} takes {} MB as a line of JSON, and {} are the most.",
                            prompt.id,
                            line.size() / 1'000'000,
                            kMaxRowBytes / 1'000'000),
                "Leave it out, or make it shorter."};
        lines += line + "\n";
    }
    return lines;
}

/// What a process that was killed had not finished. One that stays is passed over.
void removePartFiles(const fs::path& path) {
    std::vector<fs::path> found;
    std::error_code ignored;
    for (fs::directory_iterator entry(path, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
        if (isPartFile(entry->path().filename().string()))
            found.push_back(entry->path());
    for (const fs::path& file : found)
        fs::remove(file, ignored);
}

/// Deletes an earlier run, the plan first: what is left then is no run.
Result<void> removeRun(const fs::path& path) {
    for (const char* name :
         {kPlanName, kShardsName, "result.json", "report", kDataName, kExecutorName, "slurm"}) {
        std::error_code code;
        fs::remove_all(path / name, code);
        if (code)
            return ioError(path / name, "deleted", code);
    }
    removePartFiles(path);
    return {};
}

Result<std::vector<DataRecord>> readPrompts(const fs::path& path) {
    ENGINE_TRY(DataStream stream, DataStream::open(path));
    std::vector<DataRecord> prompts;
    while (true) {
        ENGINE_TRY(auto item, stream.next());
        if (!item)
            return prompts;
        if (const auto* bad = std::get_if<BadLine>(&*item))
            return Error{ErrorCode::CorruptFile,
                         fmt::format("{}: {}.", path.string(), bad->message),
                         "The file was changed after the run began; begin it anew."};
        prompts.push_back(std::get<DataRecord>(std::move(*item)));
    }
}

} // namespace

std::string_view shardPhaseName(ShardPhase phase) {
    switch (phase) {
    case ShardPhase::Waiting:
        return "waiting";
    case ShardPhase::Running:
        return "running";
    case ShardPhase::Finished:
        return "finished";
    case ShardPhase::Damaged:
        return "damaged";
    case ShardPhase::Failed:
        return "failed";
    }
    return "";
}

std::string promptJson(const DataRecord& record) {
    MemberWriter::Json object = {{"task", record.task}, {"id", record.id}};
    if (record.turns.size() == 1)
        object["prompt"] = record.turns.front();
    else
        object["prompt"] = record.turns;
    if (!record.references.empty())
        object["reference"] = record.references;
    if (!record.test.empty())
        object["test"] = record.test;
    if (!record.entryPoint.empty())
        object["entry_point"] = record.entryPoint;
    return object.dump(-1, ' ', false, MemberWriter::Json::error_handler_t::replace);
}

std::string runHashOf(const Recipe& recipe,
                      const std::vector<DataRecord>& prompts,
                      const std::vector<RunModel>& models) {
    Recipe plain = recipe;
    if (plain.run) {
        plain.run->models.clear();
        plain.run->draftAdapter.clear();
        plain.run->backendSettings.erase("threads");
    }
    std::string text = recipeJson(plain);
    for (const DataRecord& prompt : prompts)
        text += promptJson(prompt) + "\n";
    for (const RunModel& model : models)
        text += fmt::format(
            "{}{}{}\n", model.identity, model.adapter.empty() ? "" : " ", model.adapter);
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<RunFolder> RunFolder::create(const fs::path& path,
                                    const Recipe& recipe,
                                    const RunPlan& plan,
                                    const std::vector<DataRecord>& prompts,
                                    bool mayOverwrite) {
    ENGINE_TRY(const bool isEmpty, isEmptyFolder(path));
    const bool isEarlier = !isEmpty && isRun(path);
    if (isEarlier)
        ENGINE_TRY_DO(checkIsOurs(path));
    if (isEarlier && !mayOverwrite)
        return holdsRun(path);
    ENGINE_TRY(const std::string data, promptLines(prompts));
    if (!isEmpty && !isEarlier)
        ENGINE_TRY_DO(checkLeftovers(path));
    std::error_code code;
    fs::create_directories(path, code);
    if (code)
        return ioError(path, "made", code);
    ENGINE_TRY(const FileLock lock, lockRun(path));
    if (!isEarlier && isRun(path)) // made by another process, meanwhile
        return holdsRun(path);
    ENGINE_TRY_DO(removeRun(path));
    fs::create_directories(path / kShardsName, code);
    if (code)
        return ioError(path / kShardsName, "made", code);
    ENGINE_TRY_DO(writeFileAtomically(path / kDataName, data));
    ENGINE_TRY_DO(writeFileAtomically(path / kRecipeName, recipeJson(recipe)));
    ENGINE_TRY_DO(writeFileAtomically(path / kPlanName, planJson(plan)));
    return open(path);
}

Result<void> RunFolder::moveModels(const std::vector<std::string>& paths) {
    ENGINE_CHECK(paths.size() == m_plan.models.size(),
                 "{} paths for {} models",
                 paths.size(),
                 m_plan.models.size());
    RunPlan moved = m_plan;
    for (std::size_t i = 0; i < paths.size(); ++i)
        moved.models[i].path = paths[i];
    std::string text = planJson(moved);
    if (text == planJson(m_plan))
        return {};
    ENGINE_TRY(const FileLock lock, lockRun(m_path));
    ENGINE_TRY_DO(writeFileAtomically(m_path / kPlanName, text));
    m_plan = std::move(moved);
    return {};
}

bool RunFolder::isRun(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path / kPlanName, ignored);
}

Result<RunFolder> RunFolder::open(const fs::path& path) {
    if (!isRun(path))
        return Error{ErrorCode::NotFound,
                     fmt::format("{} holds no run of an experiment.", path.string()),
                     "Begin one with swift-run experiment RECIPE --data FILE --out FOLDER."};
    RunFolder folder;
    folder.m_path = path;
    const std::string planFile = (path / kPlanName).string();
    ENGINE_TRY(const std::string plan, readTextFile(planFile, kMostFileBytes));
    ENGINE_TRY(folder.m_plan, readPlan(plan, planFile));
    ENGINE_TRY(folder.m_recipe, readRecipeFile(path / kRecipeName));
    ENGINE_TRY(folder.m_prompts, readPrompts(path / kDataName));
    const bool isWhole =
        folder.m_recipe.run &&
        folder.m_plan.runHash == runHashOf(folder.m_recipe, folder.m_prompts, folder.m_plan.models);
    if (!isWhole)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("The recipe or the prompts in {} were changed after the run "
                                 "began.",
                                 path.string()),
                     "Put the files back, or begin the run anew in another folder."};
    const auto most = static_cast<int>(folder.m_prompts.size());
    for (const PlannedShard& shard : folder.m_plan.shards)
        for (const int prompt : shard.prompts)
            if (prompt < 0 || prompt >= most)
                return Error{ErrorCode::CorruptFile,
                             fmt::format("{}: part {} asks prompt {}, and there are {}.",
                                         planFile,
                                         shard.index + 1,
                                         prompt + 1,
                                         most),
                             "Begin the run anew in another folder."};
    return folder;
}

Result<FileLock> RunFolder::lead() const { return lockRun(m_path); }

Result<std::optional<FileLock>> RunFolder::claim(int shard) const {
    return FileLock::take(shardFile(shard).replace_extension("lock"));
}

fs::path RunFolder::shardFile(int shard) const {
    return m_path / kShardsName / fmt::format("{:04}.json", shard);
}

fs::path RunFolder::partFile(int shard) const {
    return m_path / kShardsName / fmt::format("{:04}.part.jsonl", shard);
}

fs::path RunFolder::failureFile(int shard) const {
    return m_path / kShardsName / fmt::format("{:04}.failed.txt", shard);
}

std::vector<ShardState> RunFolder::states() const {
    std::vector<ShardState> all;
    for (const PlannedShard& shard : m_plan.shards)
        all.push_back(state(shard.index));
    return all;
}

ShardState RunFolder::state(int shard) const {
    std::error_code ignored;
    if (!fs::exists(shardFile(shard), ignored))
        return unfinishedState(shard);
    const auto read = result(shard);
    return read ? ShardState{.shard = shard, .phase = ShardPhase::Finished}
                : unfinishedState(shard, read.error().message);
}

ShardState RunFolder::unfinishedState(int shard, const std::string& damage) const {
    if (FileLock::isHeld(shardFile(shard).replace_extension("lock")))
        return {.shard = shard, .phase = ShardPhase::Running};
    if (auto reason = readTextFile(failureFile(shard), kMostReasonBytes))
        return {.shard = shard, .phase = ShardPhase::Failed, .problem = std::move(reason).value()};
    return {.shard = shard,
            .phase = damage.empty() ? ShardPhase::Waiting : ShardPhase::Damaged,
            .problem = damage};
}

bool RunFolder::isReady(int shard) const {
    for (const int needed : m_plan.needs(m_plan.shards.at(static_cast<std::size_t>(shard))))
        if (state(needed).phase != ShardPhase::Finished)
            return false;
    return true;
}

Result<ShardResult> RunFolder::result(int shard) const {
    const std::string file = shardFile(shard).string();
    ENGINE_TRY(const std::string text, readTextFile(file, kMostFileBytes));
    ENGINE_TRY(ShardResult result, readShard(text, file, m_prompts.size()));
    if (result.shard != shard || result.runHash != m_plan.runHash)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} belongs to another run or another part.", file),
                     "Delete it; --resume runs the part again."};
    return result;
}

Result<PartJournal> RunFolder::begin(int shard) const {
    const PlannedShard& planned = m_plan.shards.at(static_cast<std::size_t>(shard));
    const PartHead head{shard, planned.variants};
    forgetFailure(shard);
    return PartJournal::begin(partFile(shard), membersJson(head) + "\n");
}

/// The records of a part file up to the last prompt that is done; returns where they end. One is
/// done when all variants have answered it, or, as some may have been dropped, when another one is
/// answered.
Result<std::uint64_t>
RunFolder::readDone(int shard, std::vector<ShardRecord>& done, std::string* damage) const {
    const std::size_t variants = m_plan.shards.at(static_cast<std::size_t>(shard)).variants.size();
    std::map<int, std::set<std::string>> answered; // by prompt
    std::uint64_t read = 0;
    std::uint64_t end = 0;    // behind the last prompt that is done
    std::size_t finished = 0; // records before it
    int newest = -1;          // prompt that was answered last
    std::uint64_t newestEnd = 0;
    std::size_t newestCount = 0;
    while (true) {
        ENGINE_TRY(PartProgress part, progress(shard, read));
        for (std::size_t i = 0; i < part.records.size(); ++i) {
            const auto* answer = std::get_if<ShardAnswer>(&part.records[i]);
            bool isDone = std::holds_alternative<ShardLeftOut>(part.records[i]);
            if (answer != nullptr) {
                if (newest >= 0 && answer->prompt != newest && newestEnd > end) {
                    end = newestEnd;
                    finished = newestCount;
                }
                newest = answer->prompt;
                newestEnd = part.ends[i];
                newestCount = done.size() + 1;
                std::set<std::string>& by = answered[answer->prompt];
                isDone = by.insert(answer->variant).second && by.size() == variants;
            }
            done.push_back(std::move(part.records[i]));
            if (isDone) {
                end = part.ends[i];
                finished = done.size();
            }
        }
        if (!part.damage.empty() && damage != nullptr) // the first line names the shard
            *damage = fmt::format("line {}, {}", done.size() + 2, part.damage);
        if (part.next == read || !part.damage.empty())
            break;
        read = part.next;
    }
    done.resize(finished);
    return end;
}

Result<ShardResult> RunFolder::resultSoFar(int shard) const {
    ShardResult result;
    result.shard = shard;
    result.runHash = m_plan.runHash;
    std::vector<ShardRecord> done;
    ENGINE_TRY_DO(readDone(shard, done));
    for (ShardRecord& record : done)
        addRecord(result, std::move(record));
    for (const ShardAnswer& answer : result.answers)
        result.seconds = std::max(result.seconds, answer.startedAt + answer.decodeMs / 1e3);
    return result;
}

Result<PartJournal>
RunFolder::goOn(int shard, std::vector<ShardRecord>& done, std::string* damage) const {
    std::string found;
    ENGINE_TRY(const std::uint64_t end, readDone(shard, done, &found));
    if (!found.empty()) { // what stands behind that line may be mended by hand
        fs::path kept = partFile(shard);
        kept.replace_extension("damaged");
        std::error_code code;
        fs::copy_file(partFile(shard), kept, fs::copy_options::overwrite_existing, code);
        if (code)
            return ioError(kept, "written", code);
        found += fmt::format(" The file as it was is kept as {}.", kept.filename().string());
    }
    if (damage != nullptr)
        *damage = std::move(found);
    if (end == 0)
        return begin(shard);
    forgetFailure(shard);
    return PartJournal::goOn(partFile(shard), end);
}

Result<void> RunFolder::finish(const ShardResult& result) const {
    ENGINE_TRY_DO(writeFileAtomically(shardFile(result.shard), shardJson(result)));
    std::error_code ignored; // a part file that stays is passed over
    fs::remove(partFile(result.shard), ignored);
    return {};
}

Result<void> RunFolder::fail(int shard, const std::string& reason) const {
    return writeFileAtomically(failureFile(shard), reason);
}

void RunFolder::forgetFailure(int shard) const {
    std::error_code ignored; // a finished shard has not failed, whatever stays
    fs::remove(failureFile(shard), ignored);
}

} // namespace engine
