// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/fence_reader.h"

#include "ui/markdown/plain_characters.h"

#include <algorithm>

namespace ui {

namespace {

/// Whether this unfinished line may still become the closing fence: then it is not shown, so that
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
        const QStringView line = QStringView(source).mid(m_next, lineEnd - m_next);
        const bool isHidden =
            isWhole || isClosed ? closesFence(line, m_fence) : mayCloseFence(line, m_fence);
        if (!isHidden)
            addLine(source, m_next, lineEnd, block);
        if (!isWhole) {
            m_scanned = end;
            break;
        }
        if (!isHidden)
            block.parts.back().newline = lineEnd;
        m_next = lineEnd + 1;
        m_scanned = m_next;
        m_finishedParts = block.parts.size();
    }
    return firstChanged;
}

void FenceReader::addLine(const QString& source, int begin, int end, Block& block) const {
    for (int spaces = 0; spaces < m_fence.indent && begin < end && source[begin] == u' '; ++spaces)
        ++begin;
    if (end > begin && source[end - 1] == u'\r')
        --end;
    do {
        int pieceEnd = std::min(end, begin + kLongestPiece);
        if (pieceEnd < end && source[pieceEnd].isLowSurrogate())
            --pieceEnd;
        StyledText piece;
        piece.text = showableText(QStringView(source).mid(begin, pieceEnd - begin));
        if (pieceEnd > begin)
            piece.runs.push_back({0, pieceEnd - begin, begin, pieceEnd, true, kPlainText, -1});
        block.parts.push_back(std::move(piece));
        begin = pieceEnd;
    } while (begin < end);
}

} // namespace ui
