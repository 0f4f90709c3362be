// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/model_options.h"

#include "app/number_check.h"
#include "app/program_paths.h"
#include "engine/kernels/huge_memory.h"
#include "engine/kernels/processor_share.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

namespace app {

using namespace engine;

namespace {

/// Read once: every command offers the same backends.
const std::vector<BackendInfo>& backends() {
    static const std::vector<BackendInfo> known = knownBackends(moduleFolder());
    return known;
}

/// "cpu (packed weights, all cores; the default), ..."
std::string backendsInWords() {
    std::vector<std::string> words;
    for (const BackendInfo& backend : backends())
        words.push_back(fmt::format("{} ({}{})",
                                    backend.name,
                                    backend.summary,
                                    backend.name == chosenBackend("") ? "; the default" : ""));
    return fmt::format("{}", fmt::join(words, ", "));
}

/// A setting's meaning, and the backends that have it, with their choices if these differ.
std::string helpOf(const SettingInfo& setting) {
    std::vector<std::string> takers;
    for (const BackendInfo& backend : backends())
        if (const SettingInfo* same = backend.find(setting.name); same != nullptr)
            takers.push_back(
                same->choices.empty()
                    ? backend.name
                    : fmt::format("{}: {}", backend.name, fmt::join(same->choices, ", ")));
    return fmt::format("{} Taken by {}", setting.meaning, fmt::join(takers, "; "));
}

void addSettingOption(CLI::App& command, const SettingInfo& setting, SettingValues& values) {
    const std::string name = setting.name;
    if (setting.kind == SettingKind::Integer) {
        command
            .add_option_function<int>(
                "--" + name,
                [&values, name](int number) {
                    values.insert_or_assign(name, static_cast<double>(number));
                },
                helpOf(setting))
            ->transform(
                numberFrom(static_cast<int>(setting.minimum), static_cast<int>(setting.maximum)));
        return;
    }
    command.add_option_function<std::string>(
        "--" + name,
        [&values, name](const std::string& word) { values.insert_or_assign(name, word); },
        helpOf(setting));
}

/// A model has the name of its folder, so a path that ends in "." or ".." is written out.
std::filesystem::path namedPath(const std::filesystem::path& path) {
    const auto last = (path.has_filename() ? path : path.parent_path()).filename();
    if (last != "." && last != "..")
        return path;
    std::error_code error;
    auto whole = std::filesystem::canonical(path, error);
    return error ? path : whole;
}

} // namespace

void addModelPathOption(CLI::App& command, ModelOptions& options) {
    command.add_option("--model",
                       options.model,
                       "Model folder (config.json, *.safetensors, tokenizer) or GGUF file; "
                       "without it, the default model");
}

void addPlantedOption(CLI::App& command, ModelOptions& options) {
    command.add_flag("--planted",
                     options.isPlanted,
                     "Make a lesson model of it: each layer runs twice, and one of the two is a "
                     "near-silent copy, so it is known which layers a search should skip");
}

void addModelOptions(CLI::App& command, ModelOptions& options) {
    addModelPathOption(command, options);
    addPlantedOption(command, options);
    command.add_option("--backend", options.backend, "Who computes: " + backendsInWords());
    command.add_option(
        "--draft-adapter",
        options.draftAdapter,
        "File of a draft adapter for the decoders auto and tuned, or none; without it, "
        "the one kept for this model, else the one that comes with the program, if "
        "there is one");
    std::set<std::string> added;
    for (const BackendInfo& backend : backends())
        for (const SettingInfo& setting : backend.settings)
            if (added.insert(setting.name).second)
                addSettingOption(command, setting, options.settings);
}

std::string givenWord(const ModelOptions& options, std::string_view setting) {
    const auto given = options.settings.find(setting);
    return given == options.settings.end() ? std::string() : settingText(given->second);
}

int givenThreads(const ModelOptions& options) {
    return options.settings.contains("threads") ? integerOf(options.settings, "threads") : 0;
}

int threadCountOf(const ModelOptions& options, const std::string& backend) {
    const auto info = BackendRegistry(moduleFolder()).info(backend);
    if (info && info.value().find("threads") == nullptr)
        return 1;
    return usefulThreads(givenThreads(options));
}

Result<int> contextLength(const ModelOptions& options, const ModelConfig& config) {
    if (options.context > config.contextLength)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("A context of {} tokens was asked for, but the model was trained for {}.",
                        options.context,
                        config.contextLength),
            "Leave out --context, or choose a smaller one."};
    return options.context > 0 ? options.context : config.usualContext();
}

Result<ModelFiles> openModel(const ModelOptions& options) {
    const std::filesystem::path path =
        options.model.empty() ? defaultModelPath() : namedPath(options.model);
    std::error_code ignored;
    if (options.model.empty() && !std::filesystem::exists(path, ignored))
        return Error{ErrorCode::NotFound,
                     fmt::format("The default model was not found at {}.", path.string()),
                     "Run installer/run.sh once to fetch it, or name a model with --model."};
    ENGINE_TRY(ModelFiles files, ModelFiles::open(path));
    if (options.isPlanted)
        files.plantCopies();
    return files;
}

Result<std::unique_ptr<Tokenizer>> openTokenizer(const ModelFiles& files) {
    auto tokenizer = loadTokenizer(files);
    if (!tokenizer && tokenizer.error().code == ErrorCode::NotFound)
        return std::unique_ptr<Tokenizer>();
    return tokenizer;
}

Result<LoadedModel> loadModel(const ModelOptions& options,
                              const ModelFiles& files,
                              Position cacheSlots,
                              std::stop_token stop) {
    ENGINE_TRY(ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(LoadedModel model,
               loadNetwork(options,
                           {files.path().filename().string(), config, *weights, cacheSlots},
                           std::move(stop)));
    if (options.draftAdapter == kNoDraftAdapter)
        return model;
    ENGINE_TRY(const std::string fingerprint, modelFingerprint(config, *weights));
    ENGINE_TRY(
        const auto notes,
        adoptDraftAdapter(*model.transformer, fingerprint, options.draftAdapter, adapterFolder()));
    for (const std::string& note : notes)
        Console::note(fmt::format("[{}]", note));
    return model;
}

Result<LoadedModel>
loadNetwork(const ModelOptions& options, NetworkSource source, std::stop_token stop) {
    BackendRegistry registry(moduleFolder());
    LoadedModel model;
    model.backend = chosenBackend(options.backend);
    ENGINE_TRY(TransformerOptions backendOptions,
               registry.options(model.backend, options.settings));
    ENGINE_TRY(const TransformerFactory factory, registry.find(model.backend));
    ProgressBar bar("Loading " + source.name);
    if (const std::string note = threadsNote(backendOptions.threads); !note.empty())
        Console::note(fmt::format("[{}]", note));
    backendOptions.threads = usefulThreads(backendOptions.threads);
    backendOptions.cacheSlots = source.cacheSlots;
    if (options.usesPackedCache)
        backendOptions.packedCache = packedCacheOptions();
    backendOptions.stop = std::move(stop);
    backendOptions.progress = [&bar](double part) { bar.show(part); };
    ENGINE_TRY(model.transformer, factory(source.config, source.weights, backendOptions));
    if (const std::string note = memoryNote(); !note.empty())
        Console::note(fmt::format("[{}]", note));
    model.config = std::move(source.config);
    return model;
}

Result<void> checkTokenizerFits(const Tokenizer& tokenizer, const ModelConfig& config) {
    if (firstIdBeyond(tokenizer, config.vocabSize) != kNoToken)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The tokenizer has {} tokens, but the model's vocabulary has {}, "
                                 "so they do not belong together.",
                                 tokenizer.vocabSize(),
                                 config.vocabSize),
                     "Put the tokenizer files of this model beside it."};
    return {};
}

Result<std::vector<TokenId>> parseIds(const std::string& text, const std::string& option) {
    std::vector<TokenId> ids;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at < end) {
        TokenId id = 0;
        const auto [next, failure] = std::from_chars(at, end, id);
        const bool goesOn = next < end && *next == ',' && next + 1 < end;
        if (failure != std::errc() || (next != end && !goesOn))
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} holds \"{}\" at character {}, which is not a token id.",
                                     option,
                                     std::string(at, std::min(at + 12, end)),
                                     at - text.data() + 1),
                         "Write ids as whole numbers separated by commas: 1,2,3."};
        ids.push_back(id);
        at = goesOn ? next + 1 : next;
    }
    if (ids.empty())
        return Error{ErrorCode::InvalidInput, option + " holds no ids.", "Write ids as 1,2,3."};
    return ids;
}

} // namespace app
