// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuning_plan.h"

#include "engine/tuning/plan_settings.h"
#include "engine/tuning/rows/answer_collector.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace engine {

namespace {

struct Profile {
    const char* name;
    std::int64_t answerTokens;
    int stepRows;
};

constexpr std::array kProfiles = {Profile{"quick", 300'000, 2048},
                                  Profile{"full", 1'200'000, plan_settings::kStepRows},
                                  Profile{"overnight", 4'000'000, plan_settings::kStepRows}};

/// With a longest answer behind them they fit into a shard.
constexpr int kMostPromptRows = 32'768;

// Of the text of a plan. Before kSplitByText, prompts were dealt out by their bytes.
constexpr int kSplitByBytes = 2;
constexpr int kSplitByText = 3;

constexpr int kProfileEpochs = 3;
constexpr int kModelEpochs = 2;

using PlanJson = nlohmann::ordered_json;

PlanJson rowsMembers(const TuningPlan& plan,
                     const std::string& model,
                     const std::string& prompts,
                     int context) {
    const bool isByBytes = plan.split == SplitRule::ByBytes;
    PlanJson members = {{"version", isByBytes ? kSplitByBytes : kSplitByText},
                        {"model", model},
                        {"prompts", prompts},
                        {"context", context},
                        {"answer_tokens", plan.answerTokens},
                        {"minutes", plan.minutes},
                        {"longest_answer", plan.longestAnswer},
                        {"seed", plan.seed}};
    members["prompt_rows"] = plan.promptRows(context);
    if (plan.recipe == TuningRecipe::Space)
        members["mask_token"] = plan.maskToken; // no answer holds it
    return members;
}

/// What the recipe draft alone is told.
PlanJson draftMembers(const TuningPlan& plan) {
    return {{"head", plan.head},
            {"layers", plan.layers},
            {"window", plan.window},
            {"unroll", plan.unroll},
            {"start", plan.start == LayerStart::Random ? "random" : "last_layer"},
            {"rate", plan.rate},
            {"depth_decay", plan.depthDecay},
            {"stream_loss", plan.streamLoss},
            {"averaging", plan.averaging},
            {"bfloat16", plan.usesBfloat16},
            {"validation_steps", plan.validationSteps},
            {"validation_rows", plan.validationRows}};
}

/// What a recipe is told that changes the model.
PlanJson modelMembers(const TuningPlan& plan) {
    PlanJson members = {{"recipe", recipeName(plan.recipe)},
                        {"full", plan.isFull},
                        {"rank", plan.rank},
                        {"rate", plan.rate},
                        {"averaging", plan.averaging},
                        {"validation_steps", plan.validationSteps},
                        {"validation_rows", plan.validationRows}};
    if (plan.recipe == TuningRecipe::LayerSkip)
        members.update(PlanJson{{"dropout", plan.dropout},
                                {"exit_scale", plan.exitScale},
                                {"rotation", plan.rotation},
                                {"exit", plan.exit}});
    else
        members.update(PlanJson{{"masks", plan.masks},
                                {"places", plan.places},
                                {"plain_share", plan.plainShare},
                                {"soft", plan.isSoft}});
    return members;
}

bool hasTimeLimit(const PlanJson& plan) {
    const auto minutes = plan.find("minutes");
    return minutes != plan.end() && minutes->is_number() && minutes->get<double>() > 0.0;
}

} // namespace

int TuningPlan::promptRows(int context) const {
    if (changesModel() || window == 0)
        return std::min(context, kMostPromptRows);
    return std::max(layers * (window - 1) + 1, kPromptRows); // each layer looks as far back again
}

std::string
TuningPlan::rowsText(const std::string& model, const std::string& prompts, int context) const {
    return rowsMembers(*this, model, prompts, context).dump();
}

std::string
TuningPlan::allText(const std::string& model, const std::string& prompts, int context) const {
    PlanJson plan = rowsMembers(*this, model, prompts, context);
    plan.update(PlanJson{{"profile", profile},
                         {"epochs", epochs},
                         {"step_rows", stepRows},
                         {"steps", steps},
                         {"threads", threads}});
    plan.update(changesModel() ? modelMembers(*this) : draftMembers(*this));
    return plan.dump();
}

std::string_view recipeName(TuningRecipe recipe) {
    switch (recipe) {
    case TuningRecipe::LayerSkip:
        return "layerskip";
    case TuningRecipe::Space:
        return "space";
    case TuningRecipe::Draft:
        break;
    }
    return "draft";
}

Result<TuningRecipe> recipeNamed(std::string_view name) {
    for (const TuningRecipe recipe :
         {TuningRecipe::Draft, TuningRecipe::LayerSkip, TuningRecipe::Space})
        if (recipeName(recipe) == name)
            return recipe;
    return Error{ErrorCode::InvalidInput,
                 fmt::format("There is no recipe \"{}\".", name),
                 "Choose one of draft, layerskip, space."};
}

Result<TuningPlan> planOfProfile(std::string_view profile, TuningRecipe recipe) {
    for (const Profile& known : kProfiles)
        if (known.name == profile) {
            TuningPlan plan;
            plan.recipe = recipe;
            plan.profile = known.name;
            plan.answerTokens = known.answerTokens;
            plan.epochs = kProfileEpochs;
            plan.stepRows = known.stepRows;
            if (plan.changesModel()) {
                plan.epochs = kModelEpochs;
                plan.stepRows = plan_settings::kModelStepRows;
                plan.validationRows = plan_settings::kModelValidationRows;
                plan.streamLoss = 0.0; // of the recipe draft
            }
            plan.rate = plan_settings::usualRate(recipe, plan.isFull);
            return plan;
        }
    return Error{ErrorCode::InvalidInput,
                 fmt::format("There is no profile \"{}\".", profile),
                 fmt::format("Choose one of {}.", fmt::join(tuningProfiles(), ", "))};
}

const std::vector<std::string>& tuningProfiles() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const Profile& profile : kProfiles)
            made.emplace_back(profile.name);
        return made;
    }();
    return names;
}

const std::vector<SettingInfo>& tuningSettings(TuningRecipe recipe) {
    static const std::array settings = {plan_settings::infos(TuningRecipe::Draft),
                                        plan_settings::infos(TuningRecipe::LayerSkip),
                                        plan_settings::infos(TuningRecipe::Space)};
    return settings[static_cast<std::size_t>(recipe)];
}

Result<void> applySetting(TuningPlan& plan, const std::string& typed) {
    const std::size_t equals = typed.find('=');
    if (equals == std::string::npos)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("\"{}\" is no setting.", typed),
                     "Write it as NAME=VALUE, for example --set rate=0.0005."};
    const std::string name = typed.substr(0, equals);
    const std::vector<SettingInfo>& known = tuningSettings(plan.recipe);
    const SettingInfo* setting = findSetting(known, name);
    if (setting == nullptr)
        return unknownSetting(fmt::format("The recipe {}", recipeName(plan.recipe)), known, name);
    ENGINE_TRY(const SettingValue value, parseSettingValue(*setting, typed.substr(equals + 1)));
    plan_settings::adopt(plan, name, value);
    return {};
}

SplitRule splitRuleOf(const std::string& text) {
    const PlanJson plan = PlanJson::parse(text, nullptr, false);
    const PlanJson version = plan.is_object() ? plan.value("version", PlanJson()) : PlanJson();
    const bool isEarlier =
        version.is_number_integer() && version.get<std::int64_t>() < kSplitByText;
    return isEarlier ? SplitRule::ByBytes : SplitRule::ByText;
}

Result<std::string> differenceOf(const std::string& now, const std::string& before) {
    const PlanJson one = PlanJson::parse(now, nullptr, false);
    const PlanJson two = PlanJson::parse(before, nullptr, false);
    if (!one.is_object() || !two.is_object())
        return Error{ErrorCode::CorruptFile, "The plan of the earlier run is damaged.", ""};
    const bool areTimed = hasTimeLimit(one) && hasTimeLimit(two);
    for (const auto& [name, value] : one.items()) {
        if (areTimed && (name == "minutes" || name == "answer_tokens"))
            continue;
        const auto found = two.find(name);
        if (found == two.end() || *found != value)
            return fmt::format("{} is {}, but was {}",
                               name,
                               value.dump(),
                               found == two.end() ? "not known" : found->dump());
    }
    for (const auto& [name, value] : two.items())
        if (!one.contains(name))
            return fmt::format("{} is not known, but was {}", name, value.dump());
    return std::string();
}

} // namespace engine
