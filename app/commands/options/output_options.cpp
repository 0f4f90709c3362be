// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/output_options.h"

#include "app/program_paths.h"
#include "engine/model/skip_sets/skip_set.h"
#include "engine/session/loading/draft_adapter_choice.h"

namespace app {

using namespace engine;

CLI::Option* addOutputOptions(CLI::App& command,
                              OutputOptions& options,
                              const std::string& name,
                              const std::string& help) {
    command.add_flag("--overwrite",
                     options.mayOverwrite,
                     "Let " + name +
                         " replace any file except those that it reads; without this option, only "
                         "an earlier output of this command is replaced");
    return command.add_option(name, options.path, help);
}

OutputPlace outputPlace(const OutputOptions& options,
                        const ModelOptions& model,
                        const DataOptions& data,
                        const std::vector<std::string>& settings,
                        const TypedSampling& sampling,
                        decltype(OutputPlace::isOwn) isOwn) {
    OutputPlace place{.path = options.path,
                      .isOwn = std::move(isOwn),
                      .mayOverwrite = options.mayOverwrite,
                      .overwriteOption = "--overwrite"};
    place.inputs.push_back(model.model.empty() ? defaultModelPath()
                                               : std::filesystem::path(model.model));
    place.inputs.insert(place.inputs.end(), data.paths.begin(), data.paths.end());
    for (const std::string& setting : settings)
        place.inputs.emplace_back(setting.substr(setting.find('=') + 1));
    place.inputs.emplace_back(sampling.schemaFile);
    if (model.draftAdapter != kNoDraftAdapter)
        place.inputs.emplace_back(model.draftAdapter);
    return place;
}

Result<bool> isJsonFile(const std::filesystem::path& path,
                        const std::function<bool(const JsonValue&)>& holds) {
    const auto document = readJsonFile(path.string(), {.maxBytes = 16'000'000});
    if (document)
        return holds(document.value().root());
    if (document.error().code == ErrorCode::CorruptFile)
        return false;
    return document.error();
}

Result<bool> isSkipSetCollection(const std::filesystem::path& path) {
    return isJsonFile(path, [&path](const JsonValue& root) {
        return readSkipSetCollection(root, path.string()).hasValue();
    });
}

} // namespace app
