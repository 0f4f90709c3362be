// SPDX-License-Identifier: Apache-2.0
#include "engine/text/vocabulary/token_trie.h"

#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// What a token of these bytes writes as the first of a text. Empty also where that cannot be told,
/// because it is no whole characters.
std::string firstBytes(const Tokenizer& tokenizer, TokenId id, const std::string& bytes) {
    const auto decoded = tokenizer.decode({&id, 1}, true);
    if (!decoded)
        return {};
    std::string whole;
    utf8::LossyDecoder decoder;
    decoder.push(bytes, whole);
    decoder.finish(whole);
    if (decoded.value() == bytes || decoded.value() == whole)
        return bytes;
    return whole == bytes ? decoded.value() : std::string();
}

} // namespace

TokenTrie::TokenTrie(std::vector<std::string> bytes)
    : m_bytes(std::move(bytes)) {
    for (std::size_t id = 0; id < m_bytes.size(); ++id)
        if (!m_bytes[id].empty())
            m_tokens.push_back(static_cast<TokenId>(id));
    std::stable_sort(m_tokens.begin(), m_tokens.end(), [this](TokenId a, TokenId b) {
        return bytesOf(a) < bytesOf(b);
    });
    std::vector<std::size_t> path; // nodes from the first byte of the last token on
    const auto leaveTo = [&](std::size_t depth) {
        for (; path.size() > depth; path.pop_back())
            m_nodes[path.back()].behind = static_cast<std::int32_t>(m_nodes.size());
    };
    for (std::size_t place = 0; place < m_tokens.size(); ++place) {
        const std::string& text = bytesOf(m_tokens[place]);
        std::size_t shared = 0;
        while (shared < path.size() && shared < text.size() &&
               m_nodes[path[shared]].byte == static_cast<std::uint8_t>(text[shared]))
            ++shared;
        leaveTo(shared);
        for (std::size_t at = shared; at < text.size(); ++at) {
            path.push_back(m_nodes.size());
            const auto token = static_cast<std::int32_t>(place);
            m_nodes.push_back({static_cast<std::int32_t>(at + 1),
                               0,
                               token,
                               token,
                               static_cast<std::uint8_t>(text[at])});
        }
        m_nodes[path.back()].endToken = static_cast<std::int32_t>(place) + 1;
        m_depth = std::max(m_depth, static_cast<int>(text.size()));
    }
    leaveTo(0);
}

TokenTrie TokenTrie::of(const Tokenizer& tokenizer, int vocabSize) {
    std::vector<std::string> bytes(static_cast<std::size_t>(vocabSize));
    std::vector<std::string> firsts(bytes.size());
    const TokenId end = std::min(vocabSize, tokenizer.vocabSize());
    for (TokenId id = 0; id < end; ++id) {
        if (tokenizer.isSpecial(id))
            continue;
        const auto place = static_cast<std::size_t>(id);
        bytes[place] = tokenizer.tokenBytes(id);
        firsts[place] = firstBytes(tokenizer, id, bytes[place]);
    }
    const bool isAlike = firsts == bytes;
    TokenTrie trie(std::move(bytes));
    if (!isAlike)
        trie.m_first = std::make_shared<const TokenTrie>(std::move(firsts));
    return trie;
}

} // namespace engine
