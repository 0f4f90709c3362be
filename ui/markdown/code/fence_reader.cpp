// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/code/fence_reader.h"

#include "ui/markdown/plain_characters.h"

#include <algorithm>

namespace ui {

namespace {

/// Whether this unfinished line may still become the closing fence. It is not shown then, so that
/// no mark flashes up at the end of each block.
bool mayCloseFence(QStringView line, const FenceLine& fence) {
    const QStringView text = line.trimmed();
    return std::all_of(
        text.begin(), text.end(), [&](QChar character) { return character == fence.mark; });
}

} // namespace

FenceReader::FenceReader(const QString& source, int begin, const FenceLine& fence)
    : m_begin(begin)
    , m_fence(fence) {
    const auto lineEnd = static_cast<int>(source.indexOf(u'\n', begin));
    m_next = lineEnd < 0 ? static_cast<int>(source.size()) : lineEnd + 1;
    m_scanned = m_next;
}

std::size_t FenceReader::read(const QString& source, int end, bool isClosed, Block& block) {
    block.kind = BlockKind::Code;
    block.language = showableText(m_fence.info.section(u' ', 0, 0).left(32));
    block.parts.resize(m_finishedParts);
    const std::size_t firstChanged = m_finishedParts;
    while (m_next < end) {
        const auto found = static_cast<int>(source.indexOf(u'\n', m_scanned));
        const bool isWhole = found >= 0 && found < end;
        const int lineEnd = isWhole ? found : end;
        if (isHidden(QStringView(source).mid(m_next, lineEnd - m_next), isWhole || isClosed)) {
            m_next = isWhole ? lineEnd + 1 : m_next;
        } else {
            addLine(source, lineEnd, isWhole, block);
            if (isWhole)
                block.parts.back().newline = lineEnd;
        }
        m_scanned = isWhole ? lineEnd + 1 : end;
        if (!isWhole)
            break;
        m_finishedParts = block.parts.size();
    }
    return firstChanged;
}

bool FenceReader::isHidden(QStringView line, bool isFinished) const {
    if (m_isInsideLine || line.size() > kLongestPiece)
        return false;
    return isFinished ? closesFence(line, m_fence) : mayCloseFence(line, m_fence);
}

void FenceReader::addLine(const QString& source, int end, bool isWhole, Block& block) {
    int begin = m_next;
    for (int spaces = 0;
         !m_isInsideLine && spaces < m_fence.indent && begin < end && source[begin] == u' ';
         ++spaces)
        ++begin;
    // One more character is held back, because a carriage return at the line's end is dropped.
    while (end - begin > kLongestPiece + 1) {
        begin = addPiece(source, begin, begin + kLongestPiece, block);
        m_next = begin;
        m_finishedParts = block.parts.size();
        m_isInsideLine = true;
    }
    const int shownEnd = end > begin && source[end - 1] == u'\r' ? end - 1 : end;
    addPiece(source, begin, shownEnd, block);
    if (isWhole) {
        m_next = end + 1;
        m_isInsideLine = false;
    }
}

/// Returns where the piece ends; a surrogate pair is not split.
int FenceReader::addPiece(const QString& source, int begin, int end, Block& block) {
    if (end < source.size() && end - begin >= kLongestPiece && source[end].isLowSurrogate())
        --end;
    StyledText piece;
    piece.text = showableText(QStringView(source).mid(begin, end - begin));
    if (end > begin)
        piece.runs.push_back({0, end - begin, begin, end, true, kPlainText, -1});
    block.parts.push_back(std::move(piece));
    return end;
}

} // namespace ui
