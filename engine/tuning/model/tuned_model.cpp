// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model/tuned_model.h"

#include "engine/base/modules/run_time_module.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/part_file.h"
#include "engine/loading/json/json_document.h"
#include "engine/tuning/model/model_config_text.h"
#include "engine/tuning/model/tuned_weights.h"
#include "engine/tuning/result/run_origin_json.h"

#include <algorithm>
#include <set>
#include <system_error>

namespace engine {

namespace {

namespace fs = std::filesystem;

using TuningJson = nlohmann::ordered_json;

constexpr const char* kConfigFile = "config.json";
constexpr const char* kWeightsFile = "model.safetensors";

Error folderFailed(const fs::path& folder, const std::error_code& failure) {
    return {ErrorCode::Io,
            fmt::format("{} cannot be made: {}.", folder.string(), failure.message()),
            "Check the folder, its permissions and the free space."};
}

/// An empty folder of this name, or one of an earlier try, which is emptied.
Result<void> makeEmpty(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure)
        return folderFailed(folder, failure);
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure))
        found.push_back(entry->path());
    for (const fs::path& file : found) {
        if (!isTunedModelFile(file.filename().string()))
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} is needed for the new model, but holds {}, which no "
                                     "training writes.",
                                     folder.string(),
                                     file.filename().string()),
                         "Move that file away."};
    }
    for (const fs::path& file : found)
        if (!failure)
            fs::remove(file, failure);
    return failure ? folderFailed(folder, failure) : Result<void>();
}

TuningJson recipeJson(const RunOrigin& origin, int exit, const TunedModelPlan& model) {
    const TuningPlan& plan = origin.plan;
    TuningJson json = {{"name", recipeName(plan.recipe)},
                       {"profile", plan.profile},
                       {"full", plan.isFull},
                       {"rank", plan.isFull ? TuningJson(nullptr) : TuningJson(plan.rank)},
                       {"rate", plan.rate},
                       {"averaging", plan.averaging},
                       {"epochs", plan.epochs},
                       {"step_rows", plan.stepRows},
                       {"seed", plan.seed},
                       {"threads", plan.threads}};
    if (plan.recipe == TuningRecipe::LayerSkip)
        json.update(TuningJson{{"dropout", plan.dropout},
                               {"exit_scale", plan.exitScale},
                               {"rotation", plan.rotation},
                               {"exit", exit}});
    else
        json.update(TuningJson{{"masks", plan.masks},
                               {"places", plan.places},
                               {"plain_share", plan.plainShare},
                               {"soft", plan.isSoft},
                               {"mask_token", model.maskToken}});
    return json;
}

TuningJson metricsJson(const TrainingResult& result) {
    TuningJson json = {{"acceptance", acceptanceOf(result.best.all)},
                       {"tokens_per_round", result.best.tokensPerRound()},
                       {"held_out", result.isHeldOut},
                       {"validation_rows", result.best.rows},
                       {"step", result.best.step},
                       {"steps", result.steps}};
    if (!result.best.all.exits.empty())
        json["exits"] = exitShares(result.best.all);
    return json;
}

TuningJson qualityJson(const ModelQuality& quality) {
    return {{"tokens", quality.tokens},
            {"held_out", quality.isHeldOut},
            {"before", {{"perplexity", quality.perplexityBefore}}},
            {"after", {{"perplexity", quality.perplexityAfter}}},
            {"agreement", quality.agreement},
            {"kept", quality.isKept()},
            {"failing", quality.failing()}};
}

std::vector<std::string> fileNames(const TunedModelPlan& plan) {
    std::vector<std::string> names = {kConfigFile, kWeightsFile, kTuningFile};
    for (const NamedFile& file : plan.files)
        names.push_back(file.name);
    return names;
}

/// Whether a folder holds a tuned model of this kind, and nothing else.
template <typename Predicate> Result<bool> isTuned(const fs::path& folder, Predicate isMeant) {
    const fs::path path = folder / kTuningFile;
    std::error_code failure;
    if (!fs::is_regular_file(path, failure))
        return false;
    const auto document = readJsonFile(path.string(), {.maxBytes = 16'000'000});
    if (!document && document.error().code == ErrorCode::Io)
        return document.error();
    if (!document || !document.value().root().contains(kTuningMark) ||
        !isMeant(document.value().root()))
        return false;
    std::set<std::string> known;
    for (const JsonValue& name : document.value().root()["files"].items())
        known.insert(std::string(name.asString().value_or("")));
    failure.clear();
    bool isOwn = true;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure))
        isOwn = isOwn && known.contains(entry->path().filename().string());
    return isOwn && !failure;
}

} // namespace

bool isTunedModelFile(std::string_view name) {
    return name == kConfigFile || name == kWeightsFile || name == kTuningFile ||
           isTokenizerFile(name) || isPartFile(name);
}

Result<TunedModelPlan> planTunedModel(const ModelFiles& files,
                                      const ModelConfig& config,
                                      const WeightSource& weights,
                                      TokenId maskToken) {
    TunedModelPlan plan;
    plan.type = tunedType(weights);
    plan.maskToken = maskToken;
    ENGINE_TRY(plan.config,
               tunedConfigText(files, config, {.type = plan.type, .maskToken = maskToken}));
    ENGINE_TRY(plan.files, tokenizerFiles(files));
    return plan;
}

Result<void> writeTunedFrame(const fs::path& folder, const TunedModelPlan& plan) {
    ENGINE_TRY_DO(makeEmpty(folder));
    ENGINE_TRY_DO(writeFileAtomically(folder / kConfigFile, plan.config));
    for (const NamedFile& file : plan.files)
        ENGINE_TRY_DO(writeFileAtomically(folder / file.name, file.bytes));
    return {};
}

Result<std::uint64_t> writeTunedModel(const fs::path& folder,
                                      const TunedModelPlan& plan,
                                      const ModelConfig& config,
                                      const WeightSource& weights,
                                      const NamedArrays& trained) {
    ENGINE_TRY_DO(writeTunedFrame(folder, plan));
    return writeTunedWeights(folder / kWeightsFile, config, weights, trained, plan.maskToken);
}

Result<void> writeTuningFile(const fs::path& folder,
                             const TunedModelPlan& plan,
                             const RunOrigin& origin,
                             int exit,
                             const TrainingResult& result,
                             const ModelQuality& quality) {
    const TuningJson json = {{kTuningMark, 1},
                             {"model", origin.model},
                             {"fingerprint", origin.fingerprint},
                             {"recipe", recipeJson(origin, exit, plan)},
                             {"data", dataJson(origin)},
                             {"metrics", metricsJson(result)},
                             {"quality", qualityJson(quality)},
                             {"files", fileNames(plan)},
                             {"build", std::string(buildId())},
                             {"date", origin.date}};
    return writeFileAtomically(
        folder / kTuningFile, json.dump(1, ' ', true, TuningJson::error_handler_t::replace) + "\n");
}

Result<bool> isTunedModel(const fs::path& folder) {
    return isTuned(folder, [](const JsonValue&) { return true; });
}

Result<bool> isRejectedModel(const fs::path& folder) {
    return isTuned(folder, [](const JsonValue& tuning) {
        return !tuning["quality"]["kept"].asBool().value_or(true);
    });
}

} // namespace engine
