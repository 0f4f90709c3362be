// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/model/skip_sets/skip_set.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Adds a set to a file in the published format, {"model_task":{"attention":[...],"mlp":[...]}},
/// besides the existing ones; a set with the same name is replaced. readSkipSetFile() reads it.
/// Errors: CorruptFile for a file of another format, Io, InvalidInput for a name that is not UTF-8.
/// On an error the file is unchanged.
Result<void>
savePlan(const std::filesystem::path& path, const std::string& name, const SkipSet& set);

} // namespace engine
