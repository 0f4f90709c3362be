// SPDX-License-Identifier: Apache-2.0
// swift-run: everything without a window.
#include "app/commands/commands.h"
#include "app/exit_codes.h"

#include <cstdlib>
#include <new>

namespace {

/// Runs the chosen command; the one place that catches what nobody expected.
int runCommand(const app::ChosenCommand& chosen) {
    const app::Console console(chosen.json);
    app::InterruptWatcher interrupt;
    app::CommandContext context{console, interrupt};
    try {
        const auto result = chosen.run(context);
        if (result)
            return app::kSuccess;
        console.error(result.error());
        return app::exitCodeOf(result.error().code);
    } catch (const std::bad_alloc&) {
        console.error({engine::ErrorCode::NoMemory,
                       "There is not enough memory for this.",
                       "Close other programs, or choose a smaller model or context."});
        return app::kNoMemory;
    } catch (const std::exception& exception) {
        app::Console::note(std::string("swift-run: an error inside the program: ") +
                           exception.what());
        app::Console::note("  This should not happen; please report it with the command you gave.");
        return app::kBug;
    }
}

} // namespace

int main(int argc, char** argv) {
    // LibTorch's threads wait for each other by spinning, by default for milliseconds: beside other
    // work on the same cores that made a token 4 times slower. Read once, when libgomp is loaded.
    setenv("GOMP_SPINCOUNT", "20000", 0);
    CLI::App cli("swift-run runs language models from this computer's disk, without a window.");
    cli.footer(
        "Without --model, the commands use the default model that installer/run.sh fetches.\n"
        "Exit codes: 0 done, 1 error inside the program, 2 wrong input, 3 not found,\n"
        "4 not supported, 5 damaged file, 6 out of memory, 7 read or write failed,\n"
        "8 numbers not finite, 130 stopped by Ctrl+C.");
    cli.set_version_flag("--version", "swift-run " SWIFT_STUDIO_VERSION);
    cli.require_subcommand(1);
    app::ChosenCommand chosen;
    app::addGenerateCommand(cli, chosen);
    app::addChatCommand(cli, chosen);
    app::addDecodersCommand(cli, chosen);
    app::addCompareCommand(cli, chosen);
    app::addBenchCommand(cli, chosen);
    app::addSearchCommand(cli, chosen);
    app::addStreamCommand(cli, chosen);
    app::addForwardCommand(cli, chosen);
    app::addTokenizeCommands(cli, chosen);
    app::addInspectCommand(cli, chosen);
    app::addReplayCommand(cli, chosen);
    try {
        cli.parse(argc, argv);
    } catch (const CLI::Success& request) { // --help, --version
        return cli.exit(request);
    } catch (const CLI::ParseError& error) {
        app::Console::note(std::string("swift-run: ") + error.what());
        app::Console::note(
            "  swift-run --help lists the commands, swift-run COMMAND --help their options.");
        return app::kUsage;
    }
    return runCommand(chosen);
}
