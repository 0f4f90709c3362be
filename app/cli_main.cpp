// SPDX-License-Identifier: Apache-2.0
// swift-run: everything without a window.
#include "app/commands/commands.h"
#include "app/exit_codes.h"
#include "app/streams/standard_output.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

namespace {

std::atomic<bool> hasMemoryRunOut = false;

/// Called by operator new before it throws.
void noteMissingMemory() {
    hasMemoryRunOut = true;
    throw std::bad_alloc();
}

/// If memory runs out in another thread, or while a library cleans up, the only way is to exit.
/// Nothing here allocates.
[[noreturn]] void endForGood() {
    if (hasMemoryRunOut) {
        constexpr std::string_view kSentence =
            "swift-run: There is not enough memory for this.\n"
            "  Close other programs, or choose a smaller model or context.\n";
        const auto told = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
        _exit(told >= 0 ? app::kNoMemory : app::kIo);
    }
    std::abort();
}

/// The exit code of stopped work names the signal that stopped it.
engine::Error withCause(const engine::Error& error, int signal) {
    if (error.code != engine::ErrorCode::Cancelled || signal == 0)
        return error;
    return {engine::ErrorCode::Cancelled,
            signal == SIGTERM ? "Stopped by SIGTERM: the system or another program asked for it."
                              : "Stopped by Ctrl+C.",
            ""};
}

/// While it exists, lost output stops the work.
class LossWatch {
public:
    explicit LossWatch(app::InterruptWatcher& interrupt) {
        app::StandardOutput::onLoss([&interrupt] { interrupt.stopWork(); });
    }

    ~LossWatch() { app::StandardOutput::onLoss(nullptr); }

    LossWatch(const LossWatch&) = delete;
    LossWatch& operator=(const LossWatch&) = delete;
};

int runCommand(const app::ChosenCommand& chosen, const app::Console& console) {
    app::InterruptWatcher interrupt;
    const LossWatch watch(interrupt);
    app::CommandContext context{console, interrupt};
    const auto result = chosen.run(context);
    if (result)
        return app::kSuccess;
    const engine::Error error = withCause(result.error(), interrupt.signal());
    const bool isCancelled = error.code == engine::ErrorCode::Cancelled;
    if (isCancelled && app::StandardOutput::isLost() && interrupt.signal() == 0)
        return app::kIo; // reported at the end
    console.error(error);
    return isCancelled && interrupt.signal() == SIGTERM ? app::kTerminated
                                                        : app::exitCodeOf(error.code);
}

/// The one place that catches unexpected exceptions.
template <typename Run> int guarded(const app::Console& console, Run&& run) {
    try {
        return run();
    } catch (const std::bad_alloc&) {
        console.error({engine::ErrorCode::NoMemory,
                       "There is not enough memory for this.",
                       "Close other programs, or choose a smaller model or context."});
        return app::kNoMemory;
    } catch (const std::filesystem::filesystem_error& error) {
        console.error({engine::ErrorCode::Io,
                       fmt::format("{}: {}.", error.path1().string(), error.code().message()),
                       "Check the path and its permissions."});
        return app::kIo;
    } catch (const std::system_error& error) { // a thread that could not be started
        console.error({engine::ErrorCode::NoMemory,
                       fmt::format("The system cannot start more threads for the program: {}.",
                                   error.code().message()),
                       "Close other programs, or ask for fewer --threads."});
        return app::kNoMemory;
    } catch (const std::exception& exception) {
        app::Console::note(std::string("swift-run: an error inside the program: ") +
                           exception.what());
        app::Console::note("  This should not happen; please report it with the command you gave.");
        return app::kBug;
    }
}

/// The exit code; lost output is an error, too.
int finish(const app::Console& console, int exitCode) {
    const auto written = app::StandardOutput::finish();
    if (written)
        return exitCode;
    console.error(written.error());
    return exitCode == app::kSuccess ? app::kIo : exitCode;
}

/// A value that could not be read is reported without the library's wording, and a word that stands
/// where a command should is named.
std::string sentenceOf(const CLI::ParseError& error, const CLI::App& cli) {
    const std::string sentence = error.what();
    const std::vector<std::string> unknown = cli.remaining(true);
    if (sentence == CLI::RequiredError::Subcommand(1).what() && !unknown.empty() &&
        !unknown.front().starts_with('-'))
        return fmt::format("There is no subcommand \"{}\".", unknown.front());
    constexpr std::string_view kUnread = "Could not convert: ";
    return sentence.starts_with(kUnread)
               ? sentence.substr(kUnread.size()) + " is not a value that this option takes."
               : sentence;
}

/// Texts are taken as they are typed: "[a,b]" is one, and an empty one is not the same as none.
/// Only of files may several follow an option, as the shell writes them for a pattern.
void takeTextsAsTyped(CLI::App& command) {
    static const std::set<std::string> kTakeFiles = {"--data", "--and-model"};
    static const std::set<std::string> kNeverEmpty = {
        "--data", "--draft-adapter", "--json-schema", "--model", "--out", "--regex", "--stop"};
    const auto refuseEmpty = [](const std::string& typed) {
        return typed.empty() ? std::string("The text is empty.") : std::string();
    };
    for (CLI::Option* option : command.get_options({})) {
        if (!option->get_positional() && !kTakeFiles.contains(option->get_name()))
            option->allow_extra_args(false);
        if (kNeverEmpty.contains(option->get_name()))
            option->check(refuseEmpty, "");
    }
    for (CLI::App* inner : command.get_subcommands({}))
        takeTextsAsTyped(*inner);
}

bool hasOption(const CLI::App& command, const std::string& name) {
    const auto options = command.get_options({});
    const auto commands = command.get_subcommands({});
    return std::any_of(options.begin(),
                       options.end(),
                       [&](const CLI::Option* option) { return option->check_lname(name); }) ||
           std::any_of(commands.begin(), commands.end(), [&](const CLI::App* inner) {
               return hasOption(*inner, name);
           });
}

/// "--stop=": the library would take the next word as its value.
const char* wordWithoutValue(const CLI::App& cli, int argc, char** argv) {
    char** const found = std::find_if(argv + 1, argv + argc, [&](std::string_view word) {
        return word.starts_with("--") && word.ends_with('=') &&
               hasOption(cli, std::string(word.substr(2, word.size() - 3)));
    });
    return found == argv + argc ? nullptr : *found;
}

/// Nothing if the command is to be run, otherwise the exit code. Words that cannot be read are told
/// like any other error, in JSON too where they ask for it.
std::optional<int> parse(CLI::App& cli, int argc, char** argv) {
    const app::Console console(std::find(argv, argv + argc, std::string_view("--json")) !=
                               argv + argc);
    if (const char* const word = wordWithoutValue(cli, argc, argv)) {
        console.error({engine::ErrorCode::InvalidInput,
                       fmt::format("{} is followed by no value.", word),
                       "Write the value behind it, or a space and \"\" for an empty one."});
        return app::kUsage;
    }
    takeTextsAsTyped(cli);
    try {
        cli.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::Success& request) { // --help, --version
        std::ostringstream text;
        cli.exit(request, text, text);
        // For streams, also those of the library, a failed allocation only cuts the text.
        if (hasMemoryRunOut)
            throw std::bad_alloc();
        app::StandardOutput::write(text.str());
        return app::kSuccess;
    } catch (const CLI::ParseError& error) {
        console.error({engine::ErrorCode::InvalidInput,
                       sentenceOf(error, cli),
                       "swift-run --help lists the commands, swift-run COMMAND --help their "
                       "options."});
        return app::kUsage;
    }
}

std::optional<int> choose(app::ChosenCommand& chosen, int argc, char** argv) {
    CLI::App cli("swift-run runs language models from this computer's disk, without a window.");
    cli.footer(
        "Without --model, the commands use the default model that installer/run.sh fetches.\n"
        "Exit codes: 0 done, 1 error inside the program, 2 wrong input, 3 not found,\n"
        "4 not supported, 5 damaged file, 6 out of memory, 7 read or write failed,\n"
        "8 numbers not finite, 9 GPU failed, 130 stopped by Ctrl+C,\n"
        "143 stopped by SIGTERM.");
    cli.set_version_flag("--version", "swift-run " SWIFT_STUDIO_VERSION);
    cli.require_subcommand(1);
    app::addGenerateCommand(cli, chosen);
    app::addChatCommand(cli, chosen);
    app::addDecodersCommand(cli, chosen);
    app::addCompareCommand(cli, chosen);
    app::addBenchCommand(cli, chosen);
    app::addSearchCommand(cli, chosen);
    app::addStreamCommand(cli, chosen);
    app::addExperimentCommand(cli, chosen);
    app::addLibraryCommand(cli, chosen);
    app::addForwardCommand(cli, chosen);
    app::addLensCommand(cli, chosen);
    app::addTokenizeCommands(cli, chosen);
    app::addInspectCommand(cli, chosen);
    app::addReplayCommand(cli, chosen);
    app::addTuneCommand(cli, chosen);
    return parse(cli, argc, argv);
}

} // namespace

int main(int argc, char** argv) {
    std::set_new_handler(noteMissingMemory);
    std::set_terminate(endForGood);
    app::holdStandardStreams();
    // LibTorch's threads wait for each other by spinning, by default for milliseconds: beside other
    // work on the same cores that made a token 4 times slower. Read once, when libgomp is loaded.
    setenv("GOMP_SPINCOUNT", "20000", 0);
    app::ChosenCommand chosen;
    std::optional<int> exitCode;
    const int failure = guarded(app::Console(false), [&] {
        exitCode = choose(chosen, argc, argv);
        return app::kSuccess;
    });
    if (failure != app::kSuccess)
        return failure;
    const app::Console console(chosen.json);
    if (!exitCode)
        exitCode = guarded(console, [&] { return runCommand(chosen, console); });
    return guarded(console, [&] { return finish(console, *exitCode); });
}
