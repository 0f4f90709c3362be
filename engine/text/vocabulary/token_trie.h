// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// A vocabulary by the bytes of its tokens: tokens that begin alike share the nodes of their
/// beginning, so that a walk looks at each beginning once and leaves out all tokens behind one that
/// does not fit. Thread: read-only once made.
class TokenTrie {
public:
    /// A byte behind the bytes of the node above it.
    struct Node {
        std::int32_t depth;      ///< bytes from the start of the tokens, 1 for their first
        std::int32_t behind;     ///< the node that follows all nodes below this one
        std::int32_t firstToken; ///< the tokens that end here are tokens()[firstToken, endToken)
        std::int32_t endToken;
        std::uint8_t byte;
    };

    /// Shapes: bytes [vocab]; a token without bytes is not in the trie.
    explicit TokenTrie(std::vector<std::string> bytes);

    /// Of a model with `vocabSize` ids; special tokens and ids without a token stand for no bytes.
    static TokenTrie of(const Tokenizer& tokenizer, int vocabSize);

    /// The same tokens as each begins a text: some tokenizers leave a space out there. A token that
    /// writes nothing there is not in it.
    const TokenTrie& first() const { return m_first == nullptr ? *this : *m_first; }

    /// In the order of a walk: each node before those below it.
    std::span<const Node> nodes() const { return m_nodes; }

    std::span<const TokenId> tokens() const { return m_tokens; }

    int vocabSize() const { return static_cast<int>(m_bytes.size()); }

    /// Empty for a token that is not in the trie. `token` is in the vocabulary.
    const std::string& bytesOf(TokenId token) const {
        return m_bytes[static_cast<std::size_t>(token)];
    }

    /// The length of the longest token.
    int depth() const { return m_depth; }

private:
    std::vector<std::string> m_bytes; // [vocab]
    std::vector<TokenId> m_tokens;    // by their bytes
    std::vector<Node> m_nodes;
    int m_depth = 0;
    std::shared_ptr<const TokenTrie> m_first; // null where all tokens write the same everywhere
};

} // namespace engine
