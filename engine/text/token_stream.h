// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <string>

namespace engine {

/// Turns tokens into text as they come, in whole UTF-8 characters. All pieces joined equal
/// Tokenizer::decode of all ids. Thread: engine.
class TokenStream {
public:
    /// `tokenizer` must outlive the stream.
    TokenStream(const Tokenizer& tokenizer, bool skipSpecial);

    /// The text that is certain after this token; may be empty while a character is incomplete.
    Result<std::string> push(TokenId id);

    /// What was held back at the end (an incomplete character becomes U+FFFD).
    Result<std::string> finish();

private:
    std::unique_ptr<TokenDecoding> m_decoding;
};

} // namespace engine
