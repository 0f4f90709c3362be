// SPDX-License-Identifier: GPL-3.0-only
#include "ui/origin/origin_legend.h"

#include "ui/origin/origin_paint.h"

#include <QFontMetricsF>
#include <QPainter>

#include <array>
#include <cmath>

namespace ui {

namespace {

struct LegendEntry {
    TokenMark token;
    QString sample;
    QString meaning;
};

std::array<LegendEntry, 3> legendEntries() {
    std::array<LegendEntry, 3> entries;
    entries[0].token.origin = engine::TokenOrigin::Draft;
    entries[0].token.draftProbability = 1.0;
    entries[0].sample = OriginLegend::tr("accepted");
    entries[0].meaning = OriginLegend::tr("drafted, then confirmed");
    entries[1].token.origin = engine::TokenOrigin::Sibling;
    entries[1].token.rank = 1;
    entries[1].sample = OriginLegend::tr("alternative");
    entries[1].meaning = OriginLegend::tr("the draft's 2nd choice");
    entries[2].token.origin = engine::TokenOrigin::Bonus;
    entries[2].sample = OriginLegend::tr("own");
    entries[2].meaning = OriginLegend::tr("written by the full model");
    return entries;
}

/// Lays the entries out from left to right; paints them where there is a painter.
class LegendLine {
public:
    explicit LegendLine(const Theme& theme)
        : m_theme(theme)
        , m_sample(theme.font(TextRole::Interface))
        , m_meaning(theme.font(TextRole::Small)) {}

    /// Returns the width. Without room for the meanings, only the samples are shown: half a
    /// sentence says less than the tool tip.
    double run(QPainter* painter, QSizeF room) {
        const double height = room.height();
        if (painter != nullptr)
            m_hasMeanings = run(nullptr, room) <= room.width();
        double x = 0.0;
        for (const LegendEntry& entry : legendEntries()) {
            if (x > 0.0)
                x += m_theme.scaled(20);
            x = runEntry(painter, entry, {x, height});
        }
        return x;
    }

private:
    double runEntry(QPainter* painter, const LegendEntry& entry, QPointF corner) const {
        const QFontMetricsF metrics(m_sample);
        const double drop = originDrop(m_theme);
        const double top = std::floor((corner.y() - metrics.height() - drop) / 2.0);
        const double baseline = top + std::round(metrics.ascent());
        const double width = std::ceil(metrics.horizontalAdvance(entry.sample));
        const QRectF box(corner.x(), top, width, std::ceil(metrics.height()) + drop);
        if (painter != nullptr) {
            paintOriginGround(*painter, m_theme, entry.token, box);
            paintOriginLine(*painter, m_theme, entry.token, box);
            painter->setFont(m_sample);
            painter->setPen(m_theme.colours().text);
            painter->drawText(QPointF(box.left(), baseline), entry.sample);
        }
        double x = box.right();
        const QString rank = rankLabel(entry.token);
        if (!rank.isEmpty()) {
            if (painter != nullptr)
                paintRank(*painter, m_theme, entry.token, {x, baseline});
            x += QFontMetricsF(rankFont(m_theme)).horizontalAdvance(rank) + m_theme.scaled(2);
        }
        if (!m_hasMeanings)
            return std::ceil(x);
        x += m_theme.scaled(6);
        if (painter != nullptr) {
            painter->setFont(m_meaning);
            painter->setPen(m_theme.colours().muted);
            painter->drawText(QPointF(x, baseline), entry.meaning);
        }
        return std::ceil(x + QFontMetricsF(m_meaning).horizontalAdvance(entry.meaning));
    }

    const Theme& m_theme;
    QFont m_sample;
    QFont m_meaning;
    bool m_hasMeanings = true;
};

} // namespace

OriginLegend::OriginLegend(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    QStringList sentences;
    for (const LegendEntry& entry : legendEntries())
        sentences << tr("%1: %2.").arg(entry.sample, entry.meaning);
    setAccessibleName(tr("How tokens are marked"));
    setAccessibleDescription(sentences.join(u' '));
    setToolTip(sentences.join(u'\n'));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(&m_theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize OriginLegend::sizeHint() const {
    const auto width = static_cast<int>(LegendLine(m_theme).run(nullptr, QSizeF()));
    return {width, m_theme.scaled(28)};
}

QSize OriginLegend::minimumSizeHint() const { return {m_theme.scaled(80), m_theme.scaled(28)}; }

void OriginLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    LegendLine(m_theme).run(&painter, size());
}

} // namespace ui
