// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/sampling_options.h"

#include "app/number_check.h"
#include "engine/loading/files/byte_reader.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace app {

using namespace engine;

namespace {

constexpr std::uint64_t kMostSchemaBytes = 4U << 20U;

template <typename T> std::optional<T> numberOf(std::string_view text) {
    T number{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size())
        return std::nullopt;
    return number;
}

/// The token that writes just this text, kNoToken if none does. Of several, the last: those that
/// stand for single bytes come first in a vocabulary.
TokenId tokenThatWrites(std::string_view text, const Tokenizer& tokenizer) {
    TokenId id = tokenizer.findToken(text);
    if (id != kNoToken && tokenizer.tokenBytes(id) == text)
        return id;
    id = tokenizer.vocabSize() - 1;
    while (id >= 0 && tokenizer.tokenBytes(id) != text)
        --id;
    return id < 0 ? kNoToken : id;
}

/// An id, or the single token of a text, which may also be spelt as the vocabulary has it.
Result<TokenId> tokenOf(const std::string& text, const Tokenizer* tokenizer) {
    if (const auto id = numberOf<TokenId>(text))
        return *id;
    if (tokenizer == nullptr)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("--logit-bias names the token \"{}\" by its text, but the model "
                                 "has no tokenizer.",
                                 text),
                     "Give the token's id."};
    for (const TokenId id : {tokenThatWrites(text, *tokenizer), tokenizer->findToken(text)})
        if (id != kNoToken)
            return id;
    ENGINE_TRY(const std::vector<TokenId> ids, tokenizer->encode(text, false));
    if (ids.size() == 1)
        return ids.front();
    return Error{ErrorCode::InvalidInput,
                 fmt::format("--logit-bias: \"{}\" is {} tokens, not one.", text, ids.size()),
                 "swift-run tokenize shows the tokens of a text and their ids; give one of them."};
}

Result<LogitBias> biasOf(const std::string& typed, const Tokenizer* tokenizer) {
    const std::size_t equals = typed.rfind('=');
    const auto value = equals == std::string::npos || equals == 0
                           ? std::nullopt
                           : numberOf<double>(std::string_view(typed).substr(equals + 1));
    if (!value)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("--logit-bias \"{}\" is not of the form TOKEN_OR_ID=VALUE.", typed),
            "For instance --logit-bias 42=-5, or --logit-bias ' yes=2'."};
    ENGINE_TRY(const TokenId token, tokenOf(typed.substr(0, equals), tokenizer));
    return LogitBias{token, *value};
}

Result<Grammar> grammarOf(const TypedSampling& typed) {
    const int given = static_cast<int>(!typed.schemaFile.empty()) +
                      static_cast<int>(!typed.regex.empty()) + static_cast<int>(typed.isJsonObject);
    if (given > 1)
        return Error{ErrorCode::InvalidInput,
                     "More than one form of the answer was given.",
                     "Give one of --json-schema, --json-object and --regex."};
    if (typed.isJsonObject)
        return Grammar{GrammarKind::Json};
    if (!typed.regex.empty())
        return Grammar{GrammarKind::Regex, typed.regex};
    if (typed.schemaFile.empty())
        return Grammar();
    ENGINE_TRY(std::string text, readTextFile(typed.schemaFile, kMostSchemaBytes));
    return Grammar{GrammarKind::Schema, std::move(text)};
}

} // namespace

void addSamplingOptions(CLI::App& command, TypedSampling& typed) {
    SamplingOptions& options = typed.options;
    const auto add = [&command](const char* name, auto& place, const char* meaning) {
        return command.add_option(name, place, meaning)->capture_default_str();
    };
    add("--temperature",
        options.temperature,
        "0 always takes the most probable token; higher values choose more freely");
    add("--top-k", options.topK, "Choose among the K most probable tokens; 0 = off")
        ->transform(wholeFrom(0));
    add("--top-p",
        options.topP,
        "Choose among the most probable tokens that together reach the "
        "probability P; 1 = off");
    add("--min-p",
        options.minP,
        "Choose among tokens whose probability is at least this fraction of the highest one; 0 = "
        "off");
    add("--typical-p",
        options.typicalP,
        "Choose among the most typical tokens, neither too likely nor too unlikely, that together "
        "reach the probability P; 1 = off");
    add("--seed", options.seed, "Seed of the random choices: the same seed gives the same text")
        ->transform(numberFrom<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()));
    add("--repetition-penalty",
        options.repetitionPenalty,
        "Above 1 makes tokens of the prompt and the answer less probable; 1 = off");
    add("--repetition-window",
        options.repetitionWindow,
        "How many of the newest tokens the repetition penalty covers; 0 = all")
        ->transform(wholeFrom(0));
    add("--presence-penalty",
        options.presencePenalty,
        "Taken from the logit of every token that the answer holds already; 0 = off");
    add("--frequency-penalty",
        options.frequencyPenalty,
        "The same once for each time that the answer holds it; 0 = off");
    command.add_option("--logit-bias",
                       typed.biases,
                       "TOKEN_OR_ID=VALUE is added to the logit of a token, from -100 (never) to "
                       "100; may be given several times");
    command.add_option(
        "--json-schema", typed.schemaFile, "The answer is JSON that fits the schema in this file");
    command.add_flag("--json-object", typed.isJsonObject, "The answer is any JSON object");
    command.add_option(
        "--regex", typed.regex, "The answer as a whole matches this regular expression");
}

Result<SamplingOptions> resolveSampling(const TypedSampling& typed, const Tokenizer* tokenizer) {
    SamplingOptions options = typed.options;
    for (const std::string& text : typed.biases) {
        ENGINE_TRY(const LogitBias bias, biasOf(text, tokenizer));
        options.logitBias.push_back(bias);
    }
    ENGINE_TRY(options.grammar, grammarOf(typed));
    ENGINE_TRY_DO(options.validate());
    if (!options.grammar.isOff() && tokenizer == nullptr)
        return Error{ErrorCode::InvalidInput,
                     "A grammar needs the texts of tokens, and this model has no tokenizer.",
                     "Add the model's tokenizer file, or leave out the grammar."};
    return options;
}

std::shared_ptr<const TokenTrie>
vocabularyFor(const SamplingOptions& sampling, const Tokenizer* tokenizer, int vocabSize) {
    if (sampling.grammar.isOff() || tokenizer == nullptr)
        return nullptr;
    return std::make_shared<const TokenTrie>(TokenTrie::of(*tokenizer, vocabSize));
}

} // namespace app
