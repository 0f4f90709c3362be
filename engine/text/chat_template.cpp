// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_template.h"

#include "engine/text/builtin_templates.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/syntax/parser.h"
#include "engine/text/jinja/values/value_text.h"
#include "engine/text/vocabulary/tokenizer_config.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace engine {

namespace {

constexpr std::size_t kMaxSourceBytes = 1'000'000;

std::string specialText(const Tokenizer& tokenizer, TokenId id) {
    return id == kNoToken ? std::string() : tokenizer.tokenText(id);
}

/// The built-in template, and in its origin the reason why the model's own is not used.
Result<ChatTemplate>
builtinTemplate(const ModelFiles& files, const Tokenizer& tokenizer, const std::string& reason) {
    const auto config = files.config();
    const BuiltinTemplate& chosen =
        builtinTemplateFor(tokenizer, config ? config.value().architecture : "");
    const std::string why = chosen.marker.empty()
                                ? "the vocabulary has no tokens for chats"
                                : fmt::format("the vocabulary has {}", chosen.marker);
    return ChatTemplate::compile(chosen.source,
                                 fmt::format("built-in {} ({}; {})", chosen.name, reason, why));
}

/// What of a template is not supported and shows only when a conversation is rendered; empty when
/// nothing is. It may well refuse a role or an order of roles.
std::string unsupportedPart(const ChatTemplate& own, const Tokenizer& tokenizer) {
    const ChatMessage rule{"system", "Be kind."};
    const ChatMessage question{"user", "Hello"};
    const ChatMessage answer{"assistant", "Hello!"};
    for (const auto& messages : {std::vector{question},
                                 std::vector{question, answer, question},
                                 std::vector{rule, question, answer, question}})
        for (const bool addGenerationPrompt : {true, false}) {
            const auto text = own.renderChat(messages, tokenizer, addGenerationPrompt);
            if (!text && text.error().code == ErrorCode::Unsupported)
                return text.error().message;
        }
    return {};
}

/// The texts of the tokens that tokenizer_config.json names for a use. What is wrong with the file
/// is told when the tokenizer is asked for.
std::map<std::string, std::string> namedTokens(const ModelFiles& files) {
    std::map<std::string, std::string> texts;
    const auto config = readTokenizerConfig(files);
    for (const std::string_view use : kTokenUses)
        if (std::string text = config ? config.value().textFor(use) : ""; !text.empty())
            texts.emplace(use, std::move(text));
    return texts;
}

} // namespace

struct ChatTemplate::Program {
    jinja::SyntaxTree tree;
};

ChatTemplate::ChatTemplate(std::unique_ptr<const Program> program,
                           std::string origin,
                           std::map<std::string, std::string> tokens)
    : m_program(std::move(program))
    , m_origin(std::move(origin))
    , m_tokens(std::move(tokens)) {}

ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::compile(std::string_view source,
                                           std::string origin,
                                           std::map<std::string, std::string> tokens) {
    if (source.size() > kMaxSourceBytes)
        return Error{ErrorCode::Unsupported,
                     fmt::format("the chat template of {} has {} bytes, more than {}",
                                 origin,
                                 source.size(),
                                 kMaxSourceBytes),
                     "Use a model with a smaller chat template."};
    const std::string normalized = jinja::normalizedSource(source);
    auto tree = jinja::Parser(normalized).parse();
    if (!tree)
        return Error{
            tree.error().code,
            fmt::format("the chat template of {} cannot be used: {}", origin, tree.error().message),
            "The template language is Jinja; see chat_template in the model's files."};
    return ChatTemplate(std::make_unique<const Program>(Program{std::move(tree).value()}),
                        std::move(origin),
                        std::move(tokens));
}

Result<std::string> ChatTemplate::render(const nlohmann::ordered_json& variables,
                                         const TemplateLimits& limits) const {
    if (!variables.is_object())
        return Error{
            ErrorCode::InvalidInput, "the variables of a chat template are not a JSON object", {}};
    ENGINE_TRY(const jinja::Value values, jinja::valueFromJson(variables));
    jinja::RenderContext context(limits.maxSteps, limits.maxOutputBytes);
    jinja::Interpreter interpreter(context, limits.maxDepth);
    auto text = interpreter.run(m_program->tree, values);
    if (text)
        return text;
    if (context.isRefused())
        return Error{ErrorCode::InvalidInput,
                     text.error().message,
                     fmt::format("The chat template of {} refuses this conversation in line {}.",
                                 m_origin,
                                 interpreter.line())};
    return Error{text.error().code,
                 fmt::format("the chat template of {} fails in line {}: {}",
                             m_origin,
                             interpreter.line(),
                             text.error().message),
                 "Check the conversation and the model's chat template."};
}

Result<std::string> ChatTemplate::renderChat(const std::vector<ChatMessage>& messages,
                                             const Tokenizer& tokenizer,
                                             bool addGenerationPrompt) const {
    auto turns = nlohmann::ordered_json::array();
    for (const ChatMessage& message : messages)
        turns.push_back({{"role", message.role}, {"content", message.content}});
    const std::vector<TokenId> ends = tokenizer.eosIds();
    nlohmann::ordered_json variables = nlohmann::ordered_json::object();
    for (const auto& [use, text] : m_tokens)
        variables[use] = text;
    variables["messages"] = std::move(turns);
    // Published templates ask whether these are none, so they must be there.
    variables["tools"] = nullptr;
    variables["documents"] = nullptr;
    variables["add_generation_prompt"] = addGenerationPrompt;
    variables["bos_token"] = specialText(tokenizer, tokenizer.bosId());
    variables["eos_token"] = specialText(tokenizer, ends.empty() ? kNoToken : ends.front());
    return render(variables);
}

const std::string& ChatTemplate::origin() const { return m_origin; }

Result<ChatTemplate> chooseChatTemplate(const ModelFiles& files, const Tokenizer& tokenizer) {
    const auto text = files.chatTemplate();
    if (!text)
        return builtinTemplate(files, tokenizer, text.error().message);
    if (!text.value())
        return builtinTemplate(files, tokenizer, "the model has no chat template");
    auto own = ChatTemplate::compile(text.value()->text, text.value()->origin, namedTokens(files));
    const std::string fault = own ? unsupportedPart(own.value(), tokenizer) : own.error().message;
    return fault.empty() ? std::move(own) : builtinTemplate(files, tokenizer, fault);
}

} // namespace engine
