// SPDX-License-Identifier: Apache-2.0
#include "engine/text/vocabulary/added_tokens.h"

#include "engine/text/vocabulary/text_starts.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>

namespace engine {

namespace {

bool endsWithWord(std::string_view text) {
    std::size_t length = 0;
    return !text.empty() && utf8::isWordCharacter(utf8::lastCodePoint(text, length));
}

bool startsWithWord(std::string_view text) {
    std::size_t length = 0;
    return !text.empty() && utf8::isWordCharacter(utf8::firstCodePoint(text, length));
}

/// Where the white space at the end of a text starts, looking back no further than `floor`.
std::size_t trailingSpaceBegin(std::string_view text, std::size_t floor) {
    std::size_t length = 0;
    while (text.size() > floor && utf8::isWhiteSpace(utf8::lastCodePoint(text, length)))
        text.remove_suffix(length);
    return text.size();
}

std::size_t leadingSpaceLength(std::string_view text) {
    const std::size_t whole = text.size();
    std::size_t length = 0;
    while (!text.empty() && utf8::isWhiteSpace(utf8::firstCodePoint(text, length)))
        text.remove_prefix(length);
    return whole - text.size();
}

} // namespace

AddedTokenSplitter::AddedTokenSplitter(std::vector<AddedToken> tokens)
    : m_tokens(std::move(tokens)) {
    const auto byContent = [](const AddedToken& a, const AddedToken& b) {
        return a.content < b.content;
    };
    std::stable_sort(m_tokens.begin(), m_tokens.end(), byContent);
    const auto isSame = [](const AddedToken& a, const AddedToken& b) {
        return a.content == b.content;
    };
    m_tokens.erase(std::unique(m_tokens.begin(), m_tokens.end(), isSame), m_tokens.end());
    std::uint32_t index = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        m_firstByByte[byte] = index;
        while (index < m_tokens.size() &&
               static_cast<std::uint8_t>(m_tokens[index].content.front()) == byte)
            ++index;
    }
    m_firstByByte[256] = index;
}

const AddedToken* AddedTokenSplitter::longestAt(std::string_view text) const {
    const auto firstByte = static_cast<std::uint8_t>(text.front());
    const AddedToken* longest = nullptr;
    forEachStart(
        m_tokens.begin() + m_firstByByte[firstByte],
        m_tokens.begin() + m_firstByByte[firstByte + 1U],
        text,
        [](const AddedToken& token) -> const std::string& { return token.content; },
        [&](const AddedToken& token) { longest = &token; });
    return longest;
}

std::vector<TextSegment> AddedTokenSplitter::split(std::string_view text) const {
    std::vector<TextSegment> segments;
    std::size_t segmentBegin = 0;
    std::size_t position = m_tokens.empty() ? text.size() : 0;
    while (position < text.size()) {
        const AddedToken* token = longestAt(text.substr(position));
        if (token == nullptr) {
            ++position;
            continue;
        }
        std::size_t begin = position;
        std::size_t end = begin + token->content.size();
        position = end; // the search goes on here, whether the token counts or not
        if (token->isSingleWord &&
            (endsWithWord(text.substr(0, begin)) || startsWithWord(text.substr(end))))
            continue;
        if (token->stripsLeft)
            begin = std::max(segmentBegin, trailingSpaceBegin(text.substr(0, begin), segmentBegin));
        if (token->stripsRight)
            end += leadingSpaceLength(text.substr(end));
        if (segmentBegin < begin)
            segments.push_back({kNoToken, text.substr(segmentBegin, begin - segmentBegin)});
        // Nothing is left of a token whose text the one before took along as white space.
        if (begin < end)
            segments.push_back({token->id, text.substr(begin, end - begin)});
        segmentBegin = std::max(segmentBegin, end);
    }
    if (segmentBegin < text.size())
        segments.push_back({kNoToken, text.substr(segmentBegin)});
    return segments;
}

} // namespace engine
