// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/output_place.h"

#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace engine {

namespace {

namespace fs = std::filesystem;

/// Whether two paths lead to the same file, by whatever links.
bool isSame(const fs::path& one, const fs::path& other) {
    std::error_code ignored;
    return fs::equivalent(one, other, ignored) && !ignored;
}

/// Whether a path is among the files of a folder.
bool isIn(const fs::path& path, const fs::path& folder) {
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure))
        if (isSame(path, entry->path()))
            return true;
    return false;
}

/// For what is there already. An earlier output in a folder that is read is none of the files that
/// are read there.
Result<void> checkReplacing(const OutputPlace& place) {
    const std::string name = place.path.string();
    const Result<bool> own = place.isOwn ? place.isOwn(place.path) : Result<bool>(false);
    if (!own && !place.mayOverwrite)
        return own.error();
    const bool isOwn = own && own.value();
    const bool isRead =
        std::any_of(place.inputs.begin(), place.inputs.end(), [&](const fs::path& input) {
            return isSame(place.path, input) || (!isOwn && isIn(place.path, input));
        });
    if (isRead)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is among the files that this run reads, so it is not "
                                 "replaced.",
                                 name),
                     "Name another file."};
    std::error_code ignored;
    const bool isEmpty = fs::file_size(place.path, ignored) == 0 && !ignored;
    if (place.mayOverwrite || isEmpty || isOwn)
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} exists and holds something else, so it is not replaced.", name),
                 place.overwriteOption.empty()
                     ? "Name another file."
                     : fmt::format("Name another file, or add {}.", place.overwriteOption)};
}

Error folderRefused(const OutputPlace& place, std::string_view why) {
    return {ErrorCode::InvalidInput,
            fmt::format("{} {}, so it is not replaced.", place.path.string(), why),
            "Name another folder."};
}

/// For a folder that is there already.
Result<void> checkReplacingFolder(const OutputPlace& place) {
    std::error_code failure;
    bool isEmpty = true;
    for (fs::directory_iterator entry(place.path, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        isEmpty = false;
        if (!entry->is_regular_file(failure) || entry->is_symlink(failure))
            return folderRefused(place, "holds more than files");
    }
    if (failure)
        return Error{
            ErrorCode::Io,
            fmt::format("{} cannot be listed: {}.", place.path.string(), failure.message()),
            "Check its permissions."};
    for (const fs::path& input : place.inputs)
        if (isSame(place.path, input) || isIn(input, place.path))
            return folderRefused(place, "is among what this run reads");
    if (isEmpty || place.mayOverwrite)
        return {};
    const Result<bool> own = place.isOwn ? place.isOwn(place.path) : Result<bool>(false);
    ENGINE_TRY_DO(own);
    if (own.value())
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} exists and holds something else, so it is not replaced.",
                             place.path.string()),
                 place.overwriteOption.empty()
                     ? "Name another folder."
                     : fmt::format("Name another folder, or add {}.", place.overwriteOption)};
}

Error renameFailed(const fs::path& path, int code) {
    return {ErrorCode::Io,
            fmt::format("{} cannot get its name: {}.",
                        path.string(),
                        std::generic_category().message(code)),
            "Check the folder, its permissions and the free space."};
}

/// A finished folder takes the place of one that is there, all or nothing: in one step where the
/// disk can do that. Returns where the earlier one lies now.
Result<fs::path> replaceFolder(const fs::path& finished, const fs::path& place) {
    if (::renameat2(AT_FDCWD, finished.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0)
        return finished;
    if (errno != EINVAL && errno != ENOSYS)
        return renameFailed(place, errno);
    const fs::path earlier = finished.string() + ".old";
    if (::rename(place.c_str(), earlier.c_str()) != 0)
        return renameFailed(place, errno);
    if (::rename(finished.c_str(), place.c_str()) == 0)
        return earlier;
    const Error failure = renameFailed(place, errno);
    if (::rename(earlier.c_str(), place.c_str()) == 0)
        return failure;
    return Error{ErrorCode::Io,
                 fmt::format("{} cannot get its name, and what had it before lies in {}.",
                             place.string(),
                             earlier.string()),
                 "Move that folder back, and check the disk."};
}

/// Files alone: a folder in it stays, and so does it then.
void removeFolder(const fs::path& folder) {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
        if (!entry->is_directory(ignored))
            files.push_back(entry->path());
    for (const fs::path& file : files)
        fs::remove(file, ignored);
    fs::remove(folder, ignored);
}

/// The folder that a file or folder is to lie in. Errors: NotFound.
Result<fs::path> folderAround(const fs::path& path) {
    std::error_code ignored;
    fs::path folder = fs::absolute(path, ignored).parent_path();
    if (fs::is_directory(folder, ignored))
        return folder;
    return Error{ErrorCode::NotFound,
                 fmt::format("There is no folder {} for {}.", folder.string(), path.string()),
                 "Make the folder first, or name another place."};
}

} // namespace

Result<void> checkOutput(const OutputPlace& place) {
    std::error_code ignored;
    ENGINE_TRY_DO(folderAround(place.path));
    const auto status = fs::status(place.path, ignored);
    if (fs::is_directory(status))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is a folder.", place.path.string()),
                     "Name a file in it."};
    if (fs::is_regular_file(status))
        ENGINE_TRY_DO(checkReplacing(place));
    ENGINE_TRY(const PartFile probe, PartFile::begin(place.path));
    return {};
}

Result<void> writeOutput(const OutputPlace& place, std::string_view bytes) {
    ENGINE_TRY_DO(checkOutput(place));
    return writeFileAtomically(place.path, bytes);
}

Result<void> checkOutputFolder(const OutputPlace& place) {
    std::error_code ignored;
    const fs::path name = place.path.filename();
    if (name.empty() || name == "." || name == "..")
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is no name that a new folder can get.", place.path.string()),
                     "Name a folder that is to be made."};
    ENGINE_TRY(const fs::path folder, folderAround(place.path));
    const auto status = fs::symlink_status(place.path, ignored);
    if (fs::is_directory(status))
        ENGINE_TRY_DO(checkReplacingFolder(place));
    else if (fs::exists(status))
        return folderRefused(place, "is no folder");
    ENGINE_TRY(const PartFile probe, PartFile::begin(folder / ".swift-studio-probe"));
    return {};
}

Result<void> publishFolder(const OutputPlace& place, const fs::path& finished) {
    ENGINE_TRY_DO(checkOutputFolder(place));
    std::error_code ignored;
    if (fs::exists(place.path, ignored)) {
        ENGINE_TRY(const fs::path earlier, replaceFolder(finished, place.path));
        removeFolder(earlier);
    } else if (::rename(finished.c_str(), place.path.c_str()) != 0) {
        return renameFailed(place.path, errno);
    }
    return syncName(place.path);
}

} // namespace engine
