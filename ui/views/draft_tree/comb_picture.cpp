// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/figure_text.h"
#include "ui/views/draft_tree/draft_end_text.h"
#include "ui/views/draft_tree/draft_tree_view.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

// Paints a comb.

namespace ui {

namespace {

constexpr int kMostRowsHigh = 64;
constexpr int kMostReasonLines = 4; // why a draft stopped

} // namespace

CombPicture::CombPicture(const Theme& theme, DraftTreeForm form, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_form(form) {
    setAccessibleName(tr("Draft tree"));
}

void CombPicture::show(DraftComb comb) {
    const QSize before = sizeHint();
    m_comb = std::move(comb);
    if (sizeHint() != before)
        updateGeometry();
    update();
}

QString CombPicture::endText() const {
    const QString why = draftEndText(m_comb.end);
    return why.isEmpty() ? QString() : tr("Draft stops here: %1").arg(why);
}

QSize CombPicture::sizeHint() const {
    const int rows = std::min(static_cast<int>(m_comb.rows.size()), kMostRowsHigh);
    const int legend = m_comb.sideCount > 0 ? m_theme.scaled(26) : 0;
    return {m_theme.scaled(320), rowTop(rows + 1) + m_theme.scaled(kEndHeight) + legend};
}

/// Row 0 is the root, with the column titles above it. Rows outside the draft are below the row
/// they belong to.
int CombPicture::rowTop(int row) const {
    int strips = 0;
    for (int above = 0; above < row; ++above)
        strips += sidesOf(above).empty() ? 0 : 1;
    const bool isCompact = m_form == DraftTreeForm::Compact;
    return m_theme.scaled(isCompact ? 24 : 30) + row * m_theme.scaled(isCompact ? 28 : 32) +
           strips * m_theme.scaled(20);
}

CombPicture::Columns CombPicture::columns() const {
    Columns columns;
    columns.depthX = m_theme.scaled(12);
    columns.choiceX = m_theme.scaled(52);
    columns.choiceWidth = std::clamp(width() * 3 / 10, m_theme.scaled(76), m_theme.scaled(130));
    columns.alternativeX = columns.choiceX + columns.choiceWidth + m_theme.scaled(20);
    columns.right = width() - m_theme.scaled(12);
    return columns;
}

void CombPicture::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    const Columns place = columns();
    QPainter painter(this);
    painter.fillRect(rect(), colours.panel);
    painter.setFont(m_theme.font(TextRole::Small));
    painter.setPen(colours.muted);
    const bool isCompact = m_form == DraftTreeForm::Compact;
    const QRect words(0, m_theme.scaled(isCompact ? 1 : 6), place.right, m_theme.scaled(20));
    painter.drawText(words.adjusted(place.depthX, 0, 0, 0), Qt::AlignVCenter, tr("depth"));
    painter.drawText(words.adjusted(place.choiceX, 0, 0, 0), Qt::AlignVCenter, tr("first choice"));
    writeBesideK(painter, words, place, tr("alternatives"));
    painter.drawText(words, Qt::AlignVCenter | Qt::AlignRight, QStringLiteral("k"));
    const int boxHeight = m_theme.scaled(23);
    const QRect root(place.choiceX, rowTop(0), place.choiceWidth, boxHeight);
    painter.drawText(QRect(place.depthX, rowTop(0), m_theme.scaled(30), boxHeight),
                     Qt::AlignVCenter,
                     QStringLiteral("0"));
    CombNode rootNode;
    rootNode.text = m_comb.rootText.isEmpty() ? tr("prompt") : m_comb.rootText;
    paintBox(painter, root, rootNode, Look::Root);
    for (const CombRow& row : m_comb.rows)
        paintRow(painter, row, place);
    m_shownSides = 0;
    for (int row = 0; row <= static_cast<int>(m_comb.rows.size()); ++row)
        paintSides(painter, row, place);
    if (!m_comb.rows.empty())
        paintEnd(painter, place);
    if (m_comb.sideCount > 0)
        paintSideLegend(painter, place);
}

void CombPicture::paintRow(QPainter& painter, const CombRow& row, const Columns& place) {
    const Colours& colours = m_theme.colours();
    const int top = rowTop(row.depth);
    const int boxHeight = m_theme.scaled(23);
    const QRect box(place.choiceX, top, place.choiceWidth, boxHeight);
    const int stem = box.x() + m_theme.scaled(14);
    const int elbow = top - m_theme.scaled(5);
    const int aboveBottom = rowTop(row.depth - 1) + boxHeight;
    painter.setPen(colours.muted);
    painter.setFont(m_theme.font(TextRole::Figure));
    painter.drawText(QRect(place.depthX, top, m_theme.scaled(30), boxHeight),
                     Qt::AlignVCenter,
                     QString::number(row.depth));
    painter.drawText(QRect(0, top, place.right, boxHeight),
                     Qt::AlignVCenter | Qt::AlignRight,
                     QString::number(row.choices));
    if (row.firstChoice.index >= 0) {
        painter.setPen(QPen(row.firstChoice.isAccepted ? colours.acceptedLine : colours.border,
                            row.firstChoice.isAccepted ? m_theme.scaled(3) : 1));
        painter.drawLine(stem, aboveBottom, stem, top);
        paintBox(painter,
                 box,
                 row.firstChoice,
                 row.firstChoice.isAccepted ? Look::Accepted : Look::Rejected);
    }
    if (row.alternatives.empty()) {
        painter.setFont(m_theme.font(TextRole::Small));
        painter.setPen(colours.muted);
        if (row.firstChoice.index >= 0)
            writeBesideK(painter, QRect(0, top, place.right, boxHeight), place, tr("none needed"));
        return;
    }
    painter.setPen(colours.border);
    painter.drawLine(stem, elbow, place.alternativeX + m_theme.scaled(12), elbow);
    const int accepted = paintAlternatives(painter, row, top, place);
    if (accepted > 0) {
        painter.setPen(QPen(colours.acceptedLine, m_theme.scaled(3)));
        painter.drawLine(stem, elbow, accepted, elbow);
        painter.drawLine(accepted, elbow, accepted, top);
        painter.drawLine(stem, aboveBottom, stem, elbow);
    }
}

/// Paints the alternatives, as far as the column of k leaves room.
void CombPicture::writeBesideK(QPainter& painter,
                               QRect line,
                               const Columns& place,
                               const QString& text) const {
    line.setLeft(place.alternativeX);
    line.setRight(place.right - m_theme.scaled(22));
    painter.drawText(
        line,
        Qt::AlignVCenter,
        painter.fontMetrics().elidedText(text, Qt::ElideRight, std::max(0, line.width())));
}

/// Returns the place of the accepted one, 0 if there is none. The accepted one is always shown.
int CombPicture::paintAlternatives(QPainter& painter,
                                   const CombRow& row,
                                   int top,
                                   const Columns& place) {
    std::vector<CombNode> nodes = row.alternatives;
    std::ranges::stable_partition(nodes, [](const CombNode& node) { return node.isAccepted; });
    const int gap = m_theme.scaled(6);
    const int room = place.right - m_theme.scaled(52) - place.alternativeX;
    const int boxWidth = std::clamp(room, m_theme.scaled(56), m_theme.scaled(92));
    const int fitting = std::max(1, (room + gap) / (boxWidth + gap));
    const int shown = std::min(static_cast<int>(nodes.size()), fitting);
    int accepted = 0;
    for (int i = 0; i < shown; ++i) {
        const QRect box(
            place.alternativeX + i * (boxWidth + gap), top, boxWidth, m_theme.scaled(23));
        const CombNode& node = nodes[static_cast<std::size_t>(i)];
        paintBox(painter, box, node, node.isAccepted ? Look::Accepted : Look::Pale);
        if (node.isAccepted)
            accepted = box.x() + m_theme.scaled(12);
    }
    const int hidden = static_cast<int>(nodes.size()) - shown;
    if (hidden > 0) {
        painter.setPen(m_theme.colours().muted);
        painter.setFont(m_theme.font(TextRole::Tiny));
        painter.drawText(QRect(place.alternativeX + shown * (boxWidth + gap),
                               top,
                               m_theme.scaled(40),
                               m_theme.scaled(23)),
                         Qt::AlignVCenter,
                         QStringLiteral("+%1").arg(hidden));
    }
    return accepted;
}

void CombPicture::paintBox(QPainter& painter, const QRect& place, const CombNode& node, Look look) {
    const Colours& colours = m_theme.colours();
    const QColor ground = look == Look::Accepted   ? colours.accepted
                          : look == Look::Rejected ? colours.rejected
                          : look == Look::Root     ? colours.raised
                                                   : colours.panel;
    painter.setPen(look == Look::Accepted   ? colours.acceptedLine
                   : look == Look::Rejected ? colours.rejectedText
                                            : colours.border);
    painter.setBrush(ground);
    painter.drawRect(place.adjusted(0, 0, -1, -1));
    QFont mono = m_theme.font(TextRole::Figure);
    const QFont tiny = m_theme.font(TextRole::AxisFigure);
    const QString probability = look == Look::Root ? tr("root") : shareText(node.probability);
    const int probabilityWidth = QFontMetrics(tiny).horizontalAdvance(probability);
    const QRect inside = place.adjusted(m_theme.scaled(6), 0, -m_theme.scaled(6), 0);
    const QColor text = look == Look::Rejected ? colours.rejectedText
                        : look == Look::Pale   ? colours.muted
                                               : colours.text;
    painter.setPen(look == Look::Accepted ? colours.text : colours.muted);
    if (look == Look::Rejected)
        painter.setPen(colours.rejectedText);
    painter.setFont(tiny);
    painter.drawText(inside, Qt::AlignVCenter | Qt::AlignRight, probability);
    mono.setStrikeOut(look == Look::Rejected);
    painter.setFont(mono);
    painter.setPen(text);
    const QRect words = inside.adjusted(0, 0, -probabilityWidth - m_theme.scaled(4), 0);
    painter.drawText(words,
                     Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetrics(mono).elidedText(node.text, Qt::ElideRight, words.width()));
}

void CombPicture::paintEnd(QPainter& painter, const Columns& place) {
    const Colours& colours = m_theme.colours();
    const int top = rowTop(static_cast<int>(m_comb.rows.size()) + 1) - m_theme.scaled(4);
    QPen dashed(colours.warning, 1, Qt::DashLine);
    painter.setPen(dashed);
    painter.drawLine(place.depthX, top, place.right, top);
    painter.setFont(m_theme.font(TextRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    QRect words(place.depthX,
                top + m_theme.scaled(4),
                place.right - place.depthX,
                kMostReasonLines * metrics.lineSpacing());
    const int wrapped = Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap;
    painter.setPen(colours.warning);
    painter.drawText(words, wrapped, endText());
    if (m_comb.ownText.isEmpty())
        return;
    // The reason takes one line, or more where there is little room.
    const int reason = metrics.boundingRect(words, wrapped, endText()).height();
    words = QRect(words.x(),
                  words.y() + std::min(reason, words.height()),
                  words.width(),
                  metrics.lineSpacing());
    const QString own = tr("The full model adds \u201C%1\u201D").arg(m_comb.ownText);
    painter.setPen(colours.muted);
    painter.drawText(words,
                     Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(own, Qt::ElideRight, words.width()));
}

} // namespace ui
