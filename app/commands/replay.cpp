// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"
#include "app/number_check.h"
#include "app/streams/counted.h"
#include "engine/session/recording/event_json.h"
#include "engine/session/recording/run_recording.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

namespace app {

using namespace engine;

namespace {

struct ReplayOptions {
    std::string path;
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
};

/// The text in quotes, with line ends and the like escaped, so that it stays on one line.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string figure(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string inWords(const PlanOutline& plan) {
    const bool exits = plan.exitAfterLayer >= 0 && plan.exitAfterLayer < plan.layerCount - 1;
    return fmt::format("skips attention {} and mlp {} of {}{}",
                       nlohmann::json(plan.skipped.attention).dump(),
                       nlohmann::json(plan.skipped.mlp).dump(),
                       counted(plan.layerCount, "layer"),
                       exits ? fmt::format(", exits after layer {}", plan.exitAfterLayer) : "");
}

std::string inWords(const SettingValues& values) {
    std::string text;
    for (const auto& [name, value] : values)
        text += fmt::format(" {}={}", name, settingText(value));
    return text.empty() ? " none" : text;
}

std::string inWords(const DecodeMetrics& metrics) {
    return fmt::format(
        "{}, M {}, acceptance {} ({} of {}), tokens per layer {}, speedup {} over {}; "
        "ms: draft {:.0f}, verify {:.0f}, search {:.0f}, other {:.0f}",
        counted(metrics.rounds, "round"),
        figure(metrics.tokensPerRound(), 2),
        figure(metrics.acceptance(), 3),
        metrics.accepted,
        counted(metrics.draftSteps, "draft step"),
        figure(metrics.tokensPerLayer(), 4),
        figure(metrics.speedup(), 2),
        counted(metrics.baselineTokens, "baseline token"),
        metrics.draftMs,
        metrics.verifyMs,
        metrics.searchMs,
        metrics.otherMs);
}

/// An event as a readable line; empty for events that only update a display.
struct EventLine {
    std::string operator()(const ModelLoadProgress&) const { return {}; }

    std::string operator()(const PromptProgress&) const { return {}; }

    std::string operator()(const Statistics&) const { return {}; }

    std::string operator()(const ModelLoaded& event) const {
        return fmt::format("model {}: {}, {}, {} {}, context {}",
                           event.path,
                           event.model.architecture,
                           counted(event.model.layerCount, "layer"),
                           event.model.backend,
                           event.model.precision,
                           event.model.contextLength);
    }

    std::string operator()(const ModelUnloaded&) const { return "model unloaded"; }

    std::string operator()(const ModelInspected& event) const {
        return fmt::format("inspected {}: {}, {}, {:.2f} GB with {} {} and a context of {}",
                           event.path,
                           event.model.architecture,
                           counted(event.model.layerCount, "layer"),
                           static_cast<double>(event.memory.totalBytes) / 1e9,
                           event.model.backend,
                           event.model.precision,
                           event.model.contextLength);
    }

    std::string operator()(const TokensCounted& event) const {
        return fmt::format("conversation of {}: {}",
                           counted(event.perMessage.size(), "message"),
                           counted(event.total, "token"));
    }

    std::string operator()(const TasksListed& event) const {
        return fmt::format("known tasks: {}", event.tasks.size());
    }

    std::string operator()(const SkipSetsListed& event) const {
        return fmt::format("skip sets kept for this model: {}", event.own.sets.size());
    }

    std::string operator()(const LensTokensRead& event) const {
        return fmt::format("lens: tokens {} to {} of prompt {}",
                           event.first,
                           event.first + static_cast<int>(event.tokens.size()) - 1,
                           event.promptId);
    }

    std::string operator()(const LensProgress& event) const {
        return fmt::format("lens: {:.0f} %", 100 * event.part);
    }

    std::string operator()(const LensFinished& event) const {
        return fmt::format(
            "lens {} after {:.2f} s", event.isStopped ? "stopped" : "finished", event.seconds);
    }

    std::string operator()(const AttentionRead& event) const {
        return fmt::format("attention of layer {} at token {} of prompt {}, {}",
                           event.layer,
                           event.token,
                           event.promptId,
                           counted(event.heads.size(), "head"));
    }

    std::string operator()(const DecoderChosen& event) const {
        return fmt::format("decoder {}, settings:{}", event.info.name, inWords(event.settings));
    }

    std::string operator()(const SettingsChanged& event) const {
        return "settings changed:" + inWords(event.settings);
    }

    std::string operator()(const SamplingChanged& event) const {
        return fmt::format("sampling changed: temperature {}, top-k {}, top-p {}, seed {}",
                           event.sampling.temperature,
                           event.sampling.topK,
                           event.sampling.topP,
                           event.sampling.seed);
    }

    std::string operator()(const SpanStarted& event) const {
        return fmt::format("the totals start again (span {})", event.span);
    }

    std::string operator()(const PromptStarted& event) const {
        return fmt::format("prompt {}: {}, {} of them cached{}",
                           event.promptId,
                           counted(event.promptTokens, "token"),
                           event.reusedTokens,
                           event.task.empty() ? "" : ", task " + event.task);
    }

    std::string operator()(const TaskRecognised& event) const {
        if (event.isNew)
            return fmt::format("the prompt is like none before: task {} begins", event.task);
        return fmt::format(
            "the prompt looks like task {} (likeness {:.2f})", event.task, event.likeness);
    }

    std::string operator()(const StepFinished& event) const {
        std::string how = event.isPlain()
                              ? "plain"
                              : fmt::format("{} of {} accepted, plan {}",
                                            event.path.size(),
                                            counted(event.confidences.size(), "draft step"),
                                            event.planId);
        if (!event.sides.empty())
            how += fmt::format(", {} outside the draft", counted(event.sides.size(), "row"));
        for (const ShownTable& table : event.tables)
            how += fmt::format(", {} of {}", table.name, counted(table.rows.size(), "row"));
        return fmt::format("step {}: {} ({}) {}",
                           event.step,
                           counted(event.tokens.size(), "token"),
                           how,
                           quoted(event.text));
    }

    std::string operator()(const TextReleased& event) const {
        return "text released: " + quoted(event.text);
    }

    std::string operator()(const TrialFinished& event) const {
        return fmt::format("trial {} ({}): score {:.3f} ({} of {}), best {:.3f}{}; {}",
                           event.index,
                           event.trialKind,
                           event.score,
                           std::count(event.ticks.begin(), event.ticks.end(), 1),
                           counted(event.ticks.size(), "token"),
                           event.best,
                           event.isBest ? ", the new best" : "",
                           inWords(event.plan));
    }

    std::string operator()(const PlanChanged& event) const {
        if (event.isBeside)
            return fmt::format("found beside the drafts ({}, r {:.2f}): {}",
                               event.reason,
                               event.skipRatio,
                               inWords(event.plan));
        return fmt::format("plan {} ({}, r {:.2f}{}{}): {}",
                           event.planId,
                           event.reason,
                           event.skipRatio,
                           event.ratioReason.empty()
                               ? std::string()
                               : fmt::format(", {:.2f} was asked for", event.askedRatio),
                           event.task.empty() ? std::string() : ", task " + event.task,
                           inWords(event.plan)) +
               (event.ratioReason.empty() ? std::string() : "; " + event.ratioReason);
    }

    std::string operator()(const ForecastMade& event) const {
        return fmt::format("drafting with it would give {:.2f} times the plain speed",
                           event.forecast.speedup());
    }

    std::string operator()(const PhaseChanged& event) const {
        return fmt::format("phase {}", decoderPhaseName(event.phase));
    }

    std::string operator()(const Note& event) const { return event.text; }

    std::string operator()(const PromptFinished& event) const {
        return fmt::format("prompt {} ended ({}): {}, {:.1f} tokens/s; {}",
                           event.promptId,
                           finishReasonName(event.reason),
                           counted(event.tokens.size(), "token"),
                           event.generation.tokensPerSecond(),
                           inWords(event.decoding));
    }

    std::string operator()(const EngineFailed& event) const {
        return fmt::format("{} failed: {} {}", event.task, event.error.message, event.error.hint);
    }

    std::string operator()(const RecordingStarted& event) const {
        return "recording into " + event.path;
    }

    std::string operator()(const RecordingStopped& event) const {
        return "recording stopped" + (event.error ? ": " + event.error->message : "");
    }
};

/// The totals of a whole recording.
struct ReplaySummary {
    std::int64_t events = 0;
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    std::int64_t prompts = 0;

    void add(const EngineEvent& event) {
        ++events;
        if (const StepFinished* step = event.as<StepFinished>()) {
            ++steps;
            tokens += static_cast<std::int64_t>(step->tokens.size());
        }
        prompts += event.as<PromptFinished>() != nullptr ? 1 : 0;
    }
};

void printEvent(const Console& console, const EngineEvent& event) {
    if (console.isJson()) {
        console.rawJsonLine(eventJson(event));
        return;
    }
    std::string line = std::visit(EventLine(), event.content);
    std::replace(line.begin(), line.end(), '\n', ' ');
    if (!line.empty())
        console.line(fmt::format(
            "{:>10.3f} s  {}{}",
            event.time,
            event.conversation == 0 ? "" : fmt::format("conversation {}: ", event.conversation),
            line));
}

void printSummary(const Console& console, const ReplaySummary& summary, std::int64_t unknown) {
    console.jsonLine({{"event", "done"},
                      {"events", summary.events},
                      {"unknown_events", unknown},
                      {"prompts", summary.prompts},
                      {"steps", summary.steps},
                      {"tokens", summary.tokens}});
    Console::note(fmt::format(
        "[{}, {} ended, {}, {}{}]",
        counted(summary.events, "event"),
        counted(summary.prompts, "prompt"),
        counted(summary.steps, "step"),
        counted(summary.tokens, "token"),
        unknown == 0 ? ""
                     : fmt::format("; ignored: {} of unknown kinds", counted(unknown, "event"))));
}

/// Everything before a damaged place is printed, then the damage is reported.
Result<void> runReplay(const ReplayOptions& options, CommandContext& context) {
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY(RunReader reader, RunReader::open(options.path));
    ReplaySummary summary;
    while (summary.events < options.limit) {
        if (stop.stop_requested())
            return cancelledError();
        ENGINE_TRY(const auto event, reader.next());
        if (!event)
            break;
        summary.add(*event);
        printEvent(context.console, *event);
    }
    printSummary(context.console, summary, reader.unknownEvents());
    return {};
}

} // namespace

void addReplayCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand("replay", "Print a recorded run, event by event");
    const auto options = std::make_shared<ReplayOptions>();
    command->add_option("FILE", options->path, "The recording, NAME.swiftrun")->required();
    command->add_option("--limit", options->limit, "Print only the first N events")
        ->transform(wholeFrom(0));
    command->footer("Example: swift-run replay run.swiftrun --limit 100");
    addRun(*command, chosen, options, runReplay);
}

} // namespace app
