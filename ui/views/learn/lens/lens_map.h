// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/learn/lens/lens_model.h"

#include <QTableView>

#include <optional>
#include <vector>

namespace ui {

/// What the colours of the map mean, which differs from colouring to colouring, and its marks.
/// Thread: UI.
class LensLegend : public QWidget {
    Q_OBJECT

public:
    LensLegend(const Theme& theme, QWidget* parent);

    void show(LensColouring colouring);

    /// Beside the colour of the lowest step and of the highest.
    const QString& lowEnd() const { return m_lowEnd; }

    const QString& highEnd() const { return m_highEnd; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int side() const { return m_theme.scaled(14); }

    int lowWidth() const;

    const Theme& m_theme;
    std::vector<std::size_t> m_steps; ///< of Colours::heat
    QString m_lowEnd;
    QString m_highEnd;
};

/// The heat map of the lens on the screen. Arrow keys move from cell to cell, up and down also
/// between the two lines of a token. A dot marks the cells where the final token leads; a step line
/// runs where it becomes final. Thread: UI.
class LensMap : public QTableView {
    Q_OBJECT

public:
    LensMap(const Theme& theme, LensModel& model, QWidget* parent = nullptr);

    std::optional<LensPlace> current() const;

    void setCurrent(const LensPlace& place);

    /// Left edges of the layers' columns in the viewport, then the right edge of the last one.
    std::vector<int> layerEdges() const;

signals:
    /// Another cell is current, by mouse or keyboard.
    void currentMoved();

    /// The columns have other widths.
    void columnsMoved();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;

private:
    void restyle();
    void layOut();
    void joinLines(int firstRow);

    const Theme& m_theme;
    LensModel& m_model;
};

} // namespace ui
