// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/marker_legend.h"

#include "ui/plots/drawing/markers.h"
#include "ui/theme/theme.h"

#include <QPainter>

namespace ui {

namespace {

constexpr int kSignWidth = 14; ///< pixels at 100 %, with the gap after it
constexpr int kEntryGap = 12;

} // namespace

MarkerLegend::MarkerLegend(const Theme& theme, std::vector<Entry> entries, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_entries(std::move(entries)) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    QStringList names;
    for (const Entry& entry : m_entries)
        names << entry.name;
    setAccessibleName(tr("Legend: %1").arg(names.join(QStringLiteral(", "))));
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize MarkerLegend::sizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Tiny));
    int width = 0;
    for (const Entry& entry : m_entries)
        width += m_theme.scaled(kSignWidth + kEntryGap) + metrics.horizontalAdvance(entry.name);
    return {width, m_theme.scaled(16)};
}

void MarkerLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QFont font = m_theme.font(TextRole::Tiny);
    const QFontMetrics metrics(font);
    painter.setFont(font);
    const double middle = height() / 2.0;
    const int sign = m_theme.scaled(kSignWidth);
    int x = 0;
    for (const Entry& entry : m_entries) {
        const QColor colour = m_theme.colours().*entry.colour;
        const double size = m_theme.scaled(5);
        if (entry.marker != Marker::None) {
            drawMarker(painter, entry.marker, QPointF(x + sign / 2.0 - 2.0, middle), size, colour);
        } else {
            painter.setPen(QPen(colour, 1.0));
            const double half = (sign - 4) / 2.0;
            painter.drawPolyline(QPolygonF({QPointF(x, middle + 2.5),
                                            QPointF(x + half, middle + 2.5),
                                            QPointF(x + half, middle - 2.5),
                                            QPointF(x + 2.0 * half, middle - 2.5)}));
        }
        x += sign;
        painter.setPen(m_theme.colours().muted);
        painter.drawText(QRect(x, 0, metrics.horizontalAdvance(entry.name) + 2, height()),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         entry.name);
        x += metrics.horizontalAdvance(entry.name) + m_theme.scaled(kEntryGap);
    }
}

} // namespace ui
