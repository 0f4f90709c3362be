// SPDX-License-Identifier: Apache-2.0
#include "engine/text/token_stream.h"

namespace engine {

TokenStream::TokenStream(const Tokenizer& tokenizer, bool skipSpecial)
    : m_decoding(tokenizer.startDecoding(skipSpecial)) {}

Result<std::string> TokenStream::push(TokenId id) {
    std::string text;
    ENGINE_TRY_DO(m_decoding->push(id, text));
    return text;
}

Result<std::string> TokenStream::finish() {
    std::string text;
    ENGINE_TRY_DO(m_decoding->finish(text));
    return text;
}

} // namespace engine
