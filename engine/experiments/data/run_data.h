// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/data/data_record.h"

#include <filesystem>
#include <vector>

namespace engine {

/// Writes the prompts of a run as it uses them, so that it can go on and be repeated when the files
/// that they came from have changed: one JSON object a line, {"task","id","prompt"} and, where
/// given, "reference", "test" and "entry_point"; "prompt" and "reference" are a text or a list of
/// several. Replaces the file as a whole. Errors: those of writeFileAtomically.
Result<void> writeRunData(const std::filesystem::path& path,
                          const std::vector<DataPrompt>& prompts);

/// Reads what writeRunData() has written, in its order: index i is line i + 1. Errors: those of
/// DataStream; CorruptFile for a line that is no prompt, and for a file without lines.
Result<std::vector<DataRecord>> readRunData(const std::filesystem::path& path);

} // namespace engine
