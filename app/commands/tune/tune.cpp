// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/text_options.h"
#include "app/commands/tune/compare/tune_compare.h"
#include "app/commands/tune/tune_run.h"
#include "app/number_check.h"
#include "engine/session/loading/draft_adapter_choice.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace app {

using namespace engine;

namespace {

Error tuneInput(std::string message, std::string hint) {
    return {ErrorCode::InvalidInput, std::move(message), std::move(hint)};
}

bool isSet(const TuneOptions& options, const std::string& name) {
    return std::ranges::any_of(options.settings, [&](const std::string& setting) {
        return setting.starts_with(name + '=');
    });
}

Result<TuningPlan> tuningPlan(const TuneOptions& options) {
    ENGINE_TRY(const TuningRecipe recipe, recipeNamed(options.recipe));
    ENGINE_TRY(TuningPlan plan, planOfProfile(options.profile, recipe));
    plan.answerTokens = options.answerTokens.value_or(plan.answerTokens);
    plan.epochs = options.epochs.value_or(plan.epochs);
    plan.steps = options.steps.value_or(0);
    plan.minutes = options.minutes.value_or(0.0);
    plan.seed = options.seed;
    for (const std::string& setting : options.settings)
        ENGINE_TRY_DO(applySetting(plan, setting));
    if (plan.isFull && isSet(options, "rank"))
        return tuneInput("--set rank is of LoRA, but --set full=on trains all weights without it.",
                         "Leave one out.");
    return plan;
}

Result<void> checkTuneOptions(const TuneOptions& options) {
    if (options.data.paths.empty() && options.selfPrompts == 0)
        return tuneInput("tune needs prompts for the model to answer.",
                         "Name them with --data, or let the model write some with "
                         "--self-prompts.");
    if (!options.licences.empty() && options.data.paths.empty())
        return tuneInput("--licence is that of --data, but there is no --data.",
                         "Leave it out: the prompts are the model's own text.");
    if (options.licences.size() > 1 && options.licences.size() != options.data.paths.size())
        return tuneInput(fmt::format("There are {} --licence for {} --data.",
                                     options.licences.size(),
                                     options.data.paths.size()),
                         "Give one for all of them, or one for each in the same order.");
    if (options.answerTokens && *options.answerTokens < kLeastAnswerTokens)
        return tuneInput(fmt::format("--answer-tokens is {}, but from fewer than {} answer tokens "
                                     "nothing can be learnt.",
                                     *options.answerTokens,
                                     kLeastAnswerTokens),
                         "Give more of them.");
    if (options.out.path.empty())
        return tuneInput("tune needs a place to write its result to.", "Name it with --out.");
    if (options.steps && options.minutes)
        return tuneInput("--steps and --minutes both say how long to train.", "Leave one out.");
    if (options.steps && options.epochs)
        return tuneInput("--steps and --epochs both say how long to train.", "Leave one out.");
    if (options.resumes && options.retrains)
        return tuneInput("--resume goes on with a training, --retrain begins one anew.",
                         "Leave one out.");
    if (options.beginsAnew && (options.resumes || options.retrains))
        return tuneInput("--anew deletes the work of an earlier run, which --resume and --retrain "
                         "need.",
                         "Leave one out.");
    if (options.isUsed && options.onlyCollects)
        return tuneInput("--use is for an adapter, and --collect-only makes none.",
                         "Leave it out, and give it with --resume.");
    if (options.isUsed && options.recipe != "draft")
        return tuneInput(
            fmt::format("--use is for draft adapters, and the recipe {} makes a model.",
                        options.recipe),
            "Leave it out, and name the folder with --model afterwards.");
    return {};
}

Result<void> checkCompareOptions(const TuneOptions& options) {
    if (!options.check.empty() || !options.out.path.empty() || options.selfPrompts > 0 ||
        options.isUsed)
        return tuneInput("--compare only measures a copy of the model, but something else was "
                         "asked for as well.",
                         "Leave out --compare, or --check, --self-prompts, --out and --use.");
    if (options.data.paths.empty())
        return tuneInput("--compare needs prompts for both to answer.", "Name them with --data.");
    return {};
}

/// A folder may be named with a slash behind it, and no adapter is used meanwhile.
TuneOptions asTheyAreRun(TuneOptions options) {
    options.model.draftAdapter = kNoDraftAdapter;
    std::string& path = options.out.path;
    while (options.recipe != "draft" && path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return options;
}

Result<void> runTune(const TuneOptions& options, CommandContext& context) {
    if (!options.compare.empty()) {
        ENGINE_TRY_DO(checkCompareOptions(options));
        return compareCopy(options, context.console, context.interrupt.beginWork());
    }
    if (!options.check.empty()) {
        if (options.isUsed || !options.out.path.empty() || !options.data.paths.empty() ||
            options.selfPrompts > 0)
            return Error{ErrorCode::InvalidInput,
                         "--check only looks at a file, but a training was asked for as well.",
                         "Leave out --check, or --data, --self-prompts, --out and --use."};
        return checkAdapterFile(options, context.console);
    }
    ENGINE_TRY_DO(checkTuneOptions(options));
    ENGINE_TRY(const TuningPlan plan, tuningPlan(options));
    const std::stop_token stop = context.interrupt.beginWork();
    return runTuning(asTheyAreRun(options), plan, context.console, stop);
}

std::string tuneSettingsHelp() {
    std::vector<std::string> lines;
    for (const TuningRecipe recipe :
         {TuningRecipe::Draft, TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        lines.push_back(fmt::format("Settings for --set of the recipe {} (range; default):",
                                    recipeName(recipe)));
        for (const SettingInfo& setting : tuningSettings(recipe))
            lines.push_back(fmt::format("  {} ({}; {}): {}",
                                        setting.name,
                                        settingRange(setting),
                                        settingText(setting, setting.initial),
                                        setting.meaning));
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
}

void addPromptOptions(CLI::App& command, TuneOptions& options) {
    constexpr int kMostSelfPrompts = 1'000'000;
    command
        .add_option("--self-prompts",
                    options.selfPrompts,
                    "So many prompts are written by the model itself, beside those of --data or "
                    "without any; needs a chat template")
        ->transform(numberFrom(0, kMostSelfPrompts))
        ->capture_default_str();
    command.add_option("--licence",
                       options.licences,
                       "The licence of the data, which the result names: given once for all "
                       "--data, or once for each in the same order; default: unknown");
}

void addLengthOptions(CLI::App& command, TuneOptions& options) {
    constexpr std::int64_t kMost = 1'000'000'000;
    command
        .add_option("--profile",
                    options.profile,
                    "quick, full or overnight: 300,000, 1,200,000 or 4,000,000 answer tokens, "
                    "three times, or twice where the model is changed")
        ->check(CLI::IsMember(tuningProfiles()))
        ->capture_default_str();
    command
        .add_option("--answer-tokens",
                    options.answerTokens,
                    "Tokens of the model's answers to train on; default: the profile's")
        ->transform(numberFrom<std::int64_t>(1, kMost));
    command
        .add_option(
            "--epochs", options.epochs, "How often each is trained on; default: the profile's")
        ->transform(numberFrom(1, 1000));
    command.add_option("--steps", options.steps, "Steps of training; default: those of the epochs")
        ->transform(numberFrom<std::int64_t>(1, kMost));
    command
        .add_option("--minutes",
                    options.minutes,
                    "About how many minutes all of it may take; .35 of them go to the answers")
        ->transform(numberFrom(0.01, 100'000.0));
}

void addLimitOptions(CLI::App& command, TuneOptions& options) {
    command
        .add_option("--memory-mb",
                    options.memoryMb,
                    "Memory that the training may take; one that needs more is refused with the "
                    "figure")
        ->transform(numberFrom(1.0, 1e9));
    command
        .add_option("--disk-gb",
                    options.diskGb,
                    "Room on the disk that it may take while it runs; with --minutes, no more "
                    "answers are made than fit")
        ->transform(numberFrom(0.000001, 1e6));
}

void addCompareOptions(CLI::App& command, TuneOptions& options) {
    CLI::Option* compare = command.add_option(
        "--compare",
        options.compare,
        "Measure this folder, which layerskip or space has made, beside --model on the prompts of "
        "--data: speed, tokens a round, perplexity and the answers' quality");
    command
        .add_flag("--held-out",
                  options.isHeldOut,
                  "With --compare: use only the prompts that tune does not train on")
        ->needs(compare);
    command
        .add_option("--max-tokens", options.maxTokens, "With --compare: longest answer, in tokens")
        ->transform(wholeFrom(1))
        ->capture_default_str()
        ->needs(compare);
}

void addRunOptions(CLI::App& command, TuneOptions& options) {
    command.add_flag("--resume",
                     options.resumes,
                     "Go on with a run that was stopped or killed: give the same options as then; "
                     "only --minutes, --memory-mb and --disk-gb may be others, more or less");
    command.add_flag("--anew",
                     options.beginsAnew,
                     "Delete the work of an earlier run in OUT.work and begin anew; of OUT itself "
                     "this says nothing");
    command.add_flag("--retrain",
                     options.retrains,
                     "Use the answers of an earlier run and train anew, perhaps with other --set");
    command
        .add_option("--checkpoint-minutes",
                    options.checkpointMinutes,
                    "Minutes between two states that a killed run can go on from")
        ->transform(numberFrom(0.0, 10'000.0))
        ->capture_default_str();
    command.add_flag("--collect-only", options.onlyCollects, "Collect the answers, train later");
    command.add_flag("--keep-work",
                     options.keepsWork,
                     "Keep OUT.work with answers and states when the result is written");
    command.add_flag(
        "--use",
        options.isUsed,
        "Draft with the adapter from now on, unless the one in use is better on the held-out "
        "answers; for the recipe draft");
}

} // namespace

void addTuneCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand(
        "tune",
        "Train on the model's own answers: a draft adapter, or a copy of the model that drafts by "
        "itself; the model stays as it is");
    const auto options = std::make_shared<TuneOptions>();
    command
        ->add_option("--recipe",
                     options->recipe,
                     "What is trained: draft, an adapter beside the model; layerskip, a new model "
                     "that drafts with its first layers (decoders layerskip, del); space, a new "
                     "model that drafts with mask tokens (decoder space)")
        ->check(CLI::IsMember({"draft", "layerskip", "space"}))
        ->default_str("draft");
    options->recipe = "draft";
    addDataOptions(*command, options->data);
    command->get_option("--data")->required(false);
    addPromptOptions(*command, *options);
    addOutputOptions(
        *command,
        options->out,
        "--out",
        "The adapter file to write, or the folder of the new model; OUT.work beside it "
        "holds what the run needs");
    command->add_option(
        "--check", options->check, "Say what this adapter file holds and whether it fits --model");
    addLengthOptions(*command, *options);
    command->add_option("--seed", options->seed, "The same seed gives the same result")
        ->transform(numberFrom<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
        ->capture_default_str();
    command->add_option(
        "--set", options->settings, "A setting, NAME=VALUE; may be given several times");
    addRunOptions(*command, *options);
    addLimitOptions(*command, *options);
    addCompareOptions(*command, *options);
    addModelOptions(*command, options->model);
    addContextOption(*command, options->model);
    addRawOption(*command, options->isRaw);
    command->footer(tuneSettingsHelp());
    addRun(*command, chosen, options, runTune);
}

} // namespace app
