// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/blocks/block_view.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ui {

namespace {

/// Pixels at text size 100 %.
constexpr int kItemIndent = 24;
constexpr int kMarkerGap = 8;
constexpr int kQuoteIndent = 16;
constexpr int kTitleBar = 28;
constexpr int kCodeSide = 12;
constexpr int kCodeAbove = 6;

QFont headingFont(const Theme& theme, int level) {
    QFont font = theme.font(TextRole::Conversation);
    font.setPixelSize(theme.scaled(level == 1 ? 20 : level == 2 ? 17 : level == 3 ? 15 : 14));
    font.setWeight(QFont::DemiBold);
    return font;
}

PieceStyle styleOf(const MessageContext& context, const Block& block, std::size_t part) {
    PieceStyle style;
    style.font = context.theme.font(TextRole::Conversation);
    style.lineHeight = textLineHeight(context);
    if (block.kind == BlockKind::Heading) {
        style.font = headingFont(context.theme, block.headingLevel);
        const int taller = block.headingLevel == 1 ? 6 : block.headingLevel == 2 ? 4 : 0;
        style.lineHeight += context.theme.scaled(taller);
    }
    if (block.kind == BlockKind::Table) {
        style.font.setPixelSize(context.theme.scaled(13));
        if (part < block.columns.size())
            style.font.setWeight(QFont::DemiBold);
    }
    return style;
}

double distance(double value, double low, double high) {
    return value < low ? low - value : value > high ? value - high : 0.0;
}

} // namespace

int textLineHeight(const MessageContext& context) {
    return context.theme.scaled(context.showsOrigin ? 24 : 22);
}

int codeLineHeight(const MessageContext& context) {
    return context.theme.scaled(context.showsOrigin ? 22 : 20);
}

BlockView::BlockView(const MessageContext& context, const Block& block)
    : m_kind(block.kind)
    , m_headingLevel(block.headingLevel)
    , m_isTight(block.isTight)
    , m_containers(block.containers)
    , m_columns(block.columns)
    , m_links(block.links)
    , m_sharedContainers(block.sharedContainers) {
    m_listDepth =
        static_cast<int>(std::count(m_containers.begin(), m_containers.end(), Container::Item));
    const bool isHeading = m_kind == BlockKind::Heading;
    const bool isTight = m_isTight && m_kind != BlockKind::Formula;
    m_spaceBefore = context.theme.scaled(isHeading ? 16 : isTight ? 2 : 10);
    makePieces(context, block);
    layOut(context);
}

void BlockView::makePieces(const MessageContext& context, const Block& block) {
    for (const ItemMarker& marker : block.markers) {
        PieceStyle style;
        style.font = context.theme.font(TextRole::Conversation);
        style.lineHeight = textLineHeight(context);
        m_markers.push_back({TextPiece(context, marker.text, style), {}});
        m_markers.back().piece.layOutOnOneLine(context);
        m_markerLevels.push_back(marker.level);
    }
    if (m_kind == BlockKind::Code) {
        addCodeLines(context, block, 0);
        return;
    }
    for (std::size_t i = 0; i < block.parts.size(); ++i)
        m_parts.push_back({TextPiece(context, block.parts[i], styleOf(context, block, i)), {}});
}

void BlockView::addCodeLines(const MessageContext& context,
                             const Block& block,
                             std::size_t fromPart) {
    const CodeHighlighter highlighter(block.language);
    m_title = highlighter.title();
    m_parts.erase(m_parts.begin() + static_cast<std::ptrdiff_t>(fromPart), m_parts.end());
    m_codeStates.resize(fromPart);
    std::vector<CodeSpan> colours;
    for (std::size_t i = fromPart; i < block.parts.size(); ++i) {
        colours.clear();
        const int before = i > 0 ? m_codeStates[i - 1] : 0;
        m_codeStates.push_back(highlighter.highlight(block.parts[i].text, before, colours));
        PieceStyle style;
        style.font = context.theme.font(TextRole::Code);
        style.lineHeight = codeLineHeight(context);
        style.isCode = true;
        style.colours = colours;
        m_parts.push_back({TextPiece(context, block.parts[i], style), {}});
    }
}

void BlockView::extend(const MessageContext& context, const Block& block, std::size_t fromPart) {
    const std::size_t from = std::min(fromPart, m_parts.size());
    addCodeLines(context, block, from);
    m_height = placeCode(context, from);
}

void BlockView::layOut(const MessageContext& context) {
    if (m_kind == BlockKind::Code)
        m_height = placeCode(context, 0);
    else if (m_kind == BlockKind::Table && !m_columns.empty())
        m_height = placeTable(context);
    else if (m_kind == BlockKind::Rule)
        m_height = context.theme.scaled(13);
    else
        m_height = placeText(context);
    double x = 0.0;
    std::size_t next = 0;
    const double top = m_kind == BlockKind::Code ? 0.0 : m_parts.empty() ? 0.0 : m_parts[0].at.y();
    for (std::size_t level = 0; level < m_containers.size(); ++level) {
        x += context.theme.scaled(m_containers[level] == Container::Item ? kItemIndent
                                                                         : kQuoteIndent);
        if (next >= m_markers.size() || m_markerLevels[next] != static_cast<int>(level))
            continue;
        PlacedPiece& marker = m_markers[next++];
        const double left = x - context.theme.scaled(kMarkerGap) - marker.piece.naturalWidth();
        const double outer = x - context.theme.scaled(kItemIndent);
        marker.at = {std::max(outer, std::floor(left)), top};
    }
    for (const PlacedPiece& marker : m_markers)
        m_height = std::max(m_height, marker.at.y() + marker.piece.height());
}

double BlockView::indent(const MessageContext& context) const {
    double x = 0.0;
    for (const Container container : m_containers)
        x += context.theme.scaled(container == Container::Item ? kItemIndent : kQuoteIndent);
    return std::min(x, context.width * 0.6);
}

double BlockView::placeText(const MessageContext& context) {
    const double left = indent(context);
    double y = 0.0;
    const Qt::Alignment side = m_kind == BlockKind::Formula ? Qt::AlignHCenter : Qt::AlignLeft;
    for (PlacedPiece& part : m_parts) {
        part.piece.layOut(context, context.width - left, side);
        part.at = {left, y};
        y += part.piece.height();
    }
    return y;
}

double BlockView::unchangedHeight(const BlockView& before) const {
    const bool isText = m_kind == BlockKind::Paragraph && before.m_kind == BlockKind::Paragraph;
    const bool isSamePlace = m_containers == before.m_containers && m_gap == before.m_gap &&
                             m_markers.size() == before.m_markers.size() &&
                             m_sharedContainers == before.m_sharedContainers;
    if (!isText || !isSamePlace)
        return 0.0;
    for (std::size_t i = 0; i < m_markers.size(); ++i)
        if (m_markers[i].at != before.m_markers[i].at ||
            m_markers[i].piece.unchangedHeight(before.m_markers[i].piece) <
                m_markers[i].piece.height())
            return 0.0;
    double same = 0.0;
    for (std::size_t i = 0; i < std::min(m_parts.size(), before.m_parts.size()); ++i) {
        const PlacedPiece& own = m_parts[i];
        if (own.at != before.m_parts[i].at)
            break;
        const double lines = own.piece.unchangedHeight(before.m_parts[i].piece);
        same = own.at.y() + lines;
        if (lines < own.piece.height())
            break;
    }
    return same;
}

double BlockView::placeCode(const MessageContext& context, std::size_t fromPart) {
    const Theme& theme = context.theme;
    const double left = indent(context);
    const double width = context.width - left;
    const double side = theme.scaled(kCodeSide);
    const double above = theme.scaled(kCodeAbove);
    m_titleBar = QRectF(left, 0, width, theme.scaled(kTitleBar));
    double y = m_titleBar.bottom() + above;
    if (fromPart > 0)
        y = m_parts[fromPart - 1].at.y() + m_parts[fromPart - 1].piece.height();
    for (std::size_t i = fromPart; i < m_parts.size(); ++i) {
        m_parts[i].piece.layOut(context, width - 2 * side);
        m_parts[i].at = {left + side, y};
        y += m_parts[i].piece.height();
    }
    if (m_parts.empty())
        y += codeLineHeight(context);
    m_frame = QRectF(left, 0, width, y + above);
    return m_frame.height();
}

double BlockView::topOfPart(std::size_t part) const {
    return part < m_parts.size() ? m_parts[part].at.y() : 0.0;
}

void BlockView::paint(QPainter& painter,
                      const MessageContext& context,
                      const PiecePaint& paint) const {
    paintBars(painter, context, paint.at);
    if (m_kind == BlockKind::Code)
        paintFrame(painter, context, paint.at);
    else if (m_kind == BlockKind::Table)
        paintTable(painter, context, paint.at);
    const auto paintPiece = [&](const PlacedPiece& placed) {
        PiecePaint own = paint;
        own.at += placed.at;
        if (own.at.y() > paint.clip.bottom() ||
            own.at.y() + placed.piece.height() + 1 < paint.clip.top())
            return;
        placed.piece.paint(painter, context, own);
    };
    std::for_each(m_markers.begin(), m_markers.end(), paintPiece);
    std::for_each(m_parts.begin(), m_parts.end(), paintPiece);
}

void BlockView::paintFrame(QPainter& painter, const MessageContext& context, QPointF at) const {
    const Colours& colours = context.theme.colours();
    const QRectF frame = m_frame.translated(at);
    const double radius = context.theme.scaled(4);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(colours.border);
    painter.setBrush(colours.codeGround);
    painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    painter.restore();
    const QRectF bar = m_titleBar.translated(at);
    painter.fillRect(QRectF(bar.left() + 1, bar.bottom() - 1, bar.width() - 2, 1), colours.border);
    painter.setFont(context.theme.font(TextRole::Interface));
    painter.setPen(colours.muted);
    const int side = context.theme.scaled(kCodeSide);
    const QRectF words = bar.adjusted(side, 0, -context.theme.scaled(100), 0);
    const QString shown =
        painter.fontMetrics().elidedText(m_title, Qt::ElideRight, static_cast<int>(words.width()));
    painter.drawText(words, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, shown);
}

/// The bars of quotes, and the line of a rule.
void BlockView::paintBars(QPainter& painter, const MessageContext& context, QPointF at) const {
    const Colours& colours = context.theme.colours();
    double x = 0.0;
    const double limit = context.width * 0.6;
    for (std::size_t level = 0; level < m_containers.size(); ++level) {
        const Container container = m_containers[level];
        const double above = level < m_sharedContainers ? m_gap : 0.0;
        const QRectF bar(at.x() + x, at.y() - above, context.theme.scaled(3), m_height + above);
        if (container == Container::Quote && x < limit)
            painter.fillRect(bar, colours.controlBorder);
        x += context.theme.scaled(container == Container::Item ? kItemIndent : kQuoteIndent);
    }
    if (m_kind == BlockKind::Rule)
        painter.fillRect(QRectF(at.x() + indent(context),
                                at.y() + std::floor(m_height / 2.0),
                                context.width - indent(context),
                                1),
                         colours.border);
}

const PlacedPiece* BlockView::nearestPiece(QPointF point) const {
    const PlacedPiece* nearest = nullptr;
    double least = std::numeric_limits<double>::max();
    const auto look = [&](const PlacedPiece& placed) {
        const TextPiece& piece = placed.piece;
        const double down = distance(point.y(), placed.at.y(), placed.at.y() + piece.height());
        const double across =
            distance(point.x(), placed.at.x(), placed.at.x() + piece.naturalWidth());
        // The line counts before the column.
        const double far = down * 1e4 + across;
        if (far >= least || piece.source().isEmpty())
            return;
        least = far;
        nearest = &placed;
    };
    std::for_each(m_markers.begin(), m_markers.end(), look);
    std::for_each(m_parts.begin(), m_parts.end(), look);
    return nearest;
}

QString BlockView::linkAt(QPointF point) const {
    const PlacedPiece* placed = nearestPiece(point);
    const int link = placed == nullptr ? -1 : placed->piece.linkAt(point - placed->at);
    return link >= 0 && link < m_links.size() ? m_links[link] : QString();
}

} // namespace ui
