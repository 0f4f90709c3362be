// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/text_cache.h"

#include <QFontMetricsF>

namespace ui {

void TextCache::setFont(const QFont& font) {
    if (m_hasFont && m_font == font)
        return;
    m_font = font;
    m_hasFont = true;
    m_ascent = QFontMetricsF(font).ascent();
    m_texts.clear();
}

const TextCache::Text& TextCache::of(const QString& text) {
    const auto known = m_texts.constFind(text);
    if (known != m_texts.constEnd())
        return *known;
    if (m_texts.size() >= kMostKept)
        m_texts.clear();
    Text made{QStaticText(text), QFontMetricsF(m_font).horizontalAdvance(text)};
    made.shaped.setTextFormat(Qt::PlainText);
    made.shaped.setPerformanceHint(QStaticText::AggressiveCaching);
    made.shaped.prepare(QTransform(), m_font);
    return *m_texts.insert(text, made);
}

void TextCache::draw(QPainter& painter, QPointF baseline, const QString& text) {
    painter.setFont(m_font);
    painter.drawStaticText(baseline - QPointF(0.0, m_ascent), of(text).shaped);
}

} // namespace ui
