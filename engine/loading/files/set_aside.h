// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>

namespace engine {

/// Renames a file that cannot be understood to the first free NAME.broken-N, so that a new one can
/// be begun and nothing is lost. Returns the new path. Errors: Io. Thread: any.
Result<std::filesystem::path> setAside(const std::filesystem::path& path);

} // namespace engine
