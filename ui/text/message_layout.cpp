// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/message_layout.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

SourceRange sourceOf(const BlockView& block) {
    SourceRange range{-1, -1};
    const auto add = [&](const PlacedPiece& placed) {
        const SourceRange own = placed.piece.source();
        if (own.isEmpty())
            return;
        range.begin = range.begin < 0 ? own.begin : range.begin;
        range.end = own.end;
    };
    if (!block.markers().empty())
        add(block.markers().back());
    if (!block.parts().empty()) {
        add(block.parts().front());
        for (auto last = block.parts().rbegin(); last != block.parts().rend(); ++last) {
            if (last->piece.source().isEmpty())
                continue;
            add(*last);
            break;
        }
    }
    return range;
}

MessageLayout::MessageLayout(const Theme& theme)
    : m_context{theme, {}, false, theme.scaled(728)} {}

void MessageLayout::clear() {
    m_document.clear();
    m_context.tokens.clear();
    m_blocks.clear();
    m_tops.clear();
    m_showings.clear();
    m_shownTokens = 0;
}

double MessageLayout::append(const QString& text, const std::vector<TokenMark>& tokens) {
    const auto sizeBefore = static_cast<int>(m_document.source().size());
    const std::size_t tokensBefore = m_context.tokens.size();
    DocumentChange change = m_document.append(text);
    addTokens(tokens);
    // Tokens of text that came earlier are drawn in blocks that did not change.
    if (m_context.tokens.size() > tokensBefore &&
        m_context.tokens[tokensBefore].begin < sizeBefore) {
        const std::size_t first = firstBlockFrom(m_context.tokens[tokensBefore].begin);
        if (first < change.block || (first == change.block && change.part > 0))
            change = {first, 0};
    }
    return apply(change);
}

double MessageLayout::finish() { return apply(m_document.finish()); }

void MessageLayout::addTokens(const std::vector<TokenMark>& tokens) {
    const auto size = static_cast<int>(m_document.source().size());
    int end = m_context.tokens.empty() ? 0 : m_context.tokens.back().end;
    for (TokenMark token : tokens) {
        token.begin = std::clamp(token.begin, end, std::max(end, size));
        token.end = std::clamp(token.end, token.begin, std::max(token.begin, size));
        end = token.end;
        m_context.tokens.push_back(token);
    }
    m_showings.resize(m_context.tokens.size(), 0);
}

std::size_t MessageLayout::firstBlockFrom(int source) const {
    for (std::size_t i = m_blocks.size(); i > 0; --i) {
        const SourceRange range = sourceOf(m_blocks[i - 1]);
        if (range.begin >= 0 && range.end <= source)
            return i;
    }
    return 0;
}

double MessageLayout::apply(DocumentChange change) {
    change.block = std::min(change.block, m_blocks.size());
    const std::vector<Block>& blocks = m_document.blocks();
    const bool isGrowing = change.part > 0 && change.block < m_blocks.size() &&
                           m_blocks[change.block].kind() == BlockKind::Code;
    double unchanged = change.block < m_tops.size() ? m_tops[change.block] : height();
    if (isGrowing)
        unchanged += m_blocks[change.block].topOfPart(change.part - 1);
    const std::optional<BlockView> before =
        dropFrom(isGrowing ? change : DocumentChange{change.block, 0});
    if (isGrowing) {
        BlockView& block = m_blocks[change.block];
        block.extend(m_context, blocks[change.block], change.part);
        count(block, change.part, +1);
    }
    for (std::size_t i = m_blocks.size(); i < blocks.size(); ++i) {
        m_blocks.emplace_back(m_context, blocks[i]);
        count(m_blocks.back(), 0, +1);
    }
    place(change.block);
    if (isGrowing || change.block >= m_blocks.size())
        return unchanged;
    const double top = m_tops[change.block]; // another kind of block may stand higher
    if (before && top == unchanged)
        return top + m_blocks[change.block].unchangedHeight(*before);
    return std::min(top, unchanged);
}

/// Returns the first block that is dropped whole.
std::optional<BlockView> MessageLayout::dropFrom(DocumentChange change) {
    for (std::size_t i = change.block; i < m_blocks.size(); ++i)
        count(m_blocks[i], i == change.block ? change.part : 0, -1);
    const std::size_t kept = change.block + (change.part > 0 ? 1 : 0);
    std::optional<BlockView> first;
    if (kept < m_blocks.size())
        first = std::move(m_blocks[kept]);
    m_blocks.erase(m_blocks.begin() + static_cast<std::ptrdiff_t>(kept), m_blocks.end());
    return first;
}

void MessageLayout::count(const BlockView& block, std::size_t fromPart, int direction) {
    const auto countPiece = [&](const PlacedPiece& placed) {
        m_laidOutPieces += direction > 0 ? 1 : 0;
        for (const int token : placed.piece.tokens()) {
            std::uint16_t& showings = m_showings[static_cast<std::size_t>(token)];
            const bool wasShown = showings > 0;
            showings = static_cast<std::uint16_t>(showings + direction);
            m_shownTokens += static_cast<int>(showings > 0) - static_cast<int>(wasShown);
        }
    };
    if (fromPart == 0)
        std::for_each(block.markers().begin(), block.markers().end(), countPiece);
    for (std::size_t i = fromPart; i < block.parts().size(); ++i)
        countPiece(block.parts()[i]);
}

void MessageLayout::place(std::size_t fromBlock) {
    m_tops.resize(m_blocks.size());
    for (std::size_t i = fromBlock; i < m_blocks.size(); ++i) {
        if (i == 0) {
            m_tops[i] = 0.0;
            continue;
        }
        const BlockView& above = m_blocks[i - 1];
        const bool isUnderHeading = above.kind() == BlockKind::Heading;
        const double gap = isUnderHeading ? m_context.theme.scaled(6) : m_blocks[i].spaceBefore();
        m_blocks[i].setGap(gap);
        m_tops[i] = std::round(m_tops[i - 1] + above.height() + gap);
    }
}

void MessageLayout::setWidth(int width) {
    const int least = m_context.theme.scaled(60);
    width = std::max(width, least);
    if (width == m_context.width)
        return;
    m_context.width = width;
    for (BlockView& block : m_blocks) {
        block.layOut(m_context);
        m_laidOutPieces += static_cast<std::int64_t>(block.parts().size());
    }
    place(0);
}

void MessageLayout::setShowsOrigin(bool showsOrigin) {
    if (showsOrigin == m_context.showsOrigin)
        return;
    m_context.showsOrigin = showsOrigin;
    rebuild();
}

void MessageLayout::rebuild() { apply({0, 0}); }

double MessageLayout::height() const {
    if (m_blocks.empty())
        return textLineHeight(m_context);
    return std::ceil(m_tops.back() + m_blocks.back().height());
}

std::size_t MessageLayout::blockAt(double y) const {
    const auto next = std::upper_bound(m_tops.begin(), m_tops.end(), y);
    return next == m_tops.begin() ? 0 : static_cast<std::size_t>(next - m_tops.begin()) - 1;
}

void MessageLayout::paint(QPainter& painter, const PiecePaint& paint) const {
    const double top = paint.clip.top() - paint.at.y();
    for (std::size_t i = blockAt(top); i < m_blocks.size(); ++i) {
        PiecePaint own = paint;
        own.at += QPointF(0, m_tops[i]);
        if (own.at.y() > paint.clip.bottom())
            break;
        m_blocks[i].paint(painter, m_context, own);
    }
}

int MessageLayout::tokenAt(QPointF point) const {
    if (m_blocks.empty())
        return -1;
    const std::size_t block = blockAt(point.y());
    const QPointF inside = point - QPointF(0, m_tops[block]);
    const PlacedPiece* placed = m_blocks[block].nearestPiece(inside);
    return placed == nullptr ? -1 : placed->piece.tokenAt(inside - placed->at);
}

int MessageLayout::sourceAt(QPointF point) const {
    if (m_blocks.empty() || point.y() < 0)
        return 0;
    if (point.y() >= height())
        return static_cast<int>(m_document.source().size());
    const std::size_t block = blockAt(point.y());
    const QPointF inside = point - QPointF(0, m_tops[block]);
    const PlacedPiece* placed = m_blocks[block].nearestPiece(inside);
    if (placed == nullptr)
        return block == 0 ? 0 : std::max(0, sourceOf(m_blocks[block - 1]).end);
    return placed->piece.sourceAt(inside - placed->at);
}

SourceRange MessageLayout::wordAt(QPointF point) const {
    if (m_blocks.empty())
        return {};
    const std::size_t block = blockAt(point.y());
    const QPointF inside = point - QPointF(0, m_tops[block]);
    const PlacedPiece* placed = m_blocks[block].nearestPiece(inside);
    return placed == nullptr ? SourceRange{} : placed->piece.wordAt(inside - placed->at);
}

QString MessageLayout::linkAt(QPointF point) const {
    if (m_blocks.empty())
        return {};
    const std::size_t block = blockAt(point.y());
    return m_blocks[block].linkAt(point - QPointF(0, m_tops[block]));
}

QRectF MessageLayout::tokenRect(int token) const {
    if (token < 0 || token >= static_cast<int>(m_context.tokens.size()))
        return {};
    const TokenMark& mark = m_context.tokens[static_cast<std::size_t>(token)];
    for (std::size_t i = firstBlockFrom(mark.begin); i < m_blocks.size(); ++i) {
        const SourceRange range = sourceOf(m_blocks[i]);
        if (range.begin >= mark.end)
            break;
        QRectF found;
        const auto look = [&](const PlacedPiece& placed) {
            if (found.isNull())
                found = placed.piece.tokenRect(token).translated(placed.at);
        };
        const BlockView& block = m_blocks[i];
        std::for_each(block.markers().begin(), block.markers().end(), look);
        std::for_each(block.parts().begin(), block.parts().end(), look);
        if (!found.isNull())
            return found.translated(0, m_tops[i]);
    }
    return {};
}

int MessageLayout::nextShownToken(int token, int direction) const {
    const auto size = static_cast<int>(m_showings.size());
    for (; token >= 0 && token < size; token += direction)
        if (m_showings[static_cast<std::size_t>(token)] > 0)
            return token;
    return -1;
}

QRectF MessageLayout::caretRect() const {
    if (m_blocks.empty())
        return QRectF(0, 0, m_context.theme.scaled(2), textLineHeight(m_context));
    const BlockView& block = m_blocks.back();
    if (block.parts().empty()) {
        const double top = m_tops.back() + block.titleBar().bottom() + m_context.theme.scaled(6);
        return QRectF(
            m_context.theme.scaled(12), top, m_context.theme.scaled(2), m_context.theme.scaled(18));
    }
    const PlacedPiece& last = block.parts().back();
    return last.piece.caretRect(m_context.theme).translated(last.at + QPointF(0, m_tops.back()));
}

} // namespace ui
