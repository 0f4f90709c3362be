// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuning_plan.h"

#include "engine/base/setting_makers.h"
#include "engine/tuning/trainer.h"

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
                                  Profile{"full", 1'200'000, 4096},
                                  Profile{"overnight", 4'000'000, 4096}};

constexpr int kProfileEpochs = 3;

using PlanJson = nlohmann::ordered_json;

SettingInfo wholeNumber(const char* name, int initial, double low, double high, const char* text) {
    return stepSetting(integerSetting(name, name, initial, {low, high}), "", text);
}

SettingInfo anyNumber(const char* name, double initial, double low, double high, const char* text) {
    return stepSetting(numberSetting(name, name, initial, {low, high}), "", text);
}

std::vector<SettingInfo> makeSettings() {
    const TuningPlan plan;
    return {
        wholeNumber("head", plan.head, 16, 262'144, "Tokens that the adapter can draft."),
        wholeNumber("layers", plan.layers, 1, 4, "Layers of the adapter."),
        wholeNumber("window", plan.window, 0, 8192, "Rows that a row sees; 0 = all."),
        wholeNumber("unroll", plan.unroll, 1, kDepths, "Tokens in a row that the loss counts."),
        stepSetting(choiceSetting("start", "start", {"last_layer", "random"}),
                    "",
                    "Where the adapter's layer starts: as the model's last layer, or at random."),
        anyNumber("rate", plan.rate, 1e-7, 1.0, "Highest rate of the optimiser."),
        anyNumber("depth_decay",
                  plan.depthDecay,
                  0.01,
                  1.0,
                  "Weight of a depth in the loss over that of the one before."),
        anyNumber("stream_loss",
                  plan.streamLoss,
                  0.0,
                  100.0,
                  "Weight of the loss of streams at the start; it falls to 0 at half time."),
        anyNumber("averaging", plan.averaging, 0.0, 0.99999, "Of the moving average of weights."),
        stepSetting(flagSetting("bfloat16", "bfloat16", plan.usesBfloat16),
                    "",
                    "Compute matrix products in bfloat16; the result is another one."),
        wholeNumber("longest_answer", plan.longestAnswer, 8, 4096, "Tokens of an answer, at most."),
        wholeNumber("step_rows", 4096, 16, 65'536, "Rows of a step, about; quick: 2048."),
        wholeNumber("validation_steps",
                    plan.validationSteps,
                    1,
                    1'000'000,
                    "Steps between two validations."),
        wholeNumber("validation_rows",
                    plan.validationRows,
                    16,
                    1'000'000,
                    "Rows that a validation reads, about."),
    };
}

void adopt(TuningPlan& plan, const std::string& name, const SettingValue& value) {
    const auto number = [&value] { return std::get<double>(value); };
    const auto whole = [&value] { return static_cast<int>(std::get<double>(value)); };
    if (name == "head")
        plan.head = whole();
    else if (name == "layers")
        plan.layers = whole();
    else if (name == "window")
        plan.window = whole();
    else if (name == "unroll")
        plan.unroll = whole();
    else if (name == "start")
        plan.start =
            std::get<std::string>(value) == "random" ? LayerStart::Random : LayerStart::LastLayer;
    else if (name == "rate")
        plan.rate = number();
    else if (name == "depth_decay")
        plan.depthDecay = number();
    else if (name == "stream_loss")
        plan.streamLoss = number();
    else if (name == "averaging")
        plan.averaging = number();
    else if (name == "bfloat16")
        plan.usesBfloat16 = number() != 0.0;
    else if (name == "longest_answer")
        plan.longestAnswer = whole();
    else if (name == "step_rows")
        plan.stepRows = whole();
    else if (name == "validation_steps")
        plan.validationSteps = whole();
    else
        plan.validationRows = whole();
}

PlanJson rowsMembers(const TuningPlan& plan,
                     const std::string& model,
                     const std::string& prompts,
                     int context) {
    return {{"version", 1},
            {"model", model},
            {"prompts", prompts},
            {"context", context},
            {"answer_tokens", plan.answerTokens},
            {"minutes", plan.minutes},
            {"longest_answer", plan.longestAnswer},
            {"seed", plan.seed}};
}

} // namespace

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
                         {"threads", threads},
                         {"head", head},
                         {"layers", layers},
                         {"window", window},
                         {"unroll", unroll},
                         {"start", start == LayerStart::Random ? "random" : "last_layer"},
                         {"rate", rate},
                         {"depth_decay", depthDecay},
                         {"stream_loss", streamLoss},
                         {"averaging", averaging},
                         {"bfloat16", usesBfloat16},
                         {"validation_steps", validationSteps},
                         {"validation_rows", validationRows}});
    return plan.dump();
}

Result<TuningPlan> planOfProfile(std::string_view profile) {
    for (const Profile& known : kProfiles)
        if (known.name == profile) {
            TuningPlan plan;
            plan.profile = known.name;
            plan.answerTokens = known.answerTokens;
            plan.epochs = kProfileEpochs;
            plan.stepRows = known.stepRows;
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

const std::vector<SettingInfo>& tuningSettings() {
    static const std::vector<SettingInfo> settings = makeSettings();
    return settings;
}

Result<void> applySetting(TuningPlan& plan, const std::string& typed) {
    const std::size_t equals = typed.find('=');
    if (equals == std::string::npos)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("\"{}\" is no setting.", typed),
                     "Write it as NAME=VALUE, for example --set head=4096."};
    const std::string name = typed.substr(0, equals);
    const SettingInfo* setting = findSetting(tuningSettings(), name);
    if (setting == nullptr)
        return unknownSetting("The recipe draft", tuningSettings(), name);
    ENGINE_TRY(const SettingValue value, parseSettingValue(*setting, typed.substr(equals + 1)));
    adopt(plan, name, value);
    return {};
}

Result<std::string> differenceOf(const std::string& now, const std::string& before) {
    const PlanJson one = PlanJson::parse(now, nullptr, false);
    const PlanJson two = PlanJson::parse(before, nullptr, false);
    if (!one.is_object() || !two.is_object())
        return Error{ErrorCode::CorruptFile, "The plan of the earlier run is damaged.", ""};
    for (const auto& [name, value] : one.items()) {
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
