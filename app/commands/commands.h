// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/interrupt.h"
#include "app/streams/console.h"
#include "engine/base/result.h"

#include <CLI/CLI.hpp>

#include <functional>

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

/// Each adds one sub-command; parsing it fills `chosen`.
void addGenerateCommand(CLI::App& app, ChosenCommand& chosen);
void addChatCommand(CLI::App& app, ChosenCommand& chosen);
void addDecodersCommand(CLI::App& app, ChosenCommand& chosen);
void addCompareCommand(CLI::App& app, ChosenCommand& chosen);
void addBenchCommand(CLI::App& app, ChosenCommand& chosen);
void addSearchCommand(CLI::App& app, ChosenCommand& chosen);
void addStreamCommand(CLI::App& app, ChosenCommand& chosen);
void addLibraryCommand(CLI::App& app, ChosenCommand& chosen);
void addForwardCommand(CLI::App& app, ChosenCommand& chosen);
void addTokenizeCommands(CLI::App& app, ChosenCommand& chosen);
void addInspectCommand(CLI::App& app, ChosenCommand& chosen);
void addReplayCommand(CLI::App& app, ChosenCommand& chosen);

} // namespace app
