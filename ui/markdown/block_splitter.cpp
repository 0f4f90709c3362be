// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/block_splitter.h"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kTabWidth = 4;
constexpr int kLongestWord = 256; ///< that stays whole where a long text is cut

/// Columns before the first character that is no space; -1 for a blank line.
int indentOf(QStringView line) {
    int column = 0;
    for (const QChar character : line) {
        if (character == u' ')
            ++column;
        else if (character == u'\t')
            column += kTabWidth - column % kTabWidth;
        else if (character != u'\r')
            return column;
    }
    return -1;
}

/// Columns of a list marker and the space after it; 0 if there is none.
int listMarkerWidth(QStringView line) {
    const QStringView text = line.trimmed();
    qsizetype marks = 0;
    while (marks < text.size() && marks < 9 && text[marks] >= u'0' && text[marks] <= u'9')
        ++marks;
    const bool isNumber = marks > 0;
    if (marks >= text.size())
        return 0;
    const QChar mark = text[marks];
    const bool isMarker =
        isNumber ? mark == u'.' || mark == u')' : mark == u'-' || mark == u'*' || mark == u'+';
    if (!isMarker)
        return 0;
    ++marks;
    qsizetype spaces = 0;
    while (marks + spaces < text.size() && text[marks + spaces] == u' ')
        ++spaces;
    if (spaces == 0 && marks < text.size() && text[marks] != u'\t')
        return 0;
    // With five spaces or more, the item begins with indented code, one column after its marker.
    return static_cast<int>(marks + (spaces >= 1 && spaces <= kTabWidth ? spaces : 1));
}

qsizetype markCount(QStringView text) {
    qsizetype count = 0;
    while (count < text.size() && text[count] == text[0])
        ++count;
    return count;
}

/// The nearest place at or before this one that does not split a word; a very long word is split
/// between two characters.
int wordEnd(const QString& source, int place) {
    for (int end = place; end > place - kLongestWord; --end)
        if (source[end - 1].isSpace())
            return end;
    return source[place].isLowSurrogate() ? place - 1 : place;
}

} // namespace

std::optional<FenceLine> openedFence(QStringView line) {
    const int indent = indentOf(line);
    const QStringView text = line.trimmed();
    if (indent < 0 || indent >= kTabWidth || text.isEmpty() || (text[0] != u'`' && text[0] != u'~'))
        return std::nullopt;
    const qsizetype count = markCount(text);
    const QStringView info = text.mid(count).trimmed();
    if (count < 3 || (text[0] == u'`' && info.contains(u'`')))
        return std::nullopt;
    return FenceLine{text[0], static_cast<int>(count), indent, info.toString()};
}

bool closesFence(QStringView line, const FenceLine& fence) {
    const int indent = indentOf(line);
    const QStringView text = line.trimmed();
    return indent >= 0 && indent < kTabWidth && text[0] == fence.mark &&
           markCount(text) == text.size() && text.size() >= fence.length;
}

std::vector<Segment> BlockSplitter::read(const QString& source, bool isFinished) {
    m_closed.clear();
    const QStringView view(source);
    const int size = static_cast<int>(source.size());
    while (true) {
        const auto found = static_cast<int>(view.indexOf(u'\n', m_scanned));
        const int end = found < 0 ? size : found;
        if (!m_fence && cutTooLong(source, end))
            continue;
        if (found < 0 && !(isFinished && m_next < size)) {
            m_scanned = size;
            break;
        }
        const int next = found < 0 ? size : found + 1;
        const Line line{view.mid(m_next, end - m_next), m_next, end, next};
        m_next = next;
        m_scanned = next;
        readLine(line);
    }
    if (isFinished && m_begin < size)
        close(size, m_fence.has_value());
    return std::exchange(m_closed, {});
}

bool BlockSplitter::cutTooLong(const QString& source, int end) {
    if (end - m_begin <= kLongestSegment)
        return false;
    int cut = m_next;
    if (cut == m_begin) {
        cut = wordEnd(source, m_begin + kLongestSegment);
    }
    close(cut, false);
    m_next = cut;
    m_scanned = std::max(m_scanned, cut);
    return true;
}

void BlockSplitter::readLine(const Line& line) {
    if (m_fence) {
        readFenceLine(line);
        return;
    }
    const int indent = indentOf(line.text);
    if (indent < 0) {
        if (m_kind == Kind::Paragraph)
            close(line.next, false);
        m_isAfterBlank = true;
        return;
    }
    const bool isInItem = m_kind == Kind::List && indent >= m_contentIndent;
    if (const auto fence = openedFence(line.text); fence && !isInItem) {
        close(line.begin, false);
        m_fence = fence;
        return;
    }
    const int markerWidth = indent < kTabWidth || isInItem ? listMarkerWidth(line.text) : 0;
    if (startsSegment(line, indent, markerWidth))
        close(line.begin, false);
    if (!isInItem || m_kind == Kind::Empty)
        classify(indent, markerWidth);
    m_isAfterBlank = false;
}

void BlockSplitter::readFenceLine(const Line& line) {
    if (closesFence(line.text, *m_fence))
        close(line.next, true);
}

bool BlockSplitter::startsSegment(const Line& line, int indent, int markerWidth) const {
    switch (m_kind) {
    case Kind::Empty:
    case Kind::Paragraph: // a blank line has closed it
        return false;
    case Kind::IndentedCode:
        return indent < kTabWidth;
    case Kind::List:
        if (indent >= m_contentIndent)
            return false;
        return markerWidth > 0 ? line.begin - m_begin > kLongestList : m_isAfterBlank;
    }
    return false;
}

void BlockSplitter::classify(int indent, int markerWidth) {
    if (markerWidth > 0) {
        m_kind = Kind::List;
        m_contentIndent = indent + markerWidth;
    } else if (m_kind == Kind::Empty) {
        m_kind = indent >= kTabWidth ? Kind::IndentedCode : Kind::Paragraph;
    }
}

void BlockSplitter::close(int end, bool isFence) {
    if (end > m_begin)
        m_closed.push_back({m_begin, end, isFence});
    m_begin = end;
    m_kind = Kind::Empty;
    m_isAfterBlank = false;
    m_fence.reset();
}

} // namespace ui
