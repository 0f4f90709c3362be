// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/decoding/statistics/data_files.h"
#include "engine/model/skip_sets/skip_set.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// A skip set and how it was found. A plain value.
struct StoredSkipSet {
    SkipSet set;
    double score = 0.0;       ///< finite; matchness, or what the decoder's search maximises
    double skipRatio = 0.0;   ///< 0 to 1, the share of sublayers that the search was to skip
    std::string decoder;      ///< who found it, as "swift"
    std::int64_t savedAt = 0; ///< Unix seconds, given by the caller
    int trials = 0;           ///< sets that were tried to find it

    bool operator==(const StoredSkipSet&) const = default;
};

using SkipSetsByTask = std::map<std::string, StoredSkipSet>;

/// What a file of skip sets holds: what can be used, and why the rest cannot. A plain value.
struct SkipSetLibrary {
    SkipSetsByTask sets;
    /// By task, each named in its sentence.
    std::vector<std::pair<std::string, Error>> unusable = {};
    std::string model = {};       ///< its name for people; empty in older files
    int layerCount = 0;           ///< of the model
    std::string fingerprint = {}; ///< of the model; empty in older files
};

/// Reads such a file of a model with so many layers; 0 = as many as the file says. Errors:
/// CorruptFile (no such file at all, or made for another number of layers), Unsupported (of a later
/// version), NotFound, Io.
Result<SkipSetLibrary> readSkipSetLibrary(const std::filesystem::path& path, int layerCount);

/// The bytes of such a file of `library.sets`. Errors: InvalidInput where there are too many.
Result<std::string> skipSetLibraryJson(const SkipSetLibrary& library);

/// Whether the JSON is meant to be such a file.
bool isSkipSetLibrary(const JsonValue& root);

/// What became of a memory that was changed. A plain value.
struct SkipSetChange {
    SkipSetsByTask lost = {}; ///< sets that are no longer there: removed, renamed or replaced
    std::vector<std::string> kept = {}; ///< tasks whose offered sets were not taken
    std::string note = {}; ///< for the user, about a file that was set aside; usually empty
};

/// The skip sets found for one model, by task name, in one file of the user's data folder:
/// skip-sets/FINGERPRINT.json. A task name is never more than a key in it. The file may have been
/// changed by anyone: all of it is checked each time it is read, and an entry that cannot be used
/// costs only itself.
///
/// A file that cannot be understood, or not all of it, is never overwritten: a change renames it to
/// NAME.broken-N, and a new one begins with what could be used.
/// Thread: any, one at a time. Several processes may change it at once: each waits for the others'
/// changes (FINGERPRINT.lock), and the file is always whole.
class SkipSetMemory {
public:
    static constexpr const char* kFolder = "skip-sets"; ///< of the data folder

    /// `folder` is the data folder; `modelFingerprint` comes from modelFingerprint(). The file of a
    /// model without a name keeps the name that it has.
    SkipSetMemory(std::filesystem::path folder,
                  std::string modelFingerprint,
                  int layerCount,
                  std::string modelName = {});

    /// The file that holds the sets, there or not.
    const std::filesystem::path& path() const { return m_path; }

    /// The data folder and the model, for other memories of the same model.
    const std::filesystem::path& folder() const { return m_folder; }

    const std::string& fingerprint() const { return m_fingerprint; }

    int layerCount() const { return m_layerCount; }

    /// A memory of the same file that finds everything and silently stores nothing.
    SkipSetMemory readOnly() const;

    bool isReadOnly() const { return m_isReadOnly; }

    /// The set stored for a task. Errors: those of readSkipSetLibrary, and what makes this task's
    /// own entry unusable; the file is left as it is.
    Result<std::optional<StoredSkipSet>> find(const std::string& task) const;

    /// The set that was stored last, of whatever task; of equally old ones the better score.
    /// Errors: as find.
    Result<std::optional<StoredSkipSet>> last() const;

    /// All sets by their tasks' names, and what cannot be used; nothing where there is no file.
    /// Errors: as readSkipSetLibrary; CorruptFile where the file says that it is another model's.
    Result<SkipSetLibrary> all() const;

    /// Stores the set of a task in place of its earlier one. Returns a note for the user, usually
    /// an empty one. Errors: InvalidInput (the set does not fit the model, a task name that is no
    /// UTF-8 or too long, a full memory), Io. No stored set is lost then.
    Result<std::string> store(const std::string& task, const StoredSkipSet& stored);

    /// The same for several sets: all of them are stored, or none.
    Result<std::string> store(const SkipSetsByTask& fresh);

    /// The same, but a task that has a set keeps it.
    Result<SkipSetChange> storeMissing(const SkipSetsByTask& offered);

    /// As store(), and tells which sets were replaced.
    Result<SkipSetChange> replace(const SkipSetsByTask& fresh);

    /// Removes the sets of some tasks, then adds others: all of it is done, or nothing. Errors:
    /// NotFound; InvalidInput for a task that has a set already, and as store(); Io.
    Result<SkipSetChange> exchange(const std::vector<std::string>& removed,
                                   const SkipSetsByTask& added);

    /// Gives the set of a task to another one. Errors: as exchange().
    Result<SkipSetChange> rename(const std::string& from, const std::string& to);

private:
    using Work = std::function<Result<void>(SkipSetsByTask&)>;

    Result<SkipSetChange> change(const Work& work);

    std::filesystem::path m_folder;
    std::string m_fingerprint;
    std::filesystem::path m_path;
    int m_layerCount;
    std::string m_modelName;
    bool m_isReadOnly = false;
};

} // namespace engine
