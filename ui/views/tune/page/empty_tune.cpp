// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/page/empty_tune.h"

#include <QPainter>
#include <QPainterPath>
#include <QPushButton>

#include <cmath>

namespace ui {

namespace {

/// A curve that falls and one that rises, each over its axes.
class CurvesOutline : public QWidget {
public:
    explicit CurvesOutline(const Theme& theme)
        : m_theme(theme) {
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }

    QSize sizeHint() const override { return {m_theme.scaled(420), m_theme.scaled(150)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const int gap = m_theme.scaled(24);
        const int half = (width() - gap) / 2;
        const int foot = height() - m_theme.scaled(8);
        drawPlot(painter, QRect(0, m_theme.scaled(8), half, foot), true);
        drawPlot(painter, QRect(half + gap, m_theme.scaled(8), half, foot), false);
    }

private:
    void drawPlot(QPainter& painter, const QRect& frame, bool isFalling) const {
        const Colours& colours = m_theme.colours();
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(colours.grid);
        for (int line = 0; line < 4; ++line)
            painter.drawLine(frame.left(),
                             frame.top() + frame.height() * line / 4,
                             frame.right(),
                             frame.top() + frame.height() * line / 4);
        painter.setPen(colours.axis);
        painter.drawLine(frame.bottomLeft(), frame.topLeft());
        painter.drawLine(frame.bottomLeft(), frame.bottomRight());
        QPainterPath curve;
        constexpr int kPoints = 40;
        for (int i = 0; i <= kPoints; ++i) {
            const double x = static_cast<double>(i) / kPoints;
            const double fallen = 0.75 * std::exp(-5.0 * x) + 0.2;
            const QPointF point(frame.left() + x * frame.width(),
                                frame.bottom() -
                                    (isFalling ? fallen : 1.0 - fallen) * frame.height());
            if (i == 0)
                curve.moveTo(point);
            else
                curve.lineTo(point);
        }
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(colours.border);
        painter.drawPath(curve);
    }

    const Theme& m_theme;
};

} // namespace

EmptyTune::EmptyTune(const Theme& theme, QWidget* parent)
    : EmptyPage(theme,
                new CurvesOutline(theme),
                tr("Faster answers to your own prompts"),
                tr("The model answers your prompts, and a small layer beside it, or a copy of the "
                   "model, learns to predict these answers. Where its drafts are right, an answer "
                   "appears sooner; every token is still checked. Add prompts of the kind that you "
                   "ask, a hundred or more, and start in the dock Training recipe."),
                parent) {
    QPushButton* add = addButton(tr("Add files with prompts..."), IconName::Plus);
    add->setToolTip(tr("JSONL, CSV, TSV, text, or a folder of them; files can also be dropped "
                       "here"));
    connect(add, &QPushButton::clicked, this, &EmptyTune::filesAsked);
}

} // namespace ui
