// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "engine/decoding/statistics/task_memory.h"

#include <filesystem>
#include <string>
#include <vector>

namespace app {

/// The skip sets that are kept for a model, and what the prompts of its tasks look like.
struct ModelLibrary {
    engine::ModelConfig config;
    engine::SkipSetMemory memory;
    engine::TaskMemory tasks;
};

/// Errors: those of openModel and of reading its tensors.
engine::Result<ModelLibrary> openLibrary(const ModelOptions& options);

/// A set that was named on the command line.
struct NamedSet {
    std::string name;
    engine::SkipSet set;
};

/// The set of a task of the library; of a name that is no task, the set in the file of that name,
/// written FILE or FILE:ENTRY. Errors: NotFound, listing the tasks; those of readSkipSetFile.
engine::Result<NamedSet> namedSet(const ModelLibrary& library, const std::string& name);

/// The entries of a file that can be taken into the library, and why the others cannot.
struct ImportedSets {
    engine::SkipSetsByTask sets;
    std::vector<std::string> leftOut;
};

/// Sets of a file in the published shape, by their entries' names; `path` may also be the file of
/// one set, whose task then is the file's name without its ending. Errors: those of readJsonFile;
/// CorruptFile for a file of another shape.
engine::Result<ImportedSets> readImport(const std::filesystem::path& path,
                                        const engine::ModelConfig& config);

/// The sets that were published for models of this size, by their tasks. Errors: Unsupported if
/// there is none; those of readPublishedSkipSets.
engine::Result<ImportedSets> publishedImport(const engine::ModelConfig& config);

} // namespace app
