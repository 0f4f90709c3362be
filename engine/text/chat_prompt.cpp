// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_prompt.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

struct SpelledToken {
    std::string text;
    TokenId id = kNoToken;
};

/// Begin and end tokens whose text this tokenizer would split like any other text.
std::vector<SpelledToken> unreadSpecials(const Tokenizer& tokenizer) {
    std::vector<TokenId> ids = tokenizer.eosIds();
    ids.push_back(tokenizer.bosId());
    std::vector<SpelledToken> unread;
    for (const TokenId id : ids) {
        if (id == kNoToken || tokenizer.tokenText(id).empty())
            continue;
        const std::string text = tokenizer.tokenText(id);
        const auto encoded = tokenizer.encode(text, false);
        if (encoded && encoded.value() != std::vector<TokenId>{id})
            unread.push_back({text, id});
    }
    return unread;
}

} // namespace

Result<std::vector<TokenId>> encodeChat(const ChatTemplate& chatTemplate,
                                        const std::vector<ChatMessage>& messages,
                                        const Tokenizer& tokenizer) {
    ENGINE_TRY(const std::string text, chatTemplate.renderChat(messages, tokenizer, true));
    const std::vector<SpelledToken> specials = unreadSpecials(tokenizer);
    std::vector<TokenId> ids;
    std::string_view rest = text;
    while (!rest.empty()) {
        std::size_t end = rest.size();
        const SpelledToken* next = nullptr;
        for (const SpelledToken& special : specials)
            if (const std::size_t at = rest.find(special.text); at < end) {
                end = at;
                next = &special;
            }
        if (end > 0) {
            ENGINE_TRY(const std::vector<TokenId> plain,
                       tokenizer.encode(rest.substr(0, end), false));
            ids.insert(ids.end(), plain.begin(), plain.end());
        }
        if (next != nullptr)
            ids.push_back(next->id);
        rest.remove_prefix(next != nullptr ? end + next->text.size() : end);
    }
    return ids;
}

std::vector<TokenId> chatEndIds(const Tokenizer& tokenizer) {
    constexpr std::array kEndOfTurn = {
        "<|im_end|>", "<|eot_id|>", "<|end_of_turn|>", "<end_of_turn>", "<|EOT|>", "<|end|>"};
    std::vector<TokenId> ids = tokenizer.eosIds();
    for (const char* text : kEndOfTurn)
        if (const TokenId id = tokenizer.findToken(text); id != kNoToken && tokenizer.isSpecial(id))
            ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

} // namespace engine
