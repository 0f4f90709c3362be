// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/model/skip_set.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Puts a set into a file of the published shape, {"model_task":{"attention":[...],"mlp":[...]}},
/// beside those that are there; one of the same name is replaced. readSkipSetFile() reads it.
/// Errors: CorruptFile for a file of another shape, Io, InvalidInput for a name that is no UTF-8;
/// the file is then left as it is.
Result<void>
savePlan(const std::filesystem::path& path, const std::string& name, const SkipSet& set);

} // namespace engine
