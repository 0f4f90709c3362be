// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// Byte-level characters back to bytes, all tokens joined, broken UTF-8 replaced.
struct ByteLevelDecode {};

/// Runs of byte tokens ("<0xE2>") to the text they form, or one U+FFFD each when they form none.
struct ByteFallbackDecode {};

/// From here on all tokens count as one.
struct FuseDecode {};

/// Takes up to `start` and `stop` of a character off the ends of each token.
struct StripDecode {
    std::string content; ///< one character
    std::size_t start = 0;
    std::size_t stop = 0;
};

struct ReplaceDecode {
    std::string pattern; ///< a fixed string, not empty
    std::string content;
};

/// The symbol for a space back to a space; in the first token it may disappear instead.
struct MetaspaceDecode {
    std::string symbol;
    bool dropsInFirst = true;
};

/// A space between tokens: what a tokenizer.json without a decoder asks for.
struct JoinDecode {};

/// The decoder of a tokenizer.json as a chain of steps that work token by token. Its
/// behaviour is checked against Hugging Face tokenizers. Thread: read-only once made.
class TokenDecoder {
public:
    using Step = std::variant<ByteLevelDecode,
                              ByteFallbackDecode,
                              FuseDecode,
                              StripDecode,
                              ReplaceDecode,
                              MetaspaceDecode,
                              JoinDecode>;

    /// One text being decoded by the steps of a TokenDecoder, which must outlive it.
    class Run {
    public:
        explicit Run(const TokenDecoder& decoder);
        Run(Run&&) noexcept;
        ~Run();

        /// Takes the vocabulary text of the next token and appends what has become certain.
        void push(std::string_view tokenText, std::string& out);
        void finish(std::string& out);

    private:
        class Stages;
        std::unique_ptr<Stages> m_stages;
    };

    /// Errors: Unsupported when the step cannot follow the ones before it.
    Result<void> add(Step step);

    std::size_t stepCount() const { return m_steps.size(); }

    /// The bytes a token stands for in the middle of a text.
    std::string bytesOf(std::string_view tokenText) const;

private:
    std::vector<Step> m_steps;
    bool m_isFused = false; // the steps so far give one text, not tokens
};

/// The byte that a token such as "<0x0A>" stands for, or -1.
int byteOfToken(std::string_view tokenText);

} // namespace engine
