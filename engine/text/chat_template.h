// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/model_files.h"
#include "engine/text/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// One turn of a conversation.
struct ChatMessage {
    std::string role; ///< "system", "user" or "assistant"
    std::string content;
};

/// Bounds for a template that nobody has reason to trust.
struct TemplateLimits {
    std::uint64_t maxSteps = 1'000'000;
    std::uint64_t maxOutputBytes = 1'000'000;
    int maxDepth = 64; ///< macro calls inside one another
};

/// Messages to prompt text, by the part of Jinja that published chat templates use.
/// No attribute access beyond plain values, no I/O, no recursion without bound. Thread: any.
class ChatTemplate {
public:
    /// Compiles a template; `origin` is told to the user ("tokenizer_config.json", "built-in
    /// ChatML"). Errors: Unsupported or CorruptFile with line and column of the construct.
    /// A source of more than 1 MB is Unsupported. `tokens`: texts of tokens by the names that
    /// conversations are rendered with ("pad_token").
    static Result<ChatTemplate> compile(std::string_view source,
                                        std::string origin,
                                        std::map<std::string, std::string> tokens = {});

    ChatTemplate(ChatTemplate&&) noexcept;
    ChatTemplate& operator=(ChatTemplate&&) noexcept;
    ~ChatTemplate();

    /// Renders with these variables (an object, whose order of keys tojson keeps). Errors: what
    /// raise_exception said, word for word, or what the template does wrong with the line (both
    /// InvalidInput); the limit that was hit or what is not there, with the line (Unsupported).
    Result<std::string> render(const nlohmann::ordered_json& variables,
                               const TemplateLimits& limits = {}) const;

    /// Renders a conversation; bos_token and eos_token come from the tokenizer.
    Result<std::string> renderChat(const std::vector<ChatMessage>& messages,
                                   const Tokenizer& tokenizer,
                                   bool addGenerationPrompt) const;

    const std::string& origin() const;

private:
    struct Program;
    ChatTemplate(std::unique_ptr<const Program> program,
                 std::string origin,
                 std::map<std::string, std::string> tokens);
    std::unique_ptr<const Program> m_program;
    std::string m_origin;
    std::map<std::string, std::string> m_tokens;
};

/// The model's own template; if it has none, or one that cannot be read or compiled, or that uses
/// what is not supported in a conversation on trial, the built-in one that builtinTemplateFor()
/// chooses. `origin()` tells which one it is, and why if it is not the model's own.
Result<ChatTemplate> chooseChatTemplate(const ModelFiles& files, const Tokenizer& tokenizer);

} // namespace engine
