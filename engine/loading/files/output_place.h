// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A file or folder that results shall go to, and what must not be lost by that: the one rule for
/// all outputs. What the run itself reads is never replaced; an earlier output of the same kind is;
/// any other file only when the user says so.
struct OutputPlace {
    std::filesystem::path path;

    /// What is read: files, and folders with the files in them.
    std::vector<std::filesystem::path> inputs = {};

    /// Whether a file, or a folder with all that it holds, is an earlier output of this kind.
    /// Errors: Io when it cannot be read.
    std::function<Result<bool>(const std::filesystem::path&)> isOwn = {};

    bool mayOverwrite = false;        ///< so is any other file
    std::string overwriteOption = {}; ///< how the user says so; empty where that cannot be said
};

/// Says whether the results could go there, before the work for them begins; leaves everything as
/// it is. Errors: NotFound for a missing folder; InvalidInput for what is no file and for a file
/// that is not to be replaced; Io where nothing can be written.
Result<void> checkOutput(const OutputPlace& place);

/// Checks again and writes, all or nothing. Errors: those of checkOutput and writeFileAtomically.
Result<void> writeOutput(const OutputPlace& place, std::string_view bytes);

/// The same for results that are a folder of files. A folder that holds other folders is never
/// replaced, nor is a link or a file. Errors: as of checkOutput; InvalidInput for a path that ends
/// without a name (`.`, `..`, a slash).
Result<void> checkOutputFolder(const OutputPlace& place);

/// Checks again and gives a finished folder of files, which lies on the same disk, the place's
/// name, all or nothing; what had the name before is deleted. Errors: those of checkOutputFolder;
/// Io, with what was there left as it was, unless the message says otherwise.
Result<void> publishFolder(const OutputPlace& place, const std::filesystem::path& finished);

} // namespace engine
