// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/bench_setup.h"

#include "app/commands/options/decoder_options.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/base/typed_text.h"
#include "engine/kernels/processor.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/skip_sets/skip_set.h"
#include "engine/model/weight_share.h"

namespace app {

using namespace engine;

namespace {

constexpr const char* kAuto = "auto";
constexpr std::size_t kWholeRoof = std::size_t{1} << 30U;

std::string orUnknown(std::string_view text) {
    return std::string(text.empty() ? "unknown" : text);
}

/// Bytes of the weights that a pass of one row reads: all but the embedding, of which it reads one
/// row, unless the embedding is also the head. Norms and biases are too small to count.
double bytesPerStep(const Transformer& transformer) {
    const ModelConfig& config = transformer.config();
    double read = static_cast<double>(config.hiddenSize) * config.vocabSize;
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const auto [attention, mlp] = sublayerWeights(config, layer);
        read += attention + mlp;
    }
    double held = 0.0;
    forEachTensor(config, [&](const TensorSpec& tensor) {
        held += static_cast<double>(tensor.outputs) * tensor.inputs; // 0 for norms
    });
    return static_cast<double>(transformer.weightBytes()) * read / held;
}

bool isCollection(const JsonValue& root) {
    return !root.contains("attention") && !root.contains("mlp");
}

Result<std::vector<NamedPlan>>
plansIn(const JsonDocument& document, const std::string& name, int layerCount) {
    std::map<std::string, SkipSet> sets;
    if (isCollection(document.root())) {
        ENGINE_TRY(sets, readSkipSetCollection(document.root(), name));
    } else {
        ENGINE_TRY(sets[name], readSkipSet(document.root(), name));
    }
    std::vector<NamedPlan> plans;
    for (const auto& [entry, set] : sets) {
        ENGINE_TRY(LayerPlan plan, planOf(set, layerCount));
        plans.push_back({entry, std::move(plan)});
    }
    return plans;
}

bool isTyped(const std::string& skipSet) { return skipSet.starts_with('{'); }

Result<std::vector<NamedPlan>> plansOf(const std::string& skipSet, int layerCount) {
    ENGINE_TRY(const JsonDocument document,
               isTyped(skipSet) ? JsonDocument::parse(skipSet, "--skip-set")
                                : readJsonFile(skipSet));
    return plansIn(document, skipSet, layerCount);
}

/// How to start each of the programs that are asked for; the others have no command.
ForRivals<RivalLaunch> launchesOf(const BenchOptions& options) {
    ForRivals<RivalLaunch> launches;
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        launches[i].name = kRivals[i].name;
    if (options.isAgainstLlama)
        launches[0].command = {
            options.llamaPython.empty() ? defaultLlamaPython()
                                        : std::filesystem::path(options.llamaPython),
            options.llamaScript.empty() ? llamaBenchScript()
                                        : std::filesystem::path(options.llamaScript)};
    launches[0].hint =
        "Run tests/benchmarks/set_up_llama_cpp.sh once, or name an interpreter that has "
        "llama-cpp-python with --llama-python.";
    if (!options.ikProgram.empty())
        launches[1].command = {options.ikProgram};
    launches[1].model = options.ikModel;
    launches[1].hint =
        "Run tests/benchmarks/set_up_ik_llama_cpp.sh with a checkout of ik_llama.cpp: it makes the "
        "program.";
    return launches;
}

} // namespace

Result<DraftingChoice> chooseDrafting(const BenchOptions& options, DecoderRegistry& registry) {
    DraftingChoice choice;
    choice.decoder = options.decoder;
    if (choice.decoder.empty()) {
        if (registry.info(kAuto))
            choice.decoder = kAuto;
        else
            choice.note = "This build has no auto decoder, so only vanilla is measured; choose "
                          "another one with --decoder.";
    }
    if (choice.decoder == "vanilla")
        choice.decoder.clear();
    if (choice.decoder.empty() && !options.settings.empty())
        return Error{ErrorCode::InvalidInput,
                     "--set gives a setting, but no decoder is compared with vanilla.",
                     "Name one with --decoder, or leave --set out."};
    if (!choice.decoder.empty()) {
        ENGINE_TRY(choice.settings, parseSettings(registry, choice.decoder, options.settings));
    }
    return choice;
}

Result<BenchDecoders>
makeDecoders(DecoderRegistry& registry, const DraftingChoice& choice, const BenchModel& model) {
    DecoderContext context = {.transformer = *model.loaded.transformer,
                              .contextLength = model.contextLength};
    BenchDecoders decoders;
    ENGINE_TRY(decoders.vanilla, registry.make("vanilla", context));
    if (!choice.decoder.empty()) {
        context.settings = choice.settings;
        ENGINE_TRY(decoders.drafting, registry.make(choice.decoder, context));
    }
    return decoders;
}

Result<std::vector<NamedPlan>> readPlans(const std::vector<std::string>& typed, int layerCount) {
    std::vector<NamedPlan> all;
    for (const std::string& text : typed) {
        auto plans = plansOf(text, layerCount);
        if (!plans && isTyped(text))
            return asTyped(plans.error(), R"(Write {"attention":[1,2],"mlp":[3]}, or a file.)");
        ENGINE_TRY(std::vector<NamedPlan> named, std::move(plans));
        for (NamedPlan& plan : named)
            all.push_back(std::move(plan));
    }
    return all;
}

SkipSetSamples emptySamples(const NamedPlan& plan, const ModelConfig& config) {
    int running = 0;
    for (int layer = 0; layer < config.layerCount; ++layer)
        running += (plan.plan.runsAttention(layer) ? 1 : 0) + (plan.plan.runsMlp(layer) ? 1 : 0);
    return {.name = plan.name,
            .byteShare = weightShare(plan.plan, config),
            .sublayerShare = running / (2.0 * config.layerCount),
            .pairs = {}};
}

void describeModel(const BenchOptions& options, const BenchModel& model, BenchFacts& facts) {
    const Transformer& transformer = *model.loaded.transformer;
    facts.cpu = orUnknown(processorName());
    facts.isa = orUnknown(transformer.instructionSet());
    facts.backend = model.loaded.backend;
    facts.precision = transformer.arithmeticName();
    facts.kvType = transformer.kvTypeName();
    facts.model = model.name;
    facts.threads = threadCountOf(options.model, model.loaded.backend);
    facts.memoryNodes = transformer.memoryNodes();
    facts.weightBytes = transformer.weightBytes();
    facts.bytesPerStep = bytesPerStep(transformer);
    facts.cachedTokens = options.cachedTokens;
    facts.prefillTokens = options.prefillTokens;
    facts.promptTokens = options.promptTokens;
    facts.maxTokens = options.maxTokens;
    if (!options.ikModel.empty())
        facts.notes.push_back(
            fmt::format("ik_llama.cpp reads another file than the others: {}", options.ikModel));
    if (model.leftOut > 0)
        facts.notes.push_back(
            fmt::format("The measurement leaves out {} for lack of room in the context.",
                        counted(model.leftOut, "prompt")));
}

Result<std::unique_ptr<ReadRoof>>
openRoof(const BenchOptions& options, const Transformer& transformer, BenchFacts& facts) {
    const auto wanted = static_cast<std::size_t>(options.roofMib) << 20U;
    ENGINE_TRY(auto roof, transformer.makeReadRoof(wanted, facts.threads));
    facts.roofBytes = roof->byteSize();
    ENGINE_TRY(facts.deviceUs, roof->timesUs());
    if (facts.roofBytes < kWholeRoof)
        facts.notes.push_back(
            fmt::format("The memory bandwidth is measured over {} MiB{}, so the processor's caches "
                        "may make it look higher.",
                        facts.roofBytes >> 20U,
                        facts.roofBytes < wanted ? " because little memory is free" : ""));
    return roof;
}

Result<void> checkRivals(const BenchOptions& options) {
    for (const RivalLaunch& launch : launchesOf(options)) {
        if (launch.command.empty())
            continue;
        ENGINE_TRY(const ModelFiles files, openModel(options.model));
        if (files.path().extension() != ".gguf")
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} reads GGUF files, and {} is not one.",
                                     launch.name,
                                     files.path().string()),
                         "Name a GGUF file with --model, or compare with no other program."};
        ENGINE_TRY_DO(RivalProcess::checkParts(launch));
        if (std::error_code ignored;
            !launch.model.empty() && !std::filesystem::exists(launch.model, ignored))
            return Error{ErrorCode::NotFound,
                         fmt::format("There is no file {}.", launch.model.string()),
                         "Check what --ik-model names."};
    }
    return {};
}

Result<ForRivals<std::unique_ptr<RivalProcess>>>
startRivals(const BenchOptions& options, const BenchModel& model, const std::stop_token& stop) {
    ForRivals<std::unique_ptr<RivalProcess>> rivals;
    ForRivals<RivalLaunch> launches = launchesOf(options);
    for (std::size_t i = 0; i < kRivals.size(); ++i) {
        if (launches[i].command.empty())
            continue;
        if (launches[i].model.empty())
            launches[i].model = model.file;
        launches[i].threads = threadCountOf(options.model, model.loaded.backend);
        launches[i].contextLength = model.contextLength;
        launches[i].stop = stop;
        ENGINE_TRY(rivals[i], RivalProcess::start(launches[i]));
    }
    return rivals;
}

} // namespace app
