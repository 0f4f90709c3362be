// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/decoding/statistics/data_files.h"
#include "engine/model/skip_sets/skip_set.h"

#include <cstdint>
#include <filesystem>
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
    std::vector<std::pair<std::string, Error>> unusable; ///< by task, each named in its sentence
};

/// Reads such a file of a model with so many layers. Errors: CorruptFile (no such file at all, or
/// made for another number of layers), Unsupported (of a later version), NotFound, Io.
Result<SkipSetLibrary> readSkipSetLibrary(const std::filesystem::path& path, int layerCount);

/// The skip sets found for one model, by task name, in one file of the user's data folder:
/// skip-sets/FINGERPRINT.json. A task name is never more than a key in it. The file may have been
/// changed by anyone: all of it is checked each time it is read, and an entry that cannot be used
/// costs only itself.
/// Thread: any, one at a time. Several processes may store at once: the file is always whole, and
/// of two that store in the same moment the last one wins.
class SkipSetMemory {
public:
    /// `folder` is the data folder; `modelFingerprint` comes from modelFingerprint().
    SkipSetMemory(std::filesystem::path folder, std::string modelFingerprint, int layerCount);

    /// The file that holds the sets, there or not.
    const std::filesystem::path& path() const { return m_path; }

    /// The data folder and the model, for other memories of the same model.
    const std::filesystem::path& folder() const { return m_folder; }

    const std::string& fingerprint() const { return m_fingerprint; }

    /// The set stored for a task. Errors: those of readSkipSetLibrary, and what makes this task's
    /// own entry unusable; the file is left as it is.
    Result<std::optional<StoredSkipSet>> find(const std::string& task) const;

    /// The set that was stored last, of whatever task; of equally old ones the better score.
    /// Errors: as find.
    Result<std::optional<StoredSkipSet>> last() const;

    /// All sets by their tasks' names, and what cannot be used; nothing where there is no file.
    /// Errors: as readSkipSetLibrary.
    Result<SkipSetLibrary> all() const;

    /// Stores the set of a task in place of its earlier one. A file that cannot be understood, or
    /// not all of it, is never overwritten: it is renamed to NAME.broken-N, and a new one begins
    /// with what could be used. Returns a note for the user that says so, usually an empty one.
    /// Errors: InvalidInput (the set does not fit the model, a task name that is no UTF-8 or too
    /// long, a full memory), Io. No stored set is lost then.
    Result<std::string> store(const std::string& task, const StoredSkipSet& stored);

    /// The same for several sets: all of them are stored, or none.
    Result<std::string> store(const SkipSetsByTask& fresh);

private:
    Result<std::string> toJson(const SkipSetsByTask& sets) const;

    std::filesystem::path m_folder;
    std::string m_fingerprint;
    std::filesystem::path m_path;
    int m_layerCount;
};

} // namespace engine
