// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model/mask_token.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace engine {

namespace {

bool holdsOneOf(std::string text, std::initializer_list<std::string_view> words) {
    std::ranges::transform(
        text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::any_of(
        words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

bool isUsed(const MaskSearch& search, TokenId id) {
    const std::vector<TokenId> ends = search.tokenizer.eosIds();
    return search.usedTokens.contains(id) || id == search.config.bosId ||
           id == search.tokenizer.bosId() || std::ranges::count(search.config.eosIds, id) > 0 ||
           std::ranges::count(ends, id) > 0;
}

/// How free the id is: 3 is best, 0 not at all.
int freedomOf(const MaskSearch& search, TokenId id) {
    if (isUsed(search, id))
        return 0;
    const Tokenizer& tokenizer = search.tokenizer;
    const std::string text = id < tokenizer.vocabSize() ? tokenizer.tokenText(id) : std::string();
    if (text.empty())
        return 3;
    if (!tokenizer.isSpecial(id) || search.chatTemplate.find(text) != std::string_view::npos)
        return 0;
    if (holdsOneOf(text, {"reserved", "unused", "extra", "placeholder", "mask"}))
        return 2;
    return holdsOneOf(text, {"pad", "unk", "bos", "eos"}) ? 0 : 1;
}

} // namespace

Result<TokenId> chooseMaskToken(const MaskSearch& search, TokenId wanted) {
    if (wanted != kNoToken) {
        if (wanted >= 0 && wanted < search.config.vocabSize && !isUsed(search, wanted))
            return wanted;
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The token {} cannot be the mask: it is outside of the vocabulary "
                                 "of {}, or texts hold it.",
                                 wanted,
                                 search.config.vocabSize),
                     "Leave out --set mask_token, or name an id that no text holds."};
    }
    if (const TokenId named = search.config.maskTokenId;
        named != kNoToken && !isUsed(search, named))
        return named;
    TokenId best = kNoToken;
    int most = 0;
    for (TokenId id = search.config.vocabSize - 1; id >= 0; --id)
        if (const int freedom = freedomOf(search, id); freedom > most) {
            most = freedom;
            best = id;
        }
    if (best != kNoToken)
        return best;
    return Error{ErrorCode::Unsupported,
                 fmt::format("The model has no mask token: each of its {} ids stands for a text or "
                             "is a special token that is in use.",
                             search.config.vocabSize),
                 "Name an id that your texts never hold with --set mask_token, choose another "
                 "model, or --recipe layerskip."};
}

} // namespace engine
