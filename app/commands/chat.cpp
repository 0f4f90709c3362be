// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"
#include "app/streams/standard_output.h"
#include "app/streams/text_input.h"
#include "engine/text/chat_prompt.h"

#include <unistd.h>

namespace app {

using namespace engine;

namespace {

constexpr std::string_view kHelp = "  /clear  start a new conversation\n  /exit   leave (so does "
                                   "Ctrl+D)\n  /help   this list\n  Ctrl+C stops an answer.";

constexpr std::size_t kMostMessageBytes = 16U << 20U; // no context holds more

/// A conversation on a terminal or a pipe, one line per turn.
class Conversation {
public:
    Conversation(const TextOptions& options,
                 CommandContext& context,
                 const Tokenizer& tokenizer,
                 const ChatTemplate& chatTemplate,
                 TextModel& model)
        : m_options(options)
        , m_context(context)
        , m_tokenizer(tokenizer)
        , m_template(chatTemplate)
        , m_model(model) {
        forget();
    }

    Result<void> run() {
        const bool isTerminal = isatty(STDIN_FILENO) != 0;
        while (!StandardOutput::isLost()) {
            ENGINE_TRY(const std::optional<std::string> line, readLine(isTerminal));
            if (!line || line == "/exit" || line == "/quit")
                return {};
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
    Result<std::optional<std::string>> readLine(bool isTerminal) {
        m_context.interrupt.endWork();
        if (isTerminal) {
            std::fputs("\n> ", stderr);
            std::fflush(stderr);
        }
        return m_input.nextLine(kMostMessageBytes);
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
        auto answered = answer();
        if (answered) {
            m_messages.push_back({"assistant", answered.value()});
            return {};
        }
        m_messages.pop_back();
        if (answered.error().code != ErrorCode::InvalidInput)
            return std::move(answered).error();
        m_context.console.error(answered.error());
        Console::note("  The message was not added. /clear starts a new conversation.");
        return {};
    }

    Result<std::string> answer() {
        ENGINE_TRY(const auto prompt, encodeChat(m_template, m_messages, m_tokenizer));
        GenerationRequest request;
        request.prompt = prompt;
        request.limits = {m_options.maxTokens, m_model.loaded.config.eosIds, m_options.stopStrings};
        const auto ends = chatEndIds(m_tokenizer);
        request.limits.endIds.insert(request.limits.endIds.end(), ends.begin(), ends.end());
        request.tokenizer = &m_tokenizer;
        request.stop = m_context.interrupt.beginWork();
        ENGINE_TRY(GenerationResult result, streamAnswer(m_context, m_options, m_model, request));
        return std::move(result.text);
    }

    const TextOptions& m_options;
    CommandContext& m_context;
    const Tokenizer& m_tokenizer;
    const ChatTemplate& m_template;
    TextModel& m_model;
    TextInput m_input = TextInput::standard();
    std::vector<ChatMessage> m_messages;
};

Result<void> runChat(const TextOptions& options, CommandContext& context) {
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    ENGINE_TRY(const auto tokenizer, loadTokenizer(files));
    ENGINE_TRY(const ChatTemplate chatTemplate, chooseChatTemplate(files, *tokenizer));
    ENGINE_TRY(TextModel model, loadTextModel(options, files, tokenizer.get(), stop));
    Console::note(
        fmt::format("{}, context {} tokens, chat template: {}. /help lists what you can type.",
                    files.path().filename().string(),
                    model.contextLength,
                    chatTemplate.origin()));
    const auto ended = Conversation(options, context, *tokenizer, chatTemplate, model).run();
    storeStatistics(model);
    return ended;
}

} // namespace

void addChatCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand("chat", "Talk with a model, one message per line");
    const auto options = std::make_shared<TextOptions>();
    options->decoder.name = "auto";
    addTextOptions(*command, *options, 1024);
    command->footer("What you can type while chatting:\n" + std::string(kHelp));
    command->callback([options, &chosen] {
        chosen.json = options->json;
        chosen.run = [options](CommandContext& context) { return runChat(*options, context); };
    });
}

} // namespace app
