// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/model_options.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/skip_sets/published_skip_sets.h"
#include "engine/text/chat_template.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
    ModelOptions model;
};

std::string_view scalingName(RopeScalingKind kind) {
    switch (kind) {
    case RopeScalingKind::None:
        return "none";
    case RopeScalingKind::Linear:
        return "linear";
    case RopeScalingKind::Llama3:
        return "llama3";
    case RopeScalingKind::LongRope:
        return "longrope";
    }
    return "unknown";
}

Json describeConfig(const ModelConfig& config) {
    return {{"architecture", config.architecture},
            {"layers", config.layerCount},
            {"silent_copies", config.silentCopies()},
            {"hidden_size", config.hiddenSize},
            {"mlp_size", config.mlpSize},
            {"heads", config.headCount},
            {"kv_heads", config.kvHeadCount},
            {"head_dim", config.headDim},
            {"vocab_size", config.vocabSize},
            {"context_length", config.contextLength},
            {"norm_epsilon", config.normEpsilon},
            {"rope_theta", config.ropeTheta},
            {"rope_scaling", scalingName(config.ropeScaling.kind)},
            {"rope_scaling_factor", config.ropeScaling.factor},
            {"rope_frequency_factors", !config.ropeFrequencyFactors.empty()},
            {"layer_windows", config.layerWindows},
            {"qkv_bias", config.qkvBias},
            {"output_bias", config.outputBias},
            {"mlp_bias", config.mlpBias},
            {"tied_head", config.tiedHead},
            {"experts", config.experts.count},
            {"experts_used", config.experts.used},
            {"expert_size", config.experts.size},
            {"bos_id", config.bosId},
            {"eos_ids", config.eosIds},
            {"mask_id", config.maskTokenId},
            {"tuned_exit", config.tunedExit},
            {"tuned_masks", config.tunedMasks},
            {"stored_type", config.storedType}};
}

std::uint64_t parameterCountOf(const WeightSource& weights) {
    std::uint64_t count = 0; // cannot overflow: the loaders compared every shape with the file's
                             // size
    for (const TensorInfo& tensor : weights.tensors())
        count += tensor.rows() * tensor.columns();
    return count;
}

/// The default backend.
Result<BackendInfo> usualBackend() {
    return BackendRegistry(moduleFolder()).info(chosenBackend(""));
}

/// Nulls for a model that the default backend cannot load; inspecting it is no error. Errors: Io,
/// NoMemory.
Result<void>
addPackedNeed(const ModelConfig& config, const WeightSource& weights, Json& memory, Json& notes) {
    ENGINE_TRY(const BackendInfo backend, usualBackend());
    const auto need = backend.forecast(config, weights, {}, 1);
    if (!need && (need.error().code == ErrorCode::Io || need.error().code == ErrorCode::NoMemory))
        return need.error();
    memory["packed_weight_bytes"] = need ? Json(need.value().memory.weightBytes) : Json();
    memory["packed_cache_bytes_per_token"] = need ? Json(need.value().memory.cacheBytes) : Json();
    memory["copy_bytes"] = need ? Json(need.value().copyBytes) : Json();
    memory["memory_nodes"] = need ? Json(need.value().memoryNodes) : Json();
    if (need && !need.value().wideningNote.empty())
        notes.push_back(need.value().wideningNote);
    return {};
}

/// The memory that loading needs: the weights as the backends hold them, and a token's keys and
/// values. Why they need more than the file is added to the notes.
Result<Json> describeMemory(const ModelConfig& config, const WeightSource& weights, Json& notes) {
    const std::uint64_t parameters = parameterCountOf(weights);
    const std::int64_t cacheValues =
        std::int64_t{2} * config.layerCount * config.kvHeadCount * config.headDim;
    Json memory = {{"parameters", parameters},
                   {"float32_weight_bytes", parameters * 4},
                   {"float64_weight_bytes", parameters * 8},
                   {"bfloat16_weight_bytes", parameters * 2},
                   {"float32_cache_bytes_per_token", cacheValues * 4}};
    ENGINE_TRY_DO(addPackedNeed(config, weights, memory, notes));
    return memory;
}

/// For each type in the file, how many tensors become which form; norms and biases always become
/// float32.
Result<Json> describeForms(const WeightSource& weights) {
    ENGINE_TRY(const BackendInfo backend, usualBackend());
    if (!backend.heldAs)
        return Json();
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const TensorInfo& tensor : weights.tensors())
        ++counts[{std::string(tensor.typeName()), backend.heldAs(weights, tensor)}];
    Json forms = Json::array();
    for (const auto& [names, count] : counts)
        forms.push_back({{"type", names.first}, {"tensors", count}, {"form", names.second}});
    return forms;
}

Json describeTensors(const WeightSource& weights) {
    Json tensors = Json::array();
    for (const TensorInfo& tensor : weights.tensors())
        tensors.push_back({{"name", tensor.name},
                           {"type", tensor.typeName()},
                           {"shape", tensor.shape},
                           {"bytes", tensor.byteSize}});
    return tensors;
}

/// The sets that were published for models of these sizes. A set is not part of the model, so a
/// damaged or missing list is only a note.
void addPublishedSets(const ModelConfig& config, Json& report) {
    const auto published = readPublishedSkipSets(resourceFolder() / "published_skip_sets.json");
    if (!published) {
        report["notes"].push_back("The published skip sets cannot be shown: " +
                                  published.error().message);
        return;
    }
    Json fitting = Json::array();
    for (const PublishedSkipSet& one : published.value())
        if (fits(one, config))
            fitting.push_back({{"name", one.name},
                               {"origin", one.origin},
                               {"attention", one.set.attention},
                               {"mlp", one.set.mlp}});
    report["published_skip_sets"] = std::move(fitting);
}

/// A missing part of a model gives null; a damaged one is an error.
Result<void> addNetwork(const ModelFiles& files, Json& report) {
    const auto config = files.config();
    if (!config && config.error().code != ErrorCode::NotFound)
        return config.error();
    if (config)
        report["config"] = describeConfig(config.value());
    report["notes"] = config ? Json(config.value().notes) : Json::array();
    const auto weights = files.weights();
    if (!weights && weights.error().code != ErrorCode::NotFound)
        return weights.error();
    if (weights) {
        if (config) {
            ENGINE_TRY(report["memory"],
                       describeMemory(config.value(), *weights.value(), report["notes"]));
        }
        ENGINE_TRY(report["forms"], describeForms(*weights.value()));
        report["tensors"] = describeTensors(*weights.value());
    }
    if (config)
        addPublishedSets(config.value(), report);
    return {};
}

Result<void> addText(const ModelFiles& files, Json& report) {
    ENGINE_TRY(const auto tokenizer, openTokenizer(files));
    if (!tokenizer)
        return {};
    report["tokenizer"] = {{"description", tokenizer->description()},
                           {"size", tokenizer->vocabSize()},
                           {"bos_id", tokenizer->bosId()},
                           {"eos_ids", tokenizer->eosIds()}};
    ENGINE_TRY(const ChatTemplate chatTemplate, chooseChatTemplate(files, *tokenizer));
    report["chat_template"] = chatTemplate.origin();
    return {};
}

std::string sizeInWords(double bytes) {
    if (bytes >= 1e9)
        return fmt::format("{:.2f} GB", bytes / 1e9);
    return bytes >= 1e5 ? fmt::format("{:.1f} MB", bytes / 1e6)
                        : fmt::format("{:.1f} kB", bytes / 1e3);
}

/// A readable value: float32 numbers without superfluous digits, a list of equal entries as that
/// entry.
std::string inWords(const Json& value) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_float())
        return fmt::format("{:.7g}", value.get<double>());
    const bool isUniform = value.is_array() && value.size() > 2 &&
                           std::all_of(value.begin(), value.end(), [&value](const Json& item) {
                               return item == value.front();
                           });
    return isUniform ? fmt::format("{} (all {})", value.front().dump(), value.size())
                     : value.dump();
}

void printSection(const Console& console, const std::string& title, const Json& values) {
    console.line("\n" + title);
    if (!values.is_object()) {
        console.line("  none");
        return;
    }
    for (const auto& [key, value] : values.items())
        console.line(fmt::format("  {:<26} {}", key, inWords(value)));
}

void printTensorSummary(const Console& console, const Json& tensors) {
    std::map<std::string, std::pair<int, double>> types;
    for (const Json& tensor : tensors) {
        auto& [count, bytes] = types[tensor["type"].get<std::string>()];
        ++count;
        bytes += tensor["bytes"].get<double>();
    }
    console.line("\nTensors");
    for (const auto& [type, sum] : types)
        console.line(fmt::format(
            "  {:<6} {:>13} {:>12}", type, counted(sum.first, "tensor"), sizeInWords(sum.second)));
    for (const Json& tensor : tensors)
        console.line(fmt::format("  {:<48} {:<5} {:>18} {:>12}",
                                 tensor["name"].get<std::string>(),
                                 tensor["type"].get<std::string>(),
                                 tensor["shape"].dump(),
                                 sizeInWords(tensor["bytes"].get<double>())));
}

/// "Q4_1   210 tensors: 4-bit, scale and minimum per 32".
void printForms(const Console& console, const Json& forms) {
    console.line(fmt::format("\nHeld by the {} backend as", chosenBackend("")));
    for (const Json& form : forms)
        console.line(fmt::format("  {:<6} {:>13}: {}",
                                 form["type"].get<std::string>(),
                                 counted(form["tensors"].get<int>(), "tensor"),
                                 form["form"].get<std::string>()));
}

void printPublishedSets(const Console& console, const Json& sets) {
    console.line("\nPublished skip sets for models of this size");
    if (!sets.is_array() || sets.empty())
        console.line("  none");
    for (const Json& set : sets)
        console.line(fmt::format("  {:<26} {} attention and {} MLP sublayers, from {}",
                                 set["name"].get<std::string>(),
                                 set["attention"].size(),
                                 set["mlp"].size(),
                                 set["origin"].get<std::string>()));
}

void printForPeople(const Console& console, const Json& report) {
    console.line(fmt::format(
        "{} ({})", report["path"].get<std::string>(), report["format"].get<std::string>()));
    printSection(console, "Network", report["config"]);
    if (const Json& memory = report["memory"]; memory.is_object()) {
        console.line("\nMemory");
        console.line(fmt::format(
            "  {:<26} {:.1f} million", "parameters", memory["parameters"].get<double>() / 1e6));
        for (const char* precision : {"float32", "float64", "bfloat16"})
            console.line(fmt::format(
                "  {:<26} {}",
                fmt::format("weights in {}", precision),
                sizeInWords(memory[fmt::format("{}_weight_bytes", precision)].get<double>())));
        console.line(fmt::format("  {:<26} {:.1f} kB",
                                 "cache per token, float32",
                                 memory["float32_cache_bytes_per_token"].get<double>() / 1e3));
        if (memory["packed_weight_bytes"].is_number()) {
            console.line(fmt::format("  {:<26} {}",
                                     fmt::format("weights packed ({})", chosenBackend("")),
                                     sizeInWords(memory["packed_weight_bytes"].get<double>())));
            console.line(fmt::format("  {:<26} {:.1f} kB",
                                     fmt::format("cache, a token, {}", chosenBackend("")),
                                     memory["packed_cache_bytes_per_token"].get<double>() / 1e3));
            if (const double copy = memory["copy_bytes"].get<double>(); copy > 0.0)
                console.line(fmt::format("  {:<26} {}, made by auto and low_precision if twice as "
                                         "much is free",
                                         "4-bit copy that drafts",
                                         sizeInWords(copy)));
        }
    }
    printSection(console, "Tokenizer", report["tokenizer"]);
    console.line("\nChat template\n  " + (report["chat_template"].is_string()
                                              ? report["chat_template"].get<std::string>()
                                              : "none"));
    printPublishedSets(console, report["published_skip_sets"]);
    for (const Json& note : report["notes"])
        console.line("\nNote: " + note.get<std::string>());
    if (report["forms"].is_array())
        printForms(console, report["forms"]);
    if (report["tensors"].is_array())
        printTensorSummary(console, report["tensors"]);
}

Result<void> runInspect(const InspectOptions& options, CommandContext& context) {
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    const bool isGguf = files.format() == ModelFiles::Format::Gguf;
    Json report = {{"path", files.path().string()},
                   {"format", isGguf ? "GGUF" : "folder"},
                   {"config", nullptr},
                   {"memory", nullptr},
                   {"tokenizer", nullptr},
                   {"chat_template", nullptr},
                   {"published_skip_sets", nullptr},
                   {"notes", Json::array()},
                   {"forms", nullptr},
                   {"tensors", nullptr},
                   {"metadata", nullptr}};
    ENGINE_TRY_DO(addNetwork(files, report));
    ENGINE_TRY_DO(addText(files, report));
    if (isGguf)
        for (const auto& [key, value] : files.gguf()->describeMetadata())
            report["metadata"][key] = value;
    if (context.console.isJson())
        context.console.jsonLine(report);
    else
        printForPeople(context.console, report);
    return {};
}

} // namespace

void addInspectCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand("inspect",
                                           "Show a model's sizes, tensors, memory need, tokenizer, "
                                           "chat template and published skip sets");
    const auto options = std::make_shared<InspectOptions>();
    command->add_option("path,--model",
                        options->model.model,
                        "Model folder or GGUF file; without it, the default model");
    addPlantedOption(*command, options->model);
    addRun(*command, chosen, options, runInspect, "Write one JSON object to standard output");
}

} // namespace app
