// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/logs/search_log.h"
#include "ui/theme/theme.h"

#include <QImage>
#include <QPixmap>
#include <QWidget>

#include <optional>
#include <vector>

namespace ui {

/// One best set of the history. A plain value.
struct HistoryColumn {
    int step = 0;                ///< BestSet::place
    std::optional<double> score; ///< when it was measured last; none while unmeasured
    std::string kind;            ///< of the trial that measured it; empty = none
    engine::SkipSet skipped;

    bool operator==(const HistoryColumn&) const = default;
};

/// The columns of a search's best sets.
std::vector<HistoryColumn> historyColumns(const SearchLog& search);

/// Columns of one width beside each other. A plain value.
struct ColumnScale {
    double left = 0.0;
    double width = 0.0;
    int count = 0;

    double pitch() const { return count > 0 ? width / count : width; }

    double centre(int index) const { return left + (index + 0.5) * pitch(); }

    int edge(int index) const;

    /// The nearest column; 0 when there is none.
    int columnAt(double x) const;
};

/// The positions of the history's parts in a rectangle. A plain value.
struct HistoryGeometry {
    static HistoryGeometry make(const Theme& theme, const QRect& area, int columns, int layers);

    QRect area;
    ColumnScale scale;
    double rowHeight = 0.0;
    int stepsTop = 0;
    int attentionTop = 0;
    int mlpTop = 0;
    int blockHeight = 0;
    int markersTop = 0;
    int scoresTop = 0;
    int lineHeight = 0;
    bool isWide = false; ///< every column has its score beside its marker

    int blocksBottom() const { return mlpTop + blockHeight; }

    /// Top of a layer's row in its block, in whole pixels.
    int rowEdge(int layer) const;

    /// Whether a line parts the rows.
    bool hasRowGaps() const { return rowHeight >= 2.75; }
};

/// The history of best sets, a column for each. Cells are stored as pixels of an image, to which
/// new columns are added. The picture is cached until size, columns or colours change. Thread: UI.
class HistoryColumns : public QWidget {
    Q_OBJECT

public:
    explicit HistoryColumns(const Theme& theme, QWidget* parent = nullptr);

    void setColumns(std::vector<HistoryColumn> columns, int layerCount);

    /// The selected column; none when there are no columns.
    void setCurrent(std::optional<int> index);

    const std::vector<HistoryColumn>& columns() const { return m_columns; }

    /// Columns that were drawn into the image so far; for tests.
    int drawnColumns() const { return m_drawnColumns; }

    /// How often the picture was composed; for tests.
    int renderCount() const { return m_renderCount; }

    HistoryGeometry geometryOf(const QRect& area) const;

    /// For files: as lines and rectangles.
    void paintFigure(QPainter& painter, const QRect& area) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void columnChosen(int index);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    void drawColumn(std::size_t index);
    void redrawAll();
    void render();
    void paintCells(QPainter& painter, const HistoryGeometry& geometry) const;
    QImage stretched(const HistoryGeometry& geometry) const;
    void paintSkeleton(QPainter& painter) const;

    const Theme& m_theme;
    std::vector<HistoryColumn> m_columns;
    int m_layerCount = 0;
    std::optional<int> m_current;
    QImage m_image; // [2 * layers] rows, a column of pixels for each column
    QPixmap m_picture;
    int m_drawnColumns = 0;
    int m_renderCount = 0;
};

} // namespace ui
