// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/interrupt.h"
#include "app/streams/console.h"
#include "engine/base/result.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

namespace app {

/// What every command is given.
struct CommandContext {
    const Console& console;
    InterruptWatcher& interrupt;
};

/// The chosen command, ready to run; `json` selects its output format.
struct ChosenCommand {
    bool json = false;
    std::function<engine::Result<void>(CommandContext&)> run;
};

/// Adds --json, and has the command run with `options` if it is the chosen one.
template <typename Options>
void addRun(CLI::App& command,
            ChosenCommand& chosen,
            const std::shared_ptr<Options>& options,
            engine::Result<void> (*run)(const Options&, CommandContext&),
            const std::string& jsonHelp = "Write one JSON object per line to standard output") {
    command.add_flag("--json", chosen.json, jsonHelp);
    command.callback([options, run, &chosen] {
        chosen.run = [options, run](CommandContext& context) { return run(*options, context); };
    });
}

/// Each adds one sub-command; parsing it fills `chosen`.
void addGenerateCommand(CLI::App& app, ChosenCommand& chosen);
void addChatCommand(CLI::App& app, ChosenCommand& chosen);
void addDecodersCommand(CLI::App& app, ChosenCommand& chosen);
void addCompareCommand(CLI::App& app, ChosenCommand& chosen);
void addBenchCommand(CLI::App& app, ChosenCommand& chosen);
void addExperimentCommand(CLI::App& app, ChosenCommand& chosen);
void addSearchCommand(CLI::App& app, ChosenCommand& chosen);
void addStreamCommand(CLI::App& app, ChosenCommand& chosen);
void addLibraryCommand(CLI::App& app, ChosenCommand& chosen);
void addForwardCommand(CLI::App& app, ChosenCommand& chosen);
void addLensCommand(CLI::App& app, ChosenCommand& chosen);
void addTokenizeCommands(CLI::App& app, ChosenCommand& chosen);
void addInspectCommand(CLI::App& app, ChosenCommand& chosen);
void addReplayCommand(CLI::App& app, ChosenCommand& chosen);
void addTuneCommand(CLI::App& app, ChosenCommand& chosen);

} // namespace app
