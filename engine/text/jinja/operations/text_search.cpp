// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/operations/text_search.h"

#include "engine/text/jinja/values/utf8_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

/// Finds one text in others by the method of Knuth, Morris and Pratt (SIAM J. Comput. 6, 1977):
/// linear for all bytes, where std::string::find is quadratic for hostile ones.
class Searcher {
public:
    /// `wanted` must outlive the searcher.
    explicit Searcher(std::string_view wanted)
        : m_wanted(wanted)
        , m_borders(wanted.size() + 1, 0) {
        for (std::size_t i = 1; i < wanted.size(); ++i)
            m_borders[i + 1] = static_cast<std::uint32_t>(advance(m_borders[i], wanted[i]));
    }

    /// Byte offset of the first occurrence from `start` on, or npos.
    std::size_t find(std::string_view text, std::size_t start) const {
        if (start > text.size())
            return std::string_view::npos;
        if (m_wanted.size() < 2)
            return m_wanted.empty() ? start : text.find(m_wanted.front(), start);
        std::size_t matched = 0;
        for (std::size_t i = start; i < text.size(); ++i) {
            matched = advance(matched, text[i]);
            if (matched == m_wanted.size())
                return i + 1 - matched;
        }
        return std::string_view::npos;
    }

private:
    /// How many bytes match after one more, when `matched` (not all) did before.
    std::size_t advance(std::size_t matched, char next) const {
        while (matched > 0 && m_wanted[matched] != next)
            matched = m_borders[matched];
        return m_wanted[matched] == next ? matched + 1 : 0;
    }

    std::string_view m_wanted;
    std::vector<std::uint32_t> m_borders; // longest start that is also the end of the first i bytes
};

/// The characters that strip takes away.
class StripSet {
public:
    explicit StripSet(std::optional<std::string_view> characters)
        : m_isWhitespace(!characters) {
        for (std::size_t offset = 0; characters && offset < characters->size();) {
            const auto [codePoint, bytes] = utf8::characterAt(*characters, offset);
            m_codePoints.push_back(codePoint);
            offset += bytes;
        }
        std::sort(m_codePoints.begin(), m_codePoints.end());
    }

    bool contains(char32_t codePoint) const {
        return m_isWhitespace
                   ? utf8::isSpace(codePoint)
                   : std::binary_search(m_codePoints.begin(), m_codePoints.end(), codePoint);
    }

private:
    bool m_isWhitespace;
    std::vector<char32_t> m_codePoints;
};

/// Offset of the character that ends at `end`.
std::size_t startOfCharacterBefore(std::string_view text, std::size_t end) {
    for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(4, end); ++bytes) {
        const std::size_t start = end - bytes;
        const bool isContinuation = (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U;
        if (!isContinuation)
            return utf8::characterAt(text, start).bytes == bytes ? start : end - 1;
    }
    return end - 1;
}

std::vector<std::string_view>
splitAtSeparator(std::string_view text, std::string_view separator, std::size_t limit) {
    const Searcher searcher(separator);
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    while (parts.size() < limit) {
        const std::size_t found = searcher.find(text, start);
        if (found == std::string_view::npos)
            break;
        parts.push_back(text.substr(start, found - start));
        start = found + separator.size();
    }
    parts.push_back(text.substr(start));
    return parts;
}

std::string reversedBytes(std::string_view text) { return {text.rbegin(), text.rend()}; }

std::vector<std::string_view>
splitAtSeparatorFromRight(std::string_view text, std::string_view separator, std::size_t limit) {
    // Reversed copies, because the search only goes forwards.
    const std::string reversedText = reversedBytes(text);
    const std::string reversedSeparator = reversedBytes(separator);
    const Searcher searcher(reversedSeparator);
    std::vector<std::string_view> parts;
    std::size_t passed = 0;
    while (parts.size() < limit) {
        const std::size_t found = searcher.find(reversedText, passed);
        if (found == std::string_view::npos)
            break;
        parts.push_back(text.substr(text.size() - found, found - passed));
        passed = found + separator.size();
    }
    parts.push_back(text.substr(0, text.size() - passed));
    std::reverse(parts.begin(), parts.end());
    return parts;
}

std::size_t endOfWord(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size()) {
        const auto [codePoint, bytes] = utf8::characterAt(text, end);
        if (utf8::isSpace(codePoint))
            break;
        end += bytes;
    }
    return end;
}

std::vector<std::string_view> splitAtWhitespace(std::string_view text, std::size_t limit) {
    std::vector<std::string_view> words;
    std::string_view rest = stripped(text, std::nullopt, Side::Left);
    while (!rest.empty() && words.size() < limit) {
        const std::size_t end = endOfWord(rest);
        words.push_back(rest.substr(0, end));
        rest = stripped(rest.substr(end), std::nullopt, Side::Left);
    }
    if (!rest.empty())
        words.push_back(rest);
    return words;
}

std::size_t startOfLastWord(std::string_view text) {
    std::size_t start = text.size();
    while (start > 0) {
        const std::size_t previous = startOfCharacterBefore(text, start);
        if (utf8::isSpace(utf8::characterAt(text, previous).codePoint))
            break;
        start = previous;
    }
    return start;
}

std::vector<std::string_view> splitAtWhitespaceFromRight(std::string_view text, std::size_t limit) {
    std::vector<std::string_view> words;
    std::string_view rest = stripped(text, std::nullopt, Side::Right);
    while (!rest.empty() && words.size() < limit) {
        const std::size_t start = startOfLastWord(rest);
        words.push_back(rest.substr(start));
        rest = stripped(rest.substr(0, start), std::nullopt, Side::Right);
    }
    if (!rest.empty())
        words.push_back(rest);
    std::reverse(words.begin(), words.end());
    return words;
}

bool isLineEnd(char32_t codePoint) {
    return (codePoint >= 0x0A && codePoint <= 0x0D) || (codePoint >= 0x1C && codePoint <= 0x1E) ||
           codePoint == 0x85 || codePoint == 0x2028 || codePoint == 0x2029;
}

} // namespace

std::size_t findText(std::string_view text, std::string_view wanted, std::size_t start) {
    return Searcher(wanted).find(text, start);
}

std::size_t findLastText(std::string_view text, std::string_view wanted) {
    const std::string reversedWanted = reversedBytes(wanted);
    const std::size_t found = findText(reversedBytes(text), reversedWanted, 0);
    return found == std::string_view::npos ? found : text.size() - found - wanted.size();
}

std::size_t countText(std::string_view text, std::string_view wanted) {
    if (wanted.empty())
        return utf8::characterCount(text) + 1;
    const Searcher searcher(wanted);
    std::size_t count = 0;
    for (std::size_t at = searcher.find(text, 0); at != std::string_view::npos; ++count)
        at = searcher.find(text, at + wanted.size());
    return count;
}

std::string_view
stripped(std::string_view text, std::optional<std::string_view> characters, Side side) {
    const StripSet set(characters);
    std::size_t start = 0;
    while (side != Side::Right && start < text.size()) {
        const auto [codePoint, bytes] = utf8::characterAt(text, start);
        if (!set.contains(codePoint))
            break;
        start += bytes;
    }
    std::size_t end = text.size();
    while (side != Side::Left && end > start) {
        const std::size_t previous = startOfCharacterBefore(text, end);
        if (!set.contains(utf8::characterAt(text, previous).codePoint))
            break;
        end = previous;
    }
    return text.substr(start, end - start);
}

std::vector<std::string_view> splitText(std::string_view text,
                                        std::optional<std::string_view> separator,
                                        std::int64_t limit,
                                        Side from) {
    const std::size_t most = limit < 0 ? SIZE_MAX : static_cast<std::size_t>(limit);
    if (from == Side::Right)
        return separator ? splitAtSeparatorFromRight(text, *separator, most)
                         : splitAtWhitespaceFromRight(text, most);
    return separator ? splitAtSeparator(text, *separator, most) : splitAtWhitespace(text, most);
}

std::vector<std::string_view> splitLines(std::string_view text, bool keepsEnds) {
    std::vector<std::string_view> lines;
    std::size_t start = 0;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(text, offset);
        const std::size_t lineEnd = offset;
        offset += bytes;
        if (!isLineEnd(codePoint))
            continue;
        if (codePoint == '\r' && offset < text.size() && text[offset] == '\n')
            ++offset;
        lines.push_back(text.substr(start, (keepsEnds ? offset : lineEnd) - start));
        start = offset;
    }
    if (start < text.size())
        lines.push_back(text.substr(start));
    return lines;
}

std::string replaceText(std::string_view text,
                        std::string_view wanted,
                        std::string_view replacement,
                        std::size_t limit) {
    const Searcher searcher(wanted);
    std::string out;
    std::size_t start = 0;
    for (std::size_t done = 0; done < limit; ++done) {
        const std::size_t found = searcher.find(text, start);
        if (found == std::string_view::npos)
            break;
        out += text.substr(start, found - start);
        out += replacement;
        start = found + wanted.size();
        if (!wanted.empty())
            continue;
        // An empty text is found before every character and at the end.
        if (start == text.size())
            return out;
        const std::size_t bytes = utf8::characterAt(text, start).bytes;
        out += text.substr(start, bytes);
        start += bytes;
    }
    out += text.substr(start);
    return out;
}

} // namespace engine::jinja
