// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/markdown_document.h"

#include "ui/markdown/markdown_parser.h"

#include <iterator>

namespace ui {

DocumentChange MarkdownDocument::append(const QString& text) {
    m_source += text;
    return update(false);
}

DocumentChange MarkdownDocument::finish() { return update(true); }

void MarkdownDocument::clear() { *this = MarkdownDocument(); }

DocumentChange MarkdownDocument::update(bool isFinished) {
    DocumentChange change{m_closedBlocks, 0};
    const std::vector<Block> before = takeOpenBlocks();
    const auto noteFence = [&](std::size_t part) {
        if (m_closedBlocks == change.block)
            change.part = part;
    };
    for (const Segment& segment : m_splitter.read(m_source, isFinished)) {
        if (segment.isFence) {
            const QStringView text = QStringView(m_source).mid(segment.begin);
            const auto lineEnd = text.indexOf(u'\n');
            const auto fence = openedFence(lineEnd < 0 ? text : text.left(lineEnd));
            openFence(segment.begin, *fence);
            noteFence(m_fence->read(m_source, segment.end, true, m_blocks.back()));
        } else {
            m_blocks.resize(m_closedBlocks);
            addParsed(segment.begin, segment.end);
            ++m_closedParses;
        }
        m_fence.reset();
        m_closedBlocks = m_blocks.size();
    }
    const int begin = m_splitter.openBegin();
    const auto end = static_cast<int>(m_source.size());
    if (const auto& fence = m_splitter.openFence()) {
        openFence(begin, *fence);
        noteFence(m_fence->read(m_source, end, false, m_blocks.back()));
    } else {
        m_blocks.resize(m_closedBlocks);
        addParsed(begin, end);
    }
    if (change.part > 0)
        return change;
    for (const Block& block : before) {
        if (change.block >= m_blocks.size() || m_blocks[change.block] != block)
            break;
        ++change.block;
    }
    return change;
}

/// The part that will be parsed again, to find out how much of it stays the same. The lines of an
/// open fence stay where they are.
std::vector<Block> MarkdownDocument::takeOpenBlocks() {
    if (m_fence)
        return {};
    const auto first = m_blocks.begin() + static_cast<std::ptrdiff_t>(m_closedBlocks);
    std::vector<Block> open(std::make_move_iterator(first),
                            std::make_move_iterator(m_blocks.end()));
    m_blocks.resize(m_closedBlocks);
    return open;
}

void MarkdownDocument::openFence(int begin, const FenceLine& fence) {
    if (m_fence)
        return;
    m_fence.emplace(m_source, begin, fence);
    m_blocks.resize(m_closedBlocks);
    m_blocks.emplace_back();
}

void MarkdownDocument::addParsed(int begin, int end) {
    if (begin >= end)
        return;
    m_parsedCharacters += end - begin;
    std::vector<Block> blocks = parseMarkdown(QStringView(m_source).mid(begin, end - begin), begin);
    m_blocks.insert(m_blocks.end(),
                    std::make_move_iterator(blocks.begin()),
                    std::make_move_iterator(blocks.end()));
}

} // namespace ui
