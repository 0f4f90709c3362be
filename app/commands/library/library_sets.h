// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "engine/decoding/skip_sets/skip_set_exchange.h"
#include "engine/decoding/statistics/task_memory.h"

#include <filesystem>
#include <string>
#include <vector>

namespace app {

/// The skip sets that are kept for a model, and what the prompts of its tasks look like.
struct ModelLibrary {
    engine::ModelConfig config;
    std::string name; ///< for people
    engine::SkipSetMemory memory;
    engine::TaskMemory tasks;
};

/// Errors: those of openModel and of reading its tensors.
engine::Result<ModelLibrary> openLibrary(const ModelOptions& options);

/// Whether the skip sets of a file were found for another model, which may have as many layers and
/// whose scores say nothing here. What the file says counts; an older one says no fingerprint:
/// there its name counts where it is a fingerprint, and else the name of the model, if it says one.
bool isOfAnotherModel(const std::filesystem::path& file,
                      const engine::SkipSetLibrary& sets,
                      const ModelLibrary& library);

/// A set that was named on the command line.
struct NamedSet {
    std::string name;
    engine::SkipSet set;
};

/// The set of a task of the library; of a name that is no task, the set in the file of that name,
/// written FILE or FILE:ENTRY. Errors: NotFound, listing the tasks; those of readSkipSetFile.
engine::Result<NamedSet> namedSet(const ModelLibrary& library, const std::string& name);

/// The sets that an experiment has found for the model of the library, in the folder of its run.
/// Errors: those of RunFolder::open and foundSets; NotFound where it has found none.
engine::Result<engine::ImportedSets> setsOfRun(const ModelLibrary& library,
                                               const std::filesystem::path& folder);

} // namespace app
