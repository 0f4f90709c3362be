// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/output_place.h"

#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/part_file.h"

#include <algorithm>
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

} // namespace

Result<void> checkOutput(const OutputPlace& place) {
    std::error_code ignored;
    const fs::path folder = fs::absolute(place.path, ignored).parent_path();
    if (!fs::is_directory(folder, ignored))
        return Error{
            ErrorCode::NotFound,
            fmt::format("There is no folder {} for {}.", folder.string(), place.path.string()),
            "Make the folder first, or name another file."};
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

} // namespace engine
