// SPDX-License-Identifier: Apache-2.0
#include "app/data/text_session.h"
#include "app/streams/text_input.h"
#include "engine/text/vocabulary/text_limits.h"

#include <utility>

namespace app {

using namespace engine;

namespace {

constexpr std::size_t kMaxPromptBytes = 16U << 20U;

struct GenerateOptions {
    TextOptions text;
    std::optional<std::string> prompt;
    std::string promptFile;
    std::string promptIds;
    bool chat = false;
};

Result<std::string> readPromptFile(const std::string& path) {
    if (path == "-")
        return TextInput::standard().rest(kMaxPromptBytes);
    ENGINE_TRY(TextInput file, TextInput::open(path));
    return file.rest(kMaxPromptBytes);
}

/// What the options say of the prompt: ids, a message, or raw text.
Result<SubmitPrompt> readPrompt(const GenerateOptions& options) {
    SubmitPrompt prompt;
    if (!options.promptIds.empty()) {
        ENGINE_TRY(prompt.ids, parseIds(options.promptIds, "--prompt-ids"));
        return prompt;
    }
    prompt.text = options.prompt.value_or("");
    if (!options.promptFile.empty()) {
        ENGINE_TRY(prompt.text, readPromptFile(options.promptFile));
    }
    const bool isStandardInput = options.promptFile == "-";
    ENGINE_TRY_DO(checkText(prompt.text,
                            options.prompt    ? "--prompt"
                            : isStandardInput ? "standard input"
                                              : std::string_view(options.promptFile)));
    if (!options.chat)
        return prompt;
    if (!options.text.system.empty())
        prompt.messages.push_back({"system", options.text.system});
    prompt.messages.push_back({"user", std::exchange(prompt.text, {})});
    return prompt;
}

Result<void> checkPromptOptions(const GenerateOptions& options) {
    const int given = static_cast<int>(options.prompt.has_value()) +
                      static_cast<int>(!options.promptFile.empty()) +
                      static_cast<int>(!options.promptIds.empty());
    if (given != 1)
        return Error{ErrorCode::InvalidInput,
                     given == 0 ? "No prompt was given." : "More than one prompt was given.",
                     "Give one of --prompt TEXT, --prompt-file FILE (- for standard input) and "
                     "--prompt-ids 1,2,3."};
    if (options.chat && !options.promptIds.empty())
        return Error{ErrorCode::InvalidInput,
                     "--chat needs a prompt of text, but --prompt-ids gives ids.",
                     "Leave one of them out."};
    if (!options.chat && !options.text.system.empty())
        return Error{ErrorCode::InvalidInput,
                     "--system needs a chat, but --chat was not given.",
                     "Add --chat, or leave --system out."};
    return {};
}

Result<void> runGenerate(const GenerateOptions& options, CommandContext& context) {
    ENGINE_TRY_DO(checkPromptOptions(options));
    ENGINE_TRY_DO(checkTexts(options.text));
    // Before there is work to stop, so that Ctrl+C ends the program while it waits for its input.
    ENGINE_TRY(SubmitPrompt prompt, readPrompt(options));
    const std::stop_token stop = context.interrupt.beginWork();
    TextSession session(options.text, context.console);
    ENGINE_TRY_DO(session.open());
    ENGINE_TRY_DO(session.load(stop));
    if (prompt.ids.empty() && !session.hasTokenizer())
        return Error{ErrorCode::NotFound,
                     fmt::format("{} has no tokenizer, so a text prompt cannot be read.",
                                 session.path().string()),
                     "Add tokenizer.json or tokenizer.model, or give --prompt-ids."};
    if (options.chat)
        Console::note("[chat template: " + session.model().chatTemplate + "]");
    const auto answered = session.answer(std::move(prompt), stop);
    session.close();
    ENGINE_TRY_DO(answered);
    if (answered.value().reason == FinishReason::Cancelled)
        return cancelledError();
    return {};
}

} // namespace

void addGenerateCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("generate", "Continue a prompt, or answer it with --chat");
    const auto options = std::make_shared<GenerateOptions>();
    command->add_option("--prompt", options->prompt, "The prompt");
    command->add_option("--prompt-file",
                        options->promptFile,
                        "A UTF-8 file that holds the prompt; - = standard "
                        "input");
    command->add_option(
        "--prompt-ids", options->promptIds, "The prompt as token ids: 1,2,3 (needs no tokenizer)");
    command->add_flag("--chat",
                      options->chat,
                      "Send the prompt as a user's message, in the model's chat template");
    addTextOptions(*command, options->text, 256);
    command->footer("Example: swift-run generate --chat --prompt \"Why is the sky blue?\"");
    addRun(*command, chosen, options, runGenerate);
}

} // namespace app
