// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_prompt.h"

#include "engine/text/vocabulary/turn_ends.h"

#include <algorithm>

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

/// Tokens of text that a template has written.
Result<std::vector<TokenId>> encodeRendered(std::string_view text, const Tokenizer& tokenizer) {
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

constexpr std::string_view kWhitespace = " \t\r\n";

/// Stands in a conversation for the answers whose ids are known, so that it shows where in the
/// rendered text they belong.
class Placeholders {
public:
    explicit Placeholders(const std::vector<StoredMessage>& messages) {
        std::string mark = "StoredAnswer";
        const auto holdsMark = [&mark](const StoredMessage& stored) {
            return stored.message.content.find(mark) != std::string::npos;
        };
        while (std::any_of(messages.begin(), messages.end(), holdsMark))
            mark += 'Q';
        for (const StoredMessage& stored : messages) {
            m_messages.push_back(stored.message);
            if (stored.message.role != "assistant" || stored.tokens.empty())
                continue;
            m_names.push_back(fmt::format("{}{:06}Z", mark, m_names.size()));
            m_places.push_back(m_messages.size() - 1);
            m_messages.back().content = m_names.back();
            m_answers.push_back(&stored.tokens);
        }
    }

    std::size_t count() const { return m_names.size(); }

    const std::vector<const std::vector<TokenId>*>& answers() const { return m_answers; }

    /// The rendered text before, between and behind the answers; empty when the template does not
    /// write each of them exactly once and in order. Errors: those of rendering.
    Result<std::vector<std::string>> split(const ChatTemplate& chatTemplate,
                                           const Tokenizer& tokenizer) const {
        ENGINE_TRY(const std::string text, chatTemplate.renderChat(m_messages, tokenizer, true));
        std::vector<std::string> pieces;
        std::size_t begin = 0;
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            const std::size_t at = text.find(m_names[i]);
            if (at == std::string::npos || at < begin || text.rfind(m_names[i]) != at)
                return std::vector<std::string>();
            // Of an answer without ids all that is written before it belongs to the prompt.
            const std::size_t end =
                m_answers[i]->front() == kNoToken
                    ? at
                    : endOfPrompt(i, text.substr(0, at), chatTemplate, tokenizer);
            pieces.push_back(text.substr(begin, std::max(begin, end) - begin));
            begin = at + m_names[i].size();
        }
        pieces.push_back(text.substr(begin));
        return pieces;
    }

private:
    /// Where the prompt that answer `i` was written to ends: some templates put a space before an
    /// answer that they do not write behind the prompt; the answer's own ids hold it then.
    std::size_t endOfPrompt(std::size_t i,
                            const std::string& before,
                            const ChatTemplate& chatTemplate,
                            const Tokenizer& tokenizer) const {
        const auto answer = m_messages.begin() + static_cast<std::ptrdiff_t>(m_places[i]);
        const auto prompt = chatTemplate.renderChat({m_messages.begin(), answer}, tokenizer, true);
        const bool isSameButForSpace =
            prompt && before.starts_with(prompt.value()) &&
            before.find_first_not_of(kWhitespace, prompt.value().size()) == std::string::npos;
        return isSameButForSpace ? prompt.value().size() : before.size();
    }

    std::vector<ChatMessage> m_messages;
    std::vector<std::string> m_names;                   // [answers]
    std::vector<std::size_t> m_places;                  // [answers] among m_messages
    std::vector<const std::vector<TokenId>*> m_answers; // [answers]
};

/// Whether the text behind an answer begins with its end id, spaces apart.
bool writesEnd(std::string_view behind, TokenId endId, const Tokenizer& tokenizer) {
    behind.remove_prefix(std::min(behind.find_first_not_of(kWhitespace), behind.size()));
    const std::string end = tokenizer.tokenText(endId);
    return !end.empty() && behind.starts_with(end);
}

/// How many tokens more an answer has by its own ids than by its text; its end id, which the
/// template writes too, is not counted.
Result<int> storedExcess(const StoredMessage& stored, const Tokenizer& tokenizer) {
    if (stored.message.role != "assistant" || stored.tokens.empty())
        return 0;
    ENGINE_TRY(const auto encoded, tokenizer.encode(stored.message.content, false));
    const std::vector<TokenId> endIds = chatEndIds(tokenizer);
    const bool hasEnd =
        std::find(endIds.begin(), endIds.end(), stored.tokens.back()) != endIds.end();
    return static_cast<int>(stored.tokens.size()) - (hasEnd ? 1 : 0) -
           static_cast<int>(encoded.size());
}

/// Shapes: pieces [answers + 1].
Result<std::vector<TokenId>> joinPieces(const std::vector<std::string>& pieces,
                                        const std::vector<const std::vector<TokenId>*>& answers,
                                        const Tokenizer& tokenizer) {
    const std::vector<TokenId> endIds = chatEndIds(tokenizer);
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        ENGINE_TRY(const auto plain, encodeRendered(pieces[i], tokenizer));
        ids.insert(ids.end(), plain.begin(), plain.end());
        if (i == answers.size())
            break;
        const std::vector<TokenId>& answer = *answers[i];
        const bool endsTwice =
            std::find(endIds.begin(), endIds.end(), answer.back()) != endIds.end() &&
            writesEnd(pieces[i + 1], answer.back(), tokenizer);
        ids.insert(ids.end(), answer.begin(), answer.end() - (endsTwice ? 1 : 0));
    }
    return ids;
}

std::vector<ChatMessage> textsOf(const std::vector<StoredMessage>& messages) {
    std::vector<ChatMessage> texts;
    for (const StoredMessage& stored : messages)
        texts.push_back(stored.message);
    return texts;
}

/// Empty when no ids are stored, or the template does not write each answer exactly once and whole.
Result<std::vector<TokenId>> encodeKeepingIds(const ChatTemplate& chatTemplate,
                                              const std::vector<StoredMessage>& messages,
                                              const Tokenizer& tokenizer) {
    const Placeholders placeholders(messages);
    if (placeholders.count() == 0)
        return std::vector<TokenId>();
    ENGINE_TRY(const auto pieces, placeholders.split(chatTemplate, tokenizer));
    if (pieces.empty())
        return std::vector<TokenId>();
    // Templates of models that think leave an earlier answer's thoughts out. They see them only in
    // the answer itself, not in what holds its place.
    ENGINE_TRY(const std::string whole,
               chatTemplate.renderChat(textsOf(messages), tokenizer, true));
    for (const StoredMessage& stored : messages) {
        std::string_view answer = stored.message.content;
        answer.remove_prefix(std::min(answer.find_first_not_of(kWhitespace), answer.size()));
        answer = answer.substr(0, answer.find_last_not_of(kWhitespace) + 1);
        if (!stored.tokens.empty() && whole.find(answer) == std::string::npos)
            return std::vector<TokenId>();
    }
    return joinPieces(pieces, placeholders.answers(), tokenizer);
}

/// A conversation up to the last letter of its last message, an answer of which only the text is
/// known: what a template writes behind it, or trims of it, is not there.
Result<std::vector<TokenId>> encodeOpenAnswer(const ChatTemplate& chatTemplate,
                                              std::vector<StoredMessage> messages,
                                              const Tokenizer& tokenizer) {
    const std::string text = messages.back().message.content;
    messages.back().tokens = {kNoToken}; // holds its place
    const Placeholders placeholders(messages);
    ENGINE_TRY(auto pieces, placeholders.split(chatTemplate, tokenizer));
    if (pieces.size() < 2)
        return Error{ErrorCode::Unsupported,
                     "This model's chat template cannot leave an answer open.",
                     "Ask again instead of going on."};
    pieces.pop_back();
    pieces.back() += text;
    std::vector<const std::vector<TokenId>*> answers = placeholders.answers();
    answers.pop_back();
    return joinPieces(pieces, answers, tokenizer);
}

} // namespace

Result<std::vector<TokenId>> encodeChat(const ChatTemplate& chatTemplate,
                                        const std::vector<ChatMessage>& messages,
                                        const Tokenizer& tokenizer) {
    ENGINE_TRY(const std::string text, chatTemplate.renderChat(messages, tokenizer, true));
    return encodeRendered(text, tokenizer);
}

Result<std::vector<TokenId>> encodeConversation(const ChatTemplate& chatTemplate,
                                                const std::vector<StoredMessage>& messages,
                                                const Tokenizer& tokenizer) {
    ENGINE_TRY(auto kept, encodeKeepingIds(chatTemplate, messages, tokenizer));
    if (!kept.empty())
        return kept;
    return encodeChat(chatTemplate, textsOf(messages), tokenizer);
}

Result<PromptTokens> encodeContinuation(const ChatTemplate& chatTemplate,
                                        const std::vector<StoredMessage>& messages,
                                        const Tokenizer& tokenizer) {
    const std::vector<StoredMessage> before(messages.begin(), messages.end() - 1);
    const StoredMessage& answer = messages.back();
    PromptTokens prompt{{}, answer.tokens};
    if (answer.tokens.empty()) {
        ENGINE_TRY(prompt.begun, tokenizer.encode(answer.message.content, false));
        ENGINE_TRY(prompt.ids, encodeOpenAnswer(chatTemplate, messages, tokenizer));
        return prompt;
    }
    const std::vector<TokenId> endIds = chatEndIds(tokenizer);
    if (std::find(endIds.begin(), endIds.end(), prompt.begun.back()) != endIds.end())
        prompt.begun.pop_back();
    ENGINE_TRY(prompt.ids, encodeConversation(chatTemplate, before, tokenizer));
    prompt.ids.insert(prompt.ids.end(), prompt.begun.begin(), prompt.begun.end());
    return prompt;
}

Result<PromptCount> countConversation(const ChatTemplate& chatTemplate,
                                      const std::vector<StoredMessage>& messages,
                                      const Tokenizer& tokenizer) {
    ENGINE_TRY(auto ids, encodeKeepingIds(chatTemplate, messages, tokenizer));
    const bool keepsIds = !ids.empty();
    const std::vector<ChatMessage> texts = textsOf(messages);
    if (!keepsIds) {
        ENGINE_TRY(ids, encodeChat(chatTemplate, texts, tokenizer));
    }
    PromptCount count{static_cast<int>(ids.size()), std::vector<int>(messages.size(), 0)};
    ENGINE_TRY(const std::string whole, chatTemplate.renderChat(texts, tokenizer, false));
    std::string_view rest = whole;
    int excess = 0; // of the answers' own ids in the stretch
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (keepsIds) {
            ENGINE_TRY(const int more, storedExcess(messages[i], tokenizer));
            excess += more;
        }
        const auto end = texts.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        const auto upTo = chatTemplate.renderChat({texts.begin(), end}, tokenizer, false);
        const std::size_t begin = whole.size() - rest.size();
        if (!upTo || upTo.value().size() < begin || !whole.starts_with(upTo.value()))
            continue;
        const std::size_t length = upTo.value().size() - begin;
        ENGINE_TRY(const auto stretch, encodeRendered(rest.substr(0, length), tokenizer));
        count.perMessage[i] = std::max(0, static_cast<int>(stretch.size()) + excess);
        rest.remove_prefix(length);
        excess = 0;
    }
    return count;
}

Result<UserTurn> userTurnOf(const ChatTemplate& chatTemplate, const Tokenizer& tokenizer) {
    const std::string mark = "MessageOfTheUser";
    ENGINE_TRY(const std::string text, chatTemplate.renderChat({{"user", mark}}, tokenizer, true));
    const std::size_t at = text.find(mark);
    UserTurn turn;
    if (at != std::string::npos) {
        ENGINE_TRY(turn.begin, encodeRendered(std::string_view(text).substr(0, at), tokenizer));
    }
    if (turn.begin.empty())
        return Error{ErrorCode::Unsupported,
                     "This model's chat template writes nothing before a user's message, so the "
                     "model cannot write one.",
                     "Give prompts with --data."};
    const std::size_t first = text.find_first_not_of(kWhitespace, at + mark.size());
    if (first != std::string::npos)
        turn.end = text.substr(first, text.find_first_of("\r\n", first) - first);
    turn.end.erase(turn.end.find_last_not_of(kWhitespace) + 1);
    return turn;
}

std::vector<TokenId> chatEndIds(const Tokenizer& tokenizer) {
    std::vector<TokenId> ids = tokenizer.eosIds();
    for (const std::string_view text : kTurnEnds)
        if (const TokenId id = tokenizer.findToken(text); id != kNoToken && tokenizer.isSpecial(id))
            ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

} // namespace engine
