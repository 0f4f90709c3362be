// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace ui {

/// Bars below the columns of the lens, one or two a layer (attention and MLP). Thread: UI.
class LensBars : public QWidget {
    Q_OBJECT

public:
    /// One row of bars. A plain value.
    struct Row {
        QString title;                 ///< "Influence"
        QString note;                  ///< "of each sublayer"
        std::vector<double> attention; ///< [layers]; of a row with one bar a layer, that bar
        std::vector<double> mlp;       ///< [layers], or empty
        QString summary;               ///< a sentence, for screen readers
    };

    explicit LensBars(const Theme& theme, QWidget* parent = nullptr);

    void setRows(std::vector<Row> rows);

    const std::vector<Row>& rows() const { return m_rows; }

    /// Left edges of the layers in this widget, then the right edge of the last one.
    void setEdges(std::vector<int> edges);

    QSize sizeHint() const override;

protected:
    /// The tip of a row is its sentence.
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void paintRow(QPainter& painter, const Row& row, const QRect& room) const;

    const Theme& m_theme;
    std::vector<Row> m_rows;
    std::vector<int> m_edges;
};

} // namespace ui
