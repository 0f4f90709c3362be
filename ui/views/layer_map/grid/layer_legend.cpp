// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/grid/layer_legend.h"

#include <QFontMetrics>
#include <QPainter>
#include <QStringList>

namespace ui {

namespace {

constexpr int kSample = 16; // pixels at text size 100 %

} // namespace

LayerLegend::LayerLegend(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void LayerLegend::setItems(std::vector<Item> items) {
    if (items == m_items)
        return;
    m_items = std::move(items);
    QStringList words;
    for (const Item& item : m_items)
        words << item.text;
    setAccessibleName(tr("Legend: %1").arg(words.join(QStringLiteral(", "))));
    updateGeometry();
    update();
}

int LayerLegend::widthOf(const Item& item) const {
    const QFontMetrics metrics(m_theme.font(TextRole::Small));
    return m_theme.scaled(kSample + 6) + metrics.horizontalAdvance(item.text) + m_theme.scaled(12);
}

QSize LayerLegend::sizeHint() const {
    int width = 0;
    for (const Item& item : m_items)
        width += widthOf(item);
    return {width, m_theme.scaled(20)};
}

QSize LayerLegend::minimumSizeHint() const { return {0, m_theme.scaled(20)}; }

void LayerLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, rect());
}

void LayerLegend::paint(QPainter& painter, const QRect& area) const {
    const Colours& colours = m_theme.colours();
    const int size = m_theme.scaled(kSample);
    const QFont font = m_theme.font(TextRole::Small);
    const int gap = m_theme.scaled(12);
    int left = area.left();
    for (const Item& item : m_items) {
        const int width = widthOf(item);
        if (left + width - gap > area.right() + 1)
            return;
        const QRect sample(left, area.top() + (area.height() - size) / 2, size, size);
        if (item.isOutlineOnly) {
            painter.setPen(Qt::NoPen);
            painter.fillRect(sample, colours.accent);
            painter.fillRect(sample.adjusted(2, 2, -2, -2), colours.panel);
        } else {
            paintCell(painter, sample, item.look, colours);
        }
        painter.setFont(font);
        painter.setPen(colours.muted);
        const int textLeft = left + size + m_theme.scaled(6);
        painter.drawText(QRect(textLeft, area.top(), left + width - textLeft, area.height()),
                         Qt::AlignVCenter | Qt::AlignLeft,
                         item.text);
        left += width;
    }
}

std::vector<LayerLegend::Item> markItems(const LayerMapState& state) {
    std::vector<LayerLegend::Item> items = {
        {CellLook{.isLocked = true}, LayerLegend::tr("locked")}};
    if (!state.silentCopies.empty())
        items.push_back({CellLook{.isCopy = true}, LayerLegend::tr("silent copy")});
    if (state.hasDraftLayer)
        items.push_back({CellLook{.isDraftLayer = true}, LayerLegend::tr("draft layer")});
    if (state.reference) {
        const int differing = engine::compareSkipSets(state.skipped, *state.reference).hamming();
        items.push_back(
            {CellLook(),
             LayerLegend::tr("differs from %1 (%2)").arg(state.referenceName).arg(differing),
             true});
    }
    return items;
}

} // namespace ui
