// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

namespace ui {

/// A row of the picture: speeds over plain decoding.
struct BeforeAfter {
    QString name;
    double without = 0.0;
    double with = 0.0;
    bool isSum = false; ///< of all rows; set off from them

    bool operator==(const BeforeAfter&) const = default;
};

/// What the bars and the line are called.
struct BeforeAfterNames {
    QString without; ///< "Auto without it"
    QString with;
    QString plain; ///< "1.00x is plain decoding"
    QString row;   ///< for screen readers; %1 the row, %2 without, %3 with

    bool operator==(const BeforeAfterNames&) const = default;
};

/// Two bars for each task from the same zero, before and after, and a line at plain decoding.
/// Thread: UI.
class BeforeAfterChart : public QWidget {
    Q_OBJECT

public:
    BeforeAfterChart(const Theme& theme, const QString& name, QWidget* parent = nullptr);

    void setRows(std::vector<BeforeAfter> rows, BeforeAfterNames names);

    /// In a file too: at any size that is wide enough for names and numbers.
    void paint(QPainter& painter, const QRect& room) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintRow(QPainter& painter, const BeforeAfter& row, const QRect& room) const;
    void paintLegend(QPainter& painter, const QRect& room) const;
    QRect barsIn(const QRect& room) const;
    double pixelsOf(double speed, const QRect& bars) const;
    int nameWidth() const;
    int figureWidth() const;

    int rowHeight() const { return m_theme.scaled(36); }

    int legendHeight() const { return m_theme.scaled(24); }

    const Theme& m_theme;
    std::vector<BeforeAfter> m_rows;
    BeforeAfterNames m_names;
};

} // namespace ui
