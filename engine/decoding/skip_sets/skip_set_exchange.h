// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/loading/model_config.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// The skip sets of a file that fit a model, and why the others do not. A plain value.
struct ImportedSets {
    SkipSetsByTask sets;
    std::vector<std::string> leftOut = {}; ///< sentences
};

/// The sets of a file: the memory of skip sets of a model (with their scores), a collection in the
/// published shape, whose entries' names become the tasks, or one set, whose task is the file's
/// name without its ending. An entry of a collection may say more: its "task", how it was found, as
/// in a memory, and the "fingerprint" of its model, which a memory says for all its sets; those of
/// another model than `fingerprint` are left out (empty = none is), and said to be if
/// `namesOthers`. Errors: those of readJsonFile and readSkipSetLibrary; CorruptFile for a file of
/// another shape.
Result<ImportedSets> readSkipSetImport(const std::filesystem::path& path,
                                       int layerCount,
                                       const std::string& fingerprint = {},
                                       bool namesOthers = true);

/// The sets that were published for models of this size, by their tasks; `path` is
/// resources/published_skip_sets.json. Errors: Unsupported if there is none; those of
/// readPublishedSkipSets.
Result<ImportedSets> publishedImport(const std::filesystem::path& path, const ModelConfig& config);

/// The forms in which sets leave the program.
enum class SkipSetForm {
    Published, ///< {"TASK":{"attention":[...],"mlp":[...]}}
    Memory,    ///< that of a memory of skip sets: with scores, numbers of trials and dates
};

/// The bytes of a file that readSkipSetImport() reads back. Errors: those of skipSetLibraryJson.
Result<std::string> skipSetExport(const SkipSetLibrary& library, SkipSetForm form);

} // namespace engine
