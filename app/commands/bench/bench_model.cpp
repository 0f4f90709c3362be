// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/bench_model.h"

#include "app/data/data_model.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/base/counter_random.h"
#include "engine/base/system_memory.h"
#include "engine/loading/network/synthetic_model.h"
#include "engine/model/backends/backend_registry.h"

#include <algorithm>
#include <array>

namespace app {

using namespace engine;

namespace {

constexpr int kShapeContext = 2048; // tokens, unless --context says otherwise
constexpr int kShapePromptTokens = 64;

constexpr std::array kBuiltInPrompts = {
    "Name three colours and say in one sentence each where they are found in nature.",
    "Write a short Python function that adds the numbers of a list, then explain it.",
    "Summarise in two sentences why the sky is blue. Then say it again in simpler words.",
    "A train leaves at nine and travels 180 kilometres at 60 kilometres an hour. When does it "
    "arrive?"};

struct StoredForm {
    std::string_view name;
    TensorType type;
};

/// The first one is the default.
constexpr std::array kStoredForms = {StoredForm{"f32", TensorType::F32},
                                     StoredForm{"bf16", TensorType::BF16},
                                     StoredForm{"int8", TensorType::Q8_0},
                                     StoredForm{"4bit", TensorType::Q4_1}};

/// The meaning of --weights for a shape; null for an unknown word.
const StoredForm* storedForm(const BenchOptions& options) {
    const std::string name = givenWord(options.model, "weights");
    if (name.empty())
        return &kStoredForms.front();
    const auto found = std::find_if(kStoredForms.begin(),
                                    kStoredForms.end(),
                                    [&](const StoredForm& form) { return form.name == name; });
    return found == kStoredForms.end() ? nullptr : &*found;
}

/// The longest pass must fit into the context that the model was trained for.
Result<void> checkContext(const BenchOptions& options, int contextLength) {
    const int mostRows =
        options.rows.empty() ? 16 : *std::max_element(options.rows.begin(), options.rows.end());
    const std::int64_t needed = std::max({std::int64_t{options.cachedTokens} + mostRows,
                                          std::int64_t{options.prefillTokens},
                                          std::int64_t{options.promptTokens} + 1});
    if (needed <= contextLength)
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The measurement needs {}, but the context holds only {}.",
                             counted(needed, "token"),
                             contextLength),
                 "Choose smaller values for --cached, --prefill and --prompt-tokens."};
}

/// Adds a prompt if it fits together with an answer of one token.
void addPrompt(BenchModel& model, BenchPrompt prompt) {
    if (static_cast<int>(prompt.ids.size()) < model.contextLength)
        model.prompts.push_back(std::move(prompt));
    else
        ++model.leftOut;
}

Result<void> encodePrompts(const PromptSet& set, const DataModel& model, BenchModel& into) {
    if (set.prompts.empty()) {
        for (const char* text : kBuiltInPrompts) {
            ENGINE_TRY(auto ids, model.encoder->encode({{{"user", text}, {}}}));
            addPrompt(into, {"built-in", std::move(ids)});
        }
    } else {
        for (const DataPrompt& prompt : set.prompts) {
            ENGINE_TRY(auto ids,
                       model.encoder->encode({{{"user", prompt.record.turns.front()}, {}}}));
            addPrompt(into, {prompt.record.task, std::move(ids)});
        }
    }
    if (into.prompts.empty())
        return Error{ErrorCode::InvalidInput,
                     "No prompt fits into the model's context.",
                     "Give shorter prompts with --prompts, or a longer --context."};
    return {};
}

/// Gives prompts the wanted length, as many as there are repetitions: each is the end of a text in
/// which the other prompts stand before it, none twice, so that drafts find nothing repeated.
Result<void> setPromptLength(const BenchOptions& options, BenchModel& model) {
    const auto& prompts = model.prompts;
    const auto wanted = static_cast<std::size_t>(options.promptTokens);
    std::size_t total = 0;
    for (const BenchPrompt& prompt : prompts)
        total += prompt.ids.size();
    if (total < wanted)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The prompts have {} together, fewer than the {} that "
                                 "--prompt-tokens asks for.",
                                 counted(total, "token"),
                                 wanted),
                     "Give more of them with --prompts, or choose a smaller number."};
    std::vector<BenchPrompt> made;
    for (std::size_t i = 0; i < std::min(prompts.size(), static_cast<std::size_t>(options.pairs));
         ++i) {
        std::vector<TokenId> ids;
        for (std::size_t back = 0; ids.size() < wanted; ++back) {
            const auto& before = prompts[(i + prompts.size() - back) % prompts.size()].ids;
            ids.insert(ids.begin(), before.begin(), before.end());
        }
        made.push_back(
            {prompts[i].task, {ids.end() - static_cast<std::ptrdiff_t>(wanted), ids.end()}});
    }
    model.prompts = std::move(made);
    return {};
}

Result<BenchModel> openFiles(const BenchOptions& options, const std::stop_token& stop) {
    ENGINE_TRY(const PromptSet set, readPrompts(options.data, stop)); // none: the built-in ones
    BenchModel model;
    {
        ENGINE_TRY(const ModelFiles files, openModel(options.model));
        ENGINE_TRY(const ModelConfig config, files.config());
        ENGINE_TRY(model.contextLength, contextLength(options.model, config));
        ENGINE_TRY_DO(checkContext(options, model.contextLength));
        model.file = files.path();
    }
    ModelOptions measured = options.model;
    measured.usesPackedCache = false; // nothing may be written to the disk while passes are
                                      // measured
    ENGINE_TRY(DataModel data, loadDataModel(measured, options.isRaw, stop));
    model.name = data.name;
    model.endIds = data.endIds;
    ENGINE_TRY_DO(encodePrompts(set, data, model));
    if (options.promptTokens > 0)
        ENGINE_TRY_DO(setPromptLength(options, model));
    model.loaded = std::move(data.loaded);
    return model;
}

/// The roof probe uses part of the rest.
Result<void> checkShapeMemory(const BenchOptions& options,
                              const ModelOptions& model,
                              const ModelConfig& config,
                              const SyntheticWeights& weights,
                              int contextLength) {
    BackendRegistry registry(moduleFolder());
    ENGINE_TRY(const BackendInfo backend, registry.info(chosenBackend(model.backend)));
    ENGINE_TRY(const TransformerOptions computing, registry.options(backend.name, model.settings));
    ENGINE_TRY(const LoadForecast forecast,
               backend.forecast(config, weights, computing, contextLength));
    if (backend.hasOwnMemory)
        return {}; // it says itself what does not fit
    return checkMemoryFor(
        static_cast<double>(forecast.memory.totalBytes()),
        fmt::format("the shape {} with {}", options.shape, counted(config.layerCount, "layer")));
}

Result<BenchModel> openShape(const BenchOptions& options, const std::stop_token& stop) {
    ENGINE_TRY(ModelConfig config, syntheticConfig(options.shape, options.layers));
    BenchModel model;
    const int wanted = options.model.context == 0 ? kShapeContext : options.model.context;
    model.contextLength = std::min(config.contextLength, wanted);
    ENGINE_TRY_DO(checkContext(options, model.contextLength));
    const StoredForm& form = *storedForm(options);
    const SyntheticWeights weights(config, form.type);
    if (options.model.isPlanted) {
        ENGINE_TRY(config, withSilentCopies(std::move(config)));
    }
    ModelOptions asStored = options.model;
    asStored.settings.erase("weights");
    ENGINE_TRY_DO(checkShapeMemory(options, asStored, config, weights, model.contextLength));
    model.name = fmt::format(
        "shape {} ({}, {})", options.shape, counted(config.layerCount, "layer"), form.name);
    config.storedType = form.name;
    const int length = options.promptTokens > 0 ? options.promptTokens : kShapePromptTokens;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        model.prompts.push_back({"arbitrary", arbitraryIds(length, config.vocabSize, seed)});
    ENGINE_TRY(model.loaded, loadNetwork(asStored, {model.name, std::move(config), weights}, stop));
    return model;
}

} // namespace

Result<void> checkBenchOptions(const BenchOptions& options) {
    const auto wrong = [](std::string message, std::string hint) {
        return Error{ErrorCode::InvalidInput, std::move(message), std::move(hint)};
    };
    if (options.model.isPlanted && options.hasRival())
        return wrong("No other program can load a lesson model, which is made here.",
                     "Leave --planted out.");
    if (!options.ikModel.empty() && options.ikProgram.empty())
        return wrong("--ik-model names a file for ik_llama.cpp, with which nothing is compared.",
                     "Add --against-ik, or leave --ik-model out.");
    if (options.shape.empty()) {
        if (options.layers > 0)
            return wrong("--layers shortens a made-up model, but --shape was not given.",
                         "Add --shape 1b, or leave --layers out.");
        return {};
    }
    if (storedForm(options) == nullptr)
        return wrong(fmt::format("\"{}\" is not a form of made-up weights.",
                                 givenWord(options.model, "weights")),
                     "Choose f32, bf16, int8 or 4bit.");
    ENGINE_TRY_DO(syntheticConfig(options.shape, options.layers));
    if (!options.model.model.empty())
        return wrong("--shape and --model cannot be used together.", "Give only one of them.");
    if (!options.data.paths.empty())
        return wrong("--prompts needs a tokenizer, and a shape has none.",
                     "Leave --prompts out, or name a model with --model.");
    if (options.hasRival())
        return wrong("Other programs need a GGUF file, and a shape has none.",
                     "Leave --shape out.");
    return {};
}

Result<BenchModel> openBenchModel(const BenchOptions& options, const std::stop_token& stop) {
    return options.shape.empty() ? openFiles(options, stop) : openShape(options, stop);
}

std::vector<TokenId> arbitraryIds(int count, int vocabSize, std::uint64_t seed) {
    std::vector<TokenId> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(static_cast<TokenId>(counterUniform(seed, static_cast<std::uint64_t>(i), 0) *
                                           vocabSize));
    return ids;
}

} // namespace app
