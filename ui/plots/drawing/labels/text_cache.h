// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QFont>
#include <QHash>
#include <QPainter>
#include <QStaticText>

namespace ui {

/// Short texts of one font, which are shaped and measured once however often they are drawn: most
/// texts of a plot are the same as in the previous picture.
class TextCache {
public:
    static constexpr int kMostKept = 256; ///< beyond that all are shaped again

    /// Another font forgets all texts.
    void setFont(const QFont& font);

    /// The text's advance width in pixels.
    double width(const QString& text) { return of(text).width; }

    /// The painter takes the font.
    void draw(QPainter& painter, QPointF baseline, const QString& text);

private:
    struct Text {
        QStaticText shaped;
        double width = 0.0;
    };

    const Text& of(const QString& text);

    QFont m_font;
    double m_ascent = 0.0;
    bool m_hasFont = false;
    QHash<QString, Text> m_texts;
};

} // namespace ui
