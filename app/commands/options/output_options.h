// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "app/commands/options/sampling_options.h"
#include "app/data/prompt_source.h"
#include "engine/loading/files/output_place.h"

#include <string>
#include <vector>

namespace app {

/// The name of a file that a command writes, as typed.
struct OutputOptions {
    std::string path; ///< empty = none
    bool mayOverwrite = false;
};

/// The option that names the file, and --overwrite.
CLI::Option* addOutputOptions(CLI::App& command,
                              OutputOptions& options,
                              const std::string& name,
                              const std::string& help);

/// The output's place in a run that reads this model, these data files, and the files named by
/// settings (NAME=VALUE) and by the form of the answer; `isOwn` as in OutputPlace.
engine::OutputPlace outputPlace(const OutputOptions& options,
                                const ModelOptions& model,
                                const DataOptions& data,
                                const std::vector<std::string>& settings,
                                const TypedSampling& sampling,
                                decltype(engine::OutputPlace::isOwn) isOwn);

} // namespace app
