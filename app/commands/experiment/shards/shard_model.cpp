// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/shards/shard_model.h"

#include "app/program_paths.h"
#include "engine/base/modules/run_time_module.h"
#include "engine/base/system_memory.h"
#include "engine/kernels/processor.h"
#include "engine/loading/drafts/draft_adapter.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "engine/tuning/files/hashed_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace app {

using namespace engine;

namespace {

constexpr std::size_t kRoofBytes = std::size_t{1} << 28U;
constexpr const char* kOtherModel =
    "Put the model's files back as they were when the run began, or begin the run anew in another "
    "folder.";
constexpr const char* kOtherAdapter =
    "Put the draft adapter back as it was when the run began, or begin the run anew in another "
    "folder.";

std::string hostName() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                            : std::string("unknown");
}

double memoryGiB() {
    const double pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
    return pages * static_cast<double>(::sysconf(_SC_PAGE_SIZE)) / (1U << 30U);
}

/// 0 if there is no memory for the measurement.
double measuredRoof(const Transformer& transformer, int threads) {
    const auto roof = transformer.makeReadRoof(kRoofBytes, threads);
    if (!roof || !roof.value()->readGbps()) // the first one includes the threads' waking up
        return 0.0;
    const auto read = roof.value()->readGbps();
    return read ? read.value() : 0.0;
}

MachineFacts machineFacts(const ModelOptions& options, const LoadedModel& model) {
    MachineFacts facts;
    facts.host = hostName();
    facts.processor = processorName();
    facts.instructionSet = model.transformer->instructionSet();
    facts.threads = threadCountOf(options, model.backend);
    facts.memoryGiB = memoryGiB();
    facts.roofGBs = measuredRoof(*model.transformer, facts.threads);
    facts.backend = model.backend;
    facts.weights = shortArithmetic(model.transformer->arithmeticName());
    facts.buildId = buildId();
    return facts;
}

/// A plan is JSON, which holds no other text.
Result<void> checkName(const std::string& path) {
    if (isValidUtf8(path))
        return {};
    return Error{
        ErrorCode::InvalidInput,
        fmt::format("The name {} is not UTF-8, so a run cannot keep it.", readable(path, 400)),
        "Rename the file or its folder."};
}

/// The sum of a draft adapter's bytes. Errors: as adoptDraftAdapter() for a file that was asked
/// for.
Result<std::string> adapterSum(const std::filesystem::path& path,
                               const ModelConfig& config,
                               const std::string& fingerprint) {
    {
        ENGINE_TRY(const DraftAdapter adapter, readDraftAdapter(path));
        ENGINE_TRY_DO(checkFits(adapter, config, fingerprint));
    }
    ENGINE_TRY(const std::string bytes, readTextFile(path, kMostAdapterBytes));
    return contentSumOf(bytes);
}

/// Of the one that is adopted with these options; empty for none.
Result<std::string>
adapterOf(const ModelOptions& options, const ModelConfig& config, const std::string& fingerprint) {
    if (options.draftAdapter == kNoDraftAdapter)
        return std::string();
    if (!options.draftAdapter.empty())
        return adapterSum(options.draftAdapter, config, fingerprint);
    const std::filesystem::path users = usersDraftAdapter(fingerprint);
    for (const std::filesystem::path& path : {users, adapterFolder() / users.filename()}) {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored))
            continue;
        if (auto sum = adapterSum(path, config, fingerprint)) // else it is passed over there, too
            return sum;
    }
    return std::string();
}

} // namespace

std::string keptPath(const std::string& typed) {
    std::error_code failure;
    const auto whole = std::filesystem::absolute(typed, failure);
    return typed.empty() || failure ? typed : whole.string();
}

Result<RunModel> describeModel(const ModelOptions& options) {
    ENGINE_TRY_DO(checkName(keptPath(options.model)));
    ENGINE_TRY_DO(checkName(keptPath(options.draftAdapter)));
    ENGINE_TRY(const ModelFiles files, openModel(options));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    RunModel model;
    model.name = files.path().filename().string();
    if (options.isPlanted)
        model.name += " (lesson)";
    model.path = keptPath(options.model);
    model.isPlanted = options.isPlanted;
    ENGINE_TRY(model.identity, modelFingerprint(config, *weights));
    ENGINE_TRY(model.adapter, adapterOf(options, config, model.identity));
    forEachTensor(config, [&](const TensorSpec& tensor) {
        model.parameters +=
            static_cast<double>(tensor.outputs) * (tensor.isNorm() ? 1 : tensor.inputs);
    });
    model.layers = config.layerCount;
    return model;
}

void putModelOptions(const ModelOptions& options, RunOptions& run) {
    run.isPlanted = options.isPlanted;
    run.backend = options.backend;
    run.context = options.context;
    run.models = {keptPath(options.model)};
    run.draftAdapter = options.draftAdapter == kNoDraftAdapter ? options.draftAdapter
                                                               : keptPath(options.draftAdapter);
    for (const auto& [name, value] : options.settings)
        run.backendSettings[name] = settingText(value);
}

Result<ModelOptions> modelOptionsOf(const RunOptions& run, const RunModel& model) {
    ModelOptions options;
    options.model = model.path;
    options.isPlanted = model.isPlanted;
    options.backend = run.backend;
    options.context = run.context;
    options.draftAdapter = run.draftAdapter;
    const std::vector<BackendInfo> known = knownBackends(moduleFolder());
    for (const auto& [name, text] : run.backendSettings) {
        const SettingInfo* setting = nullptr;
        for (const BackendInfo& backend : known)
            if (const SettingInfo* found = findSetting(backend.settings, name))
                setting = found;
        if (setting == nullptr)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("No backend has the setting \"{}\" of this run.", name),
                         "Begin the run anew with this program."};
        ENGINE_TRY(options.settings[name], parseSettingValue(*setting, text));
    }
    return options;
}

namespace {

/// Whether a variant drafts with the model's adapter; no other decoder does.
bool usesAdapter(const RunPlan& plan, int model) {
    return std::any_of(plan.variants.begin(), plan.variants.end(), [&](const RunVariant& variant) {
        return variant.model == model && (variant.decoder == "auto" || variant.decoder == "tuned");
    });
}

} // namespace

Result<void> useMovedModels(RunFolder& folder, const std::vector<std::string>& paths) {
    const std::vector<RunModel>& models = folder.plan().models;
    std::vector<std::string> places;
    for (const RunModel& model : models)
        places.push_back(model.path);
    for (const std::string& path : paths) {
        bool isKnown = false;
        for (const bool isPlanted : {false, true}) {
            if (std::none_of(models.begin(), models.end(), [&](const RunModel& model) {
                    return model.isPlanted == isPlanted;
                }))
                continue;
            ModelOptions options;
            options.model = path;
            options.isPlanted = isPlanted;
            options.draftAdapter = kNoDraftAdapter;
            ENGINE_TRY(const RunModel found, describeModel(options));
            for (std::size_t i = 0; i < models.size(); ++i)
                if (models[i].isPlanted == isPlanted && models[i].identity == found.identity) {
                    places[i] = found.path;
                    isKnown = true;
                }
        }
        if (!isKnown)
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("The model {} is not the one with which the run in {} was begun.",
                            readable(path, 400),
                            folder.path().string()),
                "Name the file of that model, or begin the run anew in another folder."};
    }
    return folder.moveModels(places);
}

Result<ShardModel> loadShardModel(const RunFolder& folder, int model, const std::stop_token& stop) {
    const RunOptions& run = *folder.recipe().run;
    const RunModel& planned = folder.plan().models.at(static_cast<std::size_t>(model));
    if (folder.plan().buildId != buildId())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The run in {} was begun by another build of this program, so its "
                                 "times cannot be mixed with those of this one.",
                                 folder.path().string()),
                     "Go on with that build, or begin the run anew with --overwrite."};
    ENGINE_TRY(ModelOptions options, modelOptionsOf(run, planned));
    if (planned.adapter.empty())
        options.draftAdapter = kNoDraftAdapter; // one that is kept since then has no part in it
    std::error_code ignored;
    if (!planned.path.empty() && !std::filesystem::exists(planned.path, ignored))
        return Error{
            ErrorCode::NotFound,
            fmt::format("The model of this run is no longer at {}.", readable(planned.path, 400)),
            "If its files have moved, name them: --resume with --model."};
    ENGINE_TRY(const RunModel found, describeModel(options));
    if (found.identity != planned.identity)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The model {} is not the one with which the run in {} was begun.",
                                 found.name,
                                 folder.path().string()),
                     kOtherModel};
    if (found.adapter != planned.adapter && usesAdapter(folder.plan(), model))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The draft adapter of the model {} is not the one with which the "
                                 "run in {} was begun.",
                                 found.name,
                                 folder.path().string()),
                     kOtherAdapter};
    ShardModel made;
    ENGINE_TRY(made.data, loadDataModel(options, run.isRaw, stop));
    made.machine = machineFacts(options, made.data.loaded);
    return made;
}

} // namespace app
