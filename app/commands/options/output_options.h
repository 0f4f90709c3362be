// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "app/commands/options/sampling_options.h"
#include "app/data/prompt_source.h"
#include "engine/loading/files/output_place.h"
#include "engine/loading/json/json_document.h"

#include <functional>
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

/// The output's place in a run that reads this model with its adapter, these data files, and the
/// files named by settings (NAME=VALUE) and by the form of the answer; `isOwn` as in OutputPlace.
engine::OutputPlace outputPlace(const OutputOptions& options,
                                const ModelOptions& model,
                                const DataOptions& data,
                                const std::vector<std::string>& settings,
                                const TypedSampling& sampling,
                                decltype(engine::OutputPlace::isOwn) isOwn);

/// Whether a file is JSON of which `holds` is true. Errors: Io, NotFound.
engine::Result<bool> isJsonFile(const std::filesystem::path& path,
                                const std::function<bool(const engine::JsonValue&)>& holds);

/// Whether a file holds skip sets in the published shape; for OutputPlace::isOwn.
engine::Result<bool> isSkipSetCollection(const std::filesystem::path& path);

} // namespace app
