// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model_options.h"

#include "app/number_check.h"
#include "app/program_paths.h"
#include "engine/kernels/processor.h"
#include "engine/model/backend_registry.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace app {

using namespace engine;

namespace {

constexpr int kDefaultContext = 8192;

/// Options that the cpu backend alone takes.
void addCpuOptions(CLI::App& command, BackendWords& words) {
    command.add_option("--weights",
                       words.weights,
                       "How the cpu backend holds weights: auto (default: like file, but small "
                       "models as f32), file (as in the file, never with less precision), f32, "
                       "int8 or bf16");
    command.add_option("--kv",
                       words.kvType,
                       "How the cpu backend holds keys and values: f16, bf16 or f32; default: f32 "
                       "with float32 weights, otherwise f16");
    command.add_option("--isa",
                       words.instructionSet,
                       "Instruction set that the cpu backend uses: scalar, avx2 or avx512; "
                       "default: the best that this processor has");
}

} // namespace

void addModelPathOption(CLI::App& command, ModelOptions& options) {
    command.add_option("--model",
                       options.model,
                       "Model folder (config.json, *.safetensors, tokenizer) or GGUF file; "
                       "without it, the default model");
}

void addModelOptions(CLI::App& command, ModelOptions& options) {
    addModelPathOption(command, options);
    command.add_option("--backend",
                       options.words.backend,
                       "What computes the model: cpu (the default: packed weights, all cores), "
                       "torch (LibTorch) or plain (simple loops on one core, the reference for "
                       "exactness)");
    command
        .add_option("--precision",
                    options.words.precision,
                    "Arithmetic of torch and plain: float32, float64 or bfloat16 (torch only)")
        ->capture_default_str();
    addCpuOptions(command, options.words);
    command
        .add_option("--threads",
                    options.threads,
                    "Number of compute threads; 0 lets the "
                    "backend choose")
        ->check(numberFrom(0, 1024))
        ->capture_default_str();
}

Result<int> contextLength(const ModelOptions& options, const ModelConfig& config) {
    if (options.context > config.contextLength)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("A context of {} tokens was asked for, but the model was trained for {}.",
                        options.context,
                        config.contextLength),
            "Leave out --context, or choose a smaller one."};
    return options.context > 0 ? options.context : std::min(config.contextLength, kDefaultContext);
}

Result<ModelFiles> openModel(const ModelOptions& options) {
    if (!options.model.empty())
        return ModelFiles::open(options.model);
    const std::filesystem::path path = defaultModelPath();
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return Error{ErrorCode::NotFound,
                     fmt::format("The default model was not found at {}.", path.string()),
                     "Run installer/run.sh once to fetch it, or name a model with --model."};
    return ModelFiles::open(path);
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
    return loadNetwork(options,
                       {files.path().filename().string(), std::move(config), *weights, cacheSlots},
                       std::move(stop));
}

Result<LoadedModel>
loadNetwork(const ModelOptions& options, NetworkSource source, std::stop_token stop) {
    ENGINE_TRY(TransformerOptions backendOptions, transformerOptions(options.words));
    BackendRegistry registry(moduleFolder());
    LoadedModel model;
    model.backend = chosenBackend(options.words.backend);
    ENGINE_TRY(const TransformerFactory factory, registry.find(model.backend));
    ProgressBar bar("Loading " + source.name);
    backendOptions.threads = usefulThreads(options.threads);
    if (const std::string remark = threadsRemark(options.threads); !remark.empty())
        Console::note(fmt::format("[{}]", remark));
    backendOptions.cacheSlots = source.cacheSlots;
    if (options.usesPackedCache)
        backendOptions.packedCache = packedCacheOptions();
    backendOptions.stop = std::move(stop);
    backendOptions.progress = [&bar](double part) { bar.show(part); };
    ENGINE_TRY(model.transformer, factory(source.config, source.weights, backendOptions));
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
