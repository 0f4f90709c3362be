// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/report/experiment_result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// The content of result.json.
std::string resultJson(const ExperimentResult& result);

/// Reads it back; every value is checked. `where` begins the messages (a path).
/// Errors: CorruptFile with the byte offset; Unsupported for a newer format.
Result<ExperimentResult> parseResultJson(std::string_view text, const std::string& where);

/// Errors: NotFound, Io, and those of parseResultJson.
Result<ExperimentResult> readResultFile(const std::filesystem::path& path);

} // namespace engine
