// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/picture_file.h"
#include "ui/plots/plot_parts.h"

#include <QElapsedTimer>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

class QLabel;
class QMouseEvent;
class QPushButton;
class QWheelEvent;

namespace ui {

class Theme;

/// Lines, steps and markers over one horizontal axis. It knows numbers, not decoders. It does not
/// repaint by itself for new data: make all changes, then call refresh() once. Mouse: wheel zooms x
/// (Shift: y), drag pans, double click goes home, a click chooses an x. Keys: arrows pan, + and -
/// zoom (Page up and Page down: y), Home goes home, Shift+Left and Shift+Right read point by point,
/// Shift+Up and Shift+Down in the series before and after, Return chooses the point read. Thread:
/// UI.
class LinePlot : public QWidget, public PictureSource {
    Q_OBJECT

public:
    static constexpr int kLargestDrawn = 20'000; ///< points of all lines together

    /// `name` is what a screen reader says. The theme must live longer.
    LinePlot(const Theme& theme, const QString& name, QWidget* parent = nullptr);
    ~LinePlot() override;

    /// Gives the number by which the series is called below, from 0.
    int addSeries(const SeriesForm& form);
    int seriesCount() const;

    /// Points come in order of x. One further back is put at the newest x.
    void append(int series, PlotPoint point);
    void setPoints(int series, std::span<const PlotPoint> points);
    void removeBefore(double x);
    void clearPoints();
    std::size_t pointCount(int series) const;

    void setSeriesShown(int series, bool isShown);
    bool isSeriesShown(int series) const;
    void setSeriesLabel(int series, const SeriesLabel& label);

    void setXAxis(const AxisForm& axis);
    void setYAxis(const AxisForm& axis);

    /// The range shown until the user zooms or pans.
    void setHome(PlotRange x, PlotRange y);

    /// The left margin has room for this text even while no tick has one, so that plots one above
    /// the other share their x axis.
    void setLeastTickText(const QString& text) { m_leastTickText = text; }

    /// Pixels at text size 100 % above the y range, for the names of phases; at most half the plot.
    void setHeadroom(int pixels);

    void setReferences(std::vector<ReferenceLine> references);
    void setBands(std::vector<PhaseBand> bands);
    void setInstanceTicks(std::vector<double> ticks);

    /// Moves the scrubber at once and repaints only its layer.
    void setCursor(const std::optional<PlotCursor>& cursor);
    const std::optional<PlotCursor>& cursor() const;

    /// Shown below the plot while no series has a point.
    void setEmptyNote(const EmptyNote& note);

    /// One sentence for screen readers: "Matchness 0.91, rising, step 212." Announced at most once
    /// in 5 s, and when the plot gets the focus.
    void setSummary(const QString& sentence);

    /// Asks for one repaint with the next turn of the event loop, or, while hidden, when shown.
    void refresh();

    /// Whole repaints so far, and those of the scrubber's layer alone.
    std::int64_t replotCount() const { return m_replotCount; }

    std::int64_t cursorReplotCount() const { return m_cursorReplotCount; }

    /// Points that the lines hold for the range that is shown.
    int drawnPointCount() const;

    bool isZoomed() const { return m_zoomX.has_value() || m_zoomY.has_value(); }

    PlotRange shownX() const;
    PlotRange shownY() const;
    void goHome();

    /// The text of the point currently read by hovering or Shift+arrow; empty = none.
    QString readoutText() const;

    FigureTable table() const override;
    QSize pictureSize() const override;
    void drawPicture(QPaintDevice& device, QSize size) override;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void actionRequested();     ///< the button of the empty note
    void pointChosen(double x); ///< a click or Return
    void choiceTakenBack();     ///< that click began a double click, which means the way home

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Drawing;

    struct Drag {
        QPointF start;
        PlotRange x;
        PlotRange y;
        bool isMoving = false;
    };

    struct PointChoice {
        int series = 0;
        std::size_t index = 0;
    };

    void makeNote();
    void applyTheme();
    void prepare(QSize size);
    void applyMargins(int plotWidth);
    int marginBeside(int plotWidth);
    void updateNote();
    void fitNote();
    void replotCursor();
    PlotRange homeYWithHeadroom(int plotHeight) const;
    std::vector<double> yTicksThatFit(int plotHeight) const;

    void mousePressed(const QMouseEvent& event);
    void mouseMoved(const QMouseEvent& event);
    void mouseReleased(const QMouseEvent& event);
    void wheelTurned(const QWheelEvent& event);
    void zoom(double factor, double part, bool isVertical);
    void pan(double xParts, double yParts);
    void setZoom(std::optional<PlotRange> x, std::optional<PlotRange> y);
    void readNearest(QPointF position);
    std::optional<PointChoice> neighbourOf(PointChoice choice, int direction) const;
    std::optional<PointChoice> nearestIn(int series, double x) const;
    void readNeighbour(int direction);
    void readSeries(int direction);
    void readByKey(PointChoice choice);
    void setReadout(std::optional<PointChoice> choice);
    bool updateReadout();
    void tellSummary();
    bool isPoint(int series, std::size_t index) const;

    const Theme& m_theme;
    std::unique_ptr<Drawing> m_drawing;
    QWidget* m_note = nullptr;
    QLabel* m_noteTitle = nullptr;
    QLabel* m_noteSentence = nullptr;
    QPushButton* m_noteAction = nullptr;
    PlotRange m_homeX{0.0, 1.0};
    PlotRange m_homeY{0.0, 1.0};
    std::optional<PlotRange> m_zoomX;
    std::optional<PlotRange> m_zoomY;
    std::optional<Drag> m_drag;
    bool m_hasChosen = false; ///< the newest press and release were a click
    std::optional<PointChoice> m_choice;
    QString m_summary;
    QElapsedTimer m_summaryClock;
    QString m_leastTickText;
    int m_headroom = 0;
    bool m_isStale = false;
    bool m_isFittingNote = false;
    std::int64_t m_replotCount = 0;
    std::int64_t m_cursorReplotCount = 0;
};

} // namespace ui
