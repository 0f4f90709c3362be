// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string_view>

namespace engine {

/// Replaces a small file as a whole: a reader, or a machine that loses power, finds the old bytes
/// or the new ones. A link keeps its place, the file it names is replaced. The folder must exist.
/// Errors: Io, with the old file untouched unless the message says otherwise; InvalidInput for
/// what is there and no regular file (a folder, a device). Thread: any.
Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);

} // namespace engine
