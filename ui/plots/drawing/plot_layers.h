// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/drawing/labels/label_places.h"
#include "ui/plots/drawing/markers.h"
#include "ui/plots/drawing/plot_state.h"

#include <qcustomplot.h>

namespace ui {

/// What a LinePlot draws besides lines, axes and grid: each layer reads the plot's state.
class StateLayer : public QCPLayerable {
public:
    StateLayer(QCustomPlot& plot, const QString& layer, const PlotState& state);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;

    const PlotState& state() const { return m_state; }

    /// Inside the axes.
    QRect frame() const;
    double xPixel(double value) const;
    double yPixel(double value) const;
    void drawSquare(QPainter& painter, PlotPoint point, const QColor& colour) const;

private:
    const PlotState& m_state;
};

/// Beneath everything: the tints of the phases.
class GroundLayer : public StateLayer {
public:
    using StateLayer::StateLayer;

protected:
    void draw(QCPPainter* painter) override;
};

/// Beneath the series: reference lines and the ticks of instances.
class ReferenceLayer : public StateLayer {
public:
    using StateLayer::StateLayer;

protected:
    QRect clipRect() const override { return frame(); }

    void draw(QCPPainter* painter) override;
};

/// Among the series: the markers of points.
class MarkerLayer : public StateLayer {
public:
    using StateLayer::StateLayer;

protected:
    QRect clipRect() const override { return frame(); }

    void draw(QCPPainter* painter) override;

private:
    void drawSeries(QPainter& painter, const PlotSeries& series);

    MarkerCache m_cache;
};

/// Above the series: axis texts, names in place, the squares at the newest points.
class TextLayer : public StateLayer {
public:
    using StateLayer::StateLayer;

protected:
    void draw(QCPPainter* painter) override;

private:
    void write(QPainter& painter, TextCache& texts, QPointF baseline, const QString& text) const;
    void drawAxisTexts(QPainter& painter) const;
    void drawNewestSquares(QPainter& painter) const;
    LabelRoom roomForLabels(double lineHeight) const;
    void drawBandNames(QPainter& painter, LabelRoom& labelRoom) const;
    void drawLabels(QPainter& painter, LabelRoom labelRoom) const;
    void drawLabelsBeside(QPainter& painter) const;
    std::optional<LabelWish> wishOf(const PlotSeries& series, double lineHeight) const;
};

/// On a buffer of its own: the scrubber, the read-out and the focus ring move without the rest.
class CursorLayer : public StateLayer {
public:
    using StateLayer::StateLayer;

protected:
    void draw(QCPPainter* painter) override;

private:
    void drawCursor(QPainter& painter, const PlotCursor& cursor) const;
    void drawReadout(QPainter& painter, const PlotReadout& readout) const;
};

/// Writes on a veil of ground colour, so that it can be read across lines.
void drawOnVeil(QPainter& painter, QPointF baseline, const QString& text, QColor ground);

} // namespace ui
