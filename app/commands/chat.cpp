// SPDX-License-Identifier: Apache-2.0
#include "app/data/prompt_source.h"
#include "app/data/text_session.h"
#include "app/streams/standard_output.h"
#include "app/streams/text_input.h"

#include <unistd.h>

#include <csignal>
#include <utility>

namespace app {

using namespace engine;

namespace {

constexpr std::string_view kHelp = "  /clear  start a new conversation\n  /exit   leave (so does "
                                   "Ctrl+D)\n  /help   this list\n  Ctrl+C stops an answer.";

constexpr std::size_t kMostMessageBytes = 16U << 20U; // no context holds more

/// A conversation on a terminal or a pipe, one line per turn.
class Conversation {
public:
    Conversation(const TextOptions& options, CommandContext& context, TextSession& session)
        : m_options(options)
        , m_context(context)
        , m_session(session) {
        forget();
    }

    Result<void> run() {
        const bool isTerminal = isatty(STDIN_FILENO) != 0;
        while (!StandardOutput::isLost()) {
            ENGINE_TRY(const std::optional<std::string> line, readLine(isTerminal));
            if (!line || line == "/exit" || line == "/quit")
                return isTerminal || m_hasAnswered || !m_hasRefused ? Result<void>()
                                                                    : noAnswerError();
            if (line == "/clear")
                forget();
            else if (line == "/help")
                Console::note(kHelp);
            else if (!line->empty())
                ENGINE_TRY_DO(turn(*line));
        }
        return cancelledError();
    }

private:
    /// Ctrl+C stops the answer alone, SIGTERM the conversation, too.
    Result<std::optional<std::string>> readLine(bool isTerminal) {
        m_context.interrupt.endWork();
        if (m_context.interrupt.signal() == SIGTERM)
            return cancelledError();
        if (isTerminal) {
            std::fputs("\n> ", stderr);
            std::fflush(stderr);
        }
        ENGINE_TRY(std::optional<std::string> line, m_input.nextLine(kMostMessageBytes));
        if (line && line->ends_with('\r')) // as lines end on Windows
            line->pop_back();
        return line;
    }

    void forget() {
        m_messages.clear();
        if (!m_options.system.empty())
            m_messages.push_back({"system", m_options.system});
    }

    /// One message and its answer. An error that the user can correct is reported, and the
    /// conversation goes on.
    Result<void> turn(const std::string& text) {
        m_messages.push_back({"user", text});
        auto answered = m_session.answer({.messages = m_messages}, m_context.interrupt.beginWork());
        if (answered) {
            m_messages.push_back({"assistant", std::move(answered).value().text});
            m_hasAnswered = true;
            return {};
        }
        m_messages.pop_back();
        if (answered.error().code != ErrorCode::InvalidInput)
            return std::move(answered).error();
        m_hasRefused = true;
        m_context.console.error(answered.error());
        Console::note("  The message was not added. /clear starts a new conversation.");
        return {};
    }

    const TextOptions& m_options;
    CommandContext& m_context;
    TextSession& m_session;
    TextInput m_input = TextInput::standard();
    std::vector<PromptMessage> m_messages;
    bool m_hasAnswered = false;
    bool m_hasRefused = false;
};

Result<void> runChat(const TextOptions& options, CommandContext& context) {
    ENGINE_TRY_DO(checkTexts(options));
    const std::stop_token stop = context.interrupt.beginWork();
    TextSession session(options, context.console);
    ENGINE_TRY_DO(session.open());
    ENGINE_TRY_DO(session.load(stop));
    if (!session.hasTokenizer())
        return Error{
            ErrorCode::NotFound,
            fmt::format("{} has no tokenizer, so it cannot chat.", session.path().string()),
            "Add tokenizer.json or tokenizer.model."};
    Console::note(
        fmt::format("{}, context {} tokens, chat template: {}. /help lists what you can type.",
                    session.path().filename().string(),
                    session.model().contextLength,
                    session.model().chatTemplate));
    const auto ended = Conversation(options, context, session).run();
    session.close();
    return ended;
}

} // namespace

void addChatCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand("chat", "Talk with a model, one message per line");
    const auto options = std::make_shared<TextOptions>();
    options->decoder.name = "auto";
    addTextOptions(*command, *options, 1024);
    command->footer("What you can type while chatting:\n" + std::string(kHelp));
    addRun(*command, chosen, options, runChat);
}

} // namespace app
