// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/stacked_bars.h"

#include "ui/theme/text_room.h"
#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ui {

StackedBars::StackedBars(const Theme& theme,
                         const QString& name,
                         const QString& unit,
                         QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_unit(unit) {
    setAccessibleName(name);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&theme, &Theme::changed, this, [this] {
        m_layout = {};
        updateGeometry();
        update();
    });
}

void StackedBars::setParts(std::vector<BarPart> parts) {
    m_parts = std::move(parts);
    m_layout = {};
    update();
}

void StackedBars::setBars(std::vector<Bar> bars, const QString& sentence) {
    if (m_bars == bars && m_sentence == sentence)
        return;
    const auto isNamedAlike = [](const Bar& one, const Bar& other) {
        return one.name == other.name;
    };
    const QFontMetrics small(m_theme.font(TextRole::Small));
    const bool isShapedAlike = std::ranges::equal(m_bars, bars, isNamedAlike) &&
                               textRoom(m_sentence, small) == textRoom(sentence, small);
    m_bars = std::move(bars);
    m_sentence = sentence;
    setAccessibleDescription(sentence);
    if (!isShapedAlike)
        askForHeight();
    update();
}

/// Figures change with every picture: only a text that no longer fits causes a new layout of the
/// window.
void StackedBars::askForHeight() {
    m_layout = {};
    const int needed = layoutFor(width()).height;
    if (isVisible() && (needed <= height() || needed == m_askedHeight))
        return;
    m_askedHeight = needed;
    updateGeometry();
}

std::vector<int> StackedBars::percentages(const Bar& bar) {
    const auto positive = [](double value) {
        return std::isfinite(value) ? std::max(0.0, value) : 0.0;
    };
    double sum = 0.0;
    for (const double value : bar.values)
        sum += positive(value);
    std::vector<int> shares(bar.values.size(), 0);
    if (sum <= 0.0)
        return shares;
    std::vector<double> rests;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double exact = 100.0 * positive(bar.values[i]) / sum;
        shares[i] = static_cast<int>(std::floor(exact));
        rests.push_back(exact - shares[i]);
    }
    // The largest remainders are rounded up, so that what is shown adds up to 100.
    std::vector<std::size_t> order(shares.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(
        order.begin(), order.end(), [&](auto a, auto b) { return rests[a] > rests[b]; });
    const int missing = 100 - std::accumulate(shares.begin(), shares.end(), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(missing) && i < order.size(); ++i)
        ++shares[order[i]];
    return shares;
}

const StackedBars::Layout& StackedBars::layoutFor(int width) const {
    if (m_layout.width != width)
        m_layout = measure(width);
    return m_layout;
}

StackedBars::Layout StackedBars::measure(int width) const {
    const QFontMetrics small(m_theme.font(TextRole::Small));
    const QFontMetrics tiny(m_theme.font(TextRole::Tiny));
    Layout layout;
    layout.width = width;
    layout.inset = m_theme.scaled(12);
    for (const Bar& bar : m_bars)
        layout.nameWidth = std::max(layout.nameWidth, small.horizontalAdvance(bar.name));
    layout.nameWidth += m_theme.scaled(8);
    layout.barHeight = m_theme.scaled(20);
    layout.barPitch = m_theme.scaled(26);
    const int top = m_theme.scaled(8);
    layout.legendTop = top + static_cast<int>(m_bars.size()) * layout.barPitch;
    const int room = width - 2 * layout.inset - layout.nameWidth;
    int lines = 1;
    int x = 0;
    for (const BarPart& part : m_parts) {
        const int partWidth = tiny.horizontalAdvance(part.name) + m_theme.scaled(14);
        if (x > 0 && x + partWidth > room) {
            ++lines;
            x = 0;
        }
        x += partWidth + m_theme.scaled(12);
    }
    layout.legendHeight = lines * m_theme.scaled(16);
    layout.sentenceTop = layout.legendTop + layout.legendHeight + m_theme.scaled(8);
    if (!m_sentence.isEmpty())
        layout.sentenceHeight = small
                                    .boundingRect(QRect(0, 0, width - 2 * layout.inset, 10'000),
                                                  Qt::TextWordWrap,
                                                  textRoom(m_sentence, small))
                                    .height();
    layout.height = layout.sentenceTop + layout.sentenceHeight + m_theme.scaled(8);
    return layout;
}

int StackedBars::heightForWidth(int width) const { return layoutFor(width).height; }

QSize StackedBars::sizeHint() const {
    const int width = m_theme.scaled(320);
    return {width, heightForWidth(width)};
}

QSize StackedBars::minimumSizeHint() const {
    return {m_theme.scaled(200), heightForWidth(m_theme.scaled(320))};
}

void StackedBars::paintEvent(QPaintEvent*) {
    ++m_paintCount;
    QPainter painter(this);
    paint(painter, size());
}

void StackedBars::drawPicture(QPaintDevice& device, QSize size) {
    QPainter painter(&device);
    paint(painter, size);
}

void StackedBars::paint(QPainter& painter, QSize size) const {
    const Colours& colours = m_theme.colours();
    const Layout& layout = layoutFor(size.width());
    painter.fillRect(QRect(QPoint(0, 0), size), colours.panel);
    int y = m_theme.scaled(8);
    const int left = layout.inset + layout.nameWidth;
    const int right = size.width() - layout.inset;
    for (const Bar& bar : m_bars) {
        painter.setFont(m_theme.font(TextRole::Small));
        painter.setPen(colours.text);
        painter.drawText(QRect(layout.inset, y, layout.nameWidth, layout.barHeight),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         bar.name);
        paintBar(painter, bar, QRect(left, y, right - left, layout.barHeight));
        y += layout.barPitch;
    }
    paintLegend(painter, QPoint(left, layout.legendTop), right);
    painter.setFont(m_theme.font(TextRole::Small));
    painter.setPen(colours.muted);
    painter.drawText(
        QRect(layout.inset, layout.sentenceTop, right - layout.inset, layout.sentenceHeight),
        Qt::TextWordWrap,
        m_sentence);
}

void StackedBars::paintBar(QPainter& painter, const Bar& bar, const QRect& room) const {
    const Colours& colours = m_theme.colours();
    const std::vector<int> shares = percentages(bar);
    const QFont font = m_theme.font(TextRole::AxisFigure);
    const QFontMetrics metrics(font);
    painter.setFont(font);
    if (std::accumulate(shares.begin(), shares.end(), 0) == 0) {
        painter.setPen(colours.border);
        painter.drawRect(room.adjusted(0, 0, -1, -1));
        return;
    }
    double sum = 0.0;
    for (const double value : bar.values)
        sum += std::isfinite(value) ? std::max(0.0, value) : 0.0;
    double begin = 0.0;
    for (std::size_t i = 0; i < bar.values.size() && i < m_parts.size(); ++i) {
        const double end = begin + std::max(0.0, bar.values[i]) / sum;
        const int x = room.left() + static_cast<int>(std::lround(begin * room.width()));
        const int behind = room.left() + static_cast<int>(std::lround(end * room.width()));
        begin = end;
        // One pixel of ground parts the segments.
        const QRect segment(x, room.top(), behind - x - (end < 1.0 ? 1 : 0), room.height());
        if (segment.width() <= 0)
            continue;
        painter.fillRect(segment, colours.*m_parts[i].fill);
        const QString text = QStringLiteral("%1\u2009%").arg(shares[i]);
        if (metrics.horizontalAdvance(text) + m_theme.scaled(6) > segment.width())
            continue;
        painter.setPen(colours.*m_parts[i].text);
        painter.drawText(segment, Qt::AlignCenter, text);
    }
}

void StackedBars::paintLegend(QPainter& painter, QPoint topLeft, int right) const {
    const QFont font = m_theme.font(TextRole::Tiny);
    const QFontMetrics metrics(font);
    painter.setFont(font);
    const int side = m_theme.scaled(10);
    const int height = m_theme.scaled(16);
    QPoint at = topLeft;
    for (const BarPart& part : m_parts) {
        const int width = metrics.horizontalAdvance(part.name) + m_theme.scaled(14);
        if (at.x() > topLeft.x() && at.x() + width > right)
            at = QPoint(topLeft.x(), at.y() + height);
        painter.fillRect(QRect(at.x(), at.y() + (height - side) / 2, side, side),
                         m_theme.colours().*part.fill);
        painter.setPen(m_theme.colours().muted);
        painter.drawText(QRect(at.x() + m_theme.scaled(14), at.y(), width, height),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         part.name);
        at.rx() += width + m_theme.scaled(12);
    }
}

FigureTable StackedBars::table() const {
    FigureTable table;
    table.header << tr("Span");
    for (const BarPart& part : m_parts)
        table.header << QStringLiteral("%1 (%2)").arg(part.name, m_unit);
    for (const BarPart& part : m_parts)
        table.header << QStringLiteral("%1 (%)").arg(part.name);
    for (const Bar& bar : m_bars) {
        QStringList row{bar.name};
        for (std::size_t i = 0; i < m_parts.size(); ++i)
            row << (i < bar.values.size() ? numberCell(bar.values[i]) : QString());
        const std::vector<int> shares = percentages(bar);
        for (std::size_t i = 0; i < m_parts.size(); ++i)
            row << (i < shares.size() ? QString::number(shares[i]) : QString());
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace ui
