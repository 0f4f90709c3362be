// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"
#include "app/streams/text_input.h"
#include "engine/text/chat_prompt.h"

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

/// The prompt as ids, whichever option gave it.
Result<std::vector<TokenId>>
promptTokens(const GenerateOptions& options, const ModelFiles& files, const Tokenizer* tokenizer) {
    if (!options.promptIds.empty())
        return parseIds(options.promptIds, "--prompt-ids");
    if (tokenizer == nullptr)
        return Error{ErrorCode::NotFound,
                     fmt::format("{} has no tokenizer, so a text prompt cannot be read.",
                                 files.path().string()),
                     "Add tokenizer.json or tokenizer.model, or give --prompt-ids."};
    std::string text = options.prompt.value_or("");
    if (!options.promptFile.empty()) {
        ENGINE_TRY(text, readPromptFile(options.promptFile));
    }
    if (!options.chat)
        return tokenizer->encode(text, true);
    ENGINE_TRY(const ChatTemplate chatTemplate, chooseChatTemplate(files, *tokenizer));
    Console::note("[chat template: " + chatTemplate.origin() + "]");
    std::vector<ChatMessage> messages;
    if (!options.text.system.empty())
        messages.push_back({"system", options.text.system});
    messages.push_back({"user", text});
    return encodeChat(chatTemplate, messages, *tokenizer);
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
    return {};
}

Result<void> runGenerate(const GenerateOptions& options, CommandContext& context) {
    ENGINE_TRY_DO(checkPromptOptions(options));
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY(const ModelFiles files, openModel(options.text.model));
    ENGINE_TRY(const auto tokenizer, openTokenizer(files));
    ENGINE_TRY(const auto prompt, promptTokens(options, files, tokenizer.get()));
    ENGINE_TRY(TextModel model, loadTextModel(options.text, files, tokenizer.get(), stop));
    GenerationRequest request;
    request.prompt = prompt;
    request.limits = {options.text.maxTokens, model.loaded.config.eosIds, options.text.stopStrings};
    if (tokenizer) {
        const auto ends = options.chat ? chatEndIds(*tokenizer) : tokenizer->eosIds();
        request.limits.endIds.insert(request.limits.endIds.end(), ends.begin(), ends.end());
    }
    request.tokenizer = tokenizer.get();
    request.stop = stop;
    const auto answered = streamAnswer(context, options.text, model, request);
    storeStatistics(model);
    ENGINE_TRY(const GenerationResult result, answered);
    if (result.reason == FinishReason::Cancelled)
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
    command->callback([options, &chosen] {
        chosen.json = options->text.json;
        chosen.run = [options](CommandContext& context) { return runGenerate(*options, context); };
    });
}

} // namespace app
