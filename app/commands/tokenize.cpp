// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/model_options.h"
#include "app/commands/options/text_options.h"
#include "app/streams/standard_output.h"
#include "app/streams/text_input.h"
#include "engine/base/typed_text.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLineBytes = 16'000'000; // as of data files

struct TokenizeOptions {
    ModelOptions model;
    bool special = false; ///< --add-special, or --skip-special
};

/// Puts the line's number before the error.
Error atLine(std::size_t number, Error error) {
    error.message = fmt::format("Line {} of standard input: {}", number, error.message);
    return error;
}

/// Calls `work` for every line of standard input until one fails.
template <typename Work> Result<void> forEachLine(CommandContext& context, Work&& work) {
    context.interrupt.endWork(); // Ctrl+C ends the program at once
    TextInput input = TextInput::standard();
    for (std::size_t number = 1;; ++number) {
        auto line = input.nextLine(kMostLineBytes);
        if (!line && line.error().code == ErrorCode::InvalidInput)
            return atLine(number, std::move(line).error());
        ENGINE_TRY(const std::optional<std::string> text, std::move(line));
        if (!text)
            return {};
        if (Result<void> done = work(*text); !done)
            return atLine(number, std::move(done).error());
        if (StandardOutput::isLost())
            return cancelledError();
    }
}

Result<std::string> textOfLine(const std::string& line, bool json) {
    if (!json)
        return line;
    constexpr const char* kHint = "With --json every line is a string in double quotes.";
    const auto document = JsonDocument::parse(line, "the line");
    if (!document)
        return asTyped(document.error(), kHint);
    const auto text = document.value().root().asString();
    if (!text)
        return Error{ErrorCode::InvalidInput, "this is not a JSON string.", kHint};
    return std::string(*text);
}

Result<std::vector<TokenId>> idsOfPlainLine(const std::string& line) {
    std::vector<TokenId> ids;
    const char* at = line.data();
    const char* const end = line.data() + line.size();
    while (at < end) {
        if (*at == ' ' || *at == ',' || *at == '\t' || *at == '\r') {
            ++at;
            continue;
        }
        TokenId id = 0;
        const auto [next, failure] = std::from_chars(at, end, id);
        if (failure != std::errc())
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("character {} does not begin a token id.", at - line.data() + 1),
                "Write ids as whole numbers separated by spaces or commas."};
        ids.push_back(id);
        at = next;
    }
    return ids;
}

Result<std::vector<TokenId>> idsOfLine(const std::string& line, bool json) {
    if (!json)
        return idsOfPlainLine(line);
    constexpr const char* kHint = "With --json every line is an array of ids: [1,2,3].";
    const auto document = JsonDocument::parse(line, "the line");
    if (!document)
        return asTyped(document.error(), kHint);
    if (!document.value().root().isArray())
        return Error{ErrorCode::InvalidInput, "this is not a JSON array.", kHint};
    std::vector<TokenId> ids;
    for (const JsonValue& item : document.value().root().items()) {
        const auto id = item.asInteger();
        if (!id || *id < 0 || *id > std::numeric_limits<TokenId>::max())
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("the item that ends at byte {} is not a token id.", item.offset()),
                "Ids are whole numbers from 0 on."};
        ids.push_back(static_cast<TokenId>(*id));
    }
    return ids;
}

Result<std::unique_ptr<Tokenizer>> tokenizerOf(const TokenizeOptions& options) {
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    return loadTokenizer(files);
}

Result<void> runTokenize(const TokenizeOptions& options, CommandContext& context) {
    ENGINE_TRY(const auto tokenizer, tokenizerOf(options));
    return forEachLine(context, [&](const std::string& line) -> Result<void> {
        ENGINE_TRY(const std::string text, textOfLine(line, context.console.isJson()));
        ENGINE_TRY(const auto ids, tokenizer->encode(text, options.special));
        if (!context.console.isJson())
            context.console.line(fmt::format("{}", fmt::join(ids, " ")));
        context.console.jsonLine({{"text", text}, {"ids", ids}});
        return {};
    });
}

Result<void> runDetokenize(const TokenizeOptions& options, CommandContext& context) {
    ENGINE_TRY(const auto tokenizer, tokenizerOf(options));
    return forEachLine(context, [&](const std::string& line) -> Result<void> {
        ENGINE_TRY(const auto ids, idsOfLine(line, context.console.isJson()));
        ENGINE_TRY(const std::string text, tokenizer->decode(ids, options.special));
        if (!context.console.isJson())
            context.console.line(text);
        context.console.jsonLine({{"ids", ids}, {"text", text}});
        return {};
    });
}

} // namespace

void addTokenizeCommands(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* tokenize = app.add_subcommand("tokenize", "Token ids of each line of standard input");
    const auto tokenizeOptions = std::make_shared<TokenizeOptions>();
    tokenize->add_flag(
        "--add-special",
        tokenizeOptions->special,
        "Put the model's begin and end tokens around the text, if the model uses them");
    addModelPathOption(*tokenize, tokenizeOptions->model);
    addRun(*tokenize,
           chosen,
           tokenizeOptions,
           runTokenize,
           "Read lines that are JSON strings, and write JSON");

    CLI::App* detokenize =
        app.add_subcommand("detokenize", "Text of each line of ids on standard input");
    const auto detokenizeOptions = std::make_shared<TokenizeOptions>();
    detokenize->add_flag(
        "--skip-special", detokenizeOptions->special, "Leave special tokens out of the text");
    addModelPathOption(*detokenize, detokenizeOptions->model);
    addRun(*detokenize,
           chosen,
           detokenizeOptions,
           runDetokenize,
           "Read lines that are JSON arrays of ids, and write JSON");
}

} // namespace app
