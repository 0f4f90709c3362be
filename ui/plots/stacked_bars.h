// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/picture_file.h"
#include "ui/plots/plot_parts.h"

#include <QWidget>

#include <cstdint>
#include <vector>

namespace ui {

class Theme;

/// The meaning of a segment, the same in every bar.
struct BarPart {
    QString name;
    ColourName fill = &Colours::otherTime;
    ColourName text = &Colours::text; ///< upon the fill
};

struct Bar {
    QString name;
    std::vector<double> values; ///< [parts], same unit in all bars; negative ones count as 0

    bool operator==(const Bar&) const = default;
};

/// Horizontal bars of equal length, each divided by its shares, with a legend and a sentence below.
/// A share is written into its segment where it fits. Thread: UI.
class StackedBars : public QWidget, public PictureSource {
    Q_OBJECT

public:
    /// `unit` names the values in the table: "ms". The theme must live longer.
    StackedBars(const Theme& theme,
                const QString& name,
                const QString& unit,
                QWidget* parent = nullptr);

    void setParts(std::vector<BarPart> parts);

    /// Repaints only if a bar or the sentence is another one.
    void setBars(std::vector<Bar> bars, const QString& sentence);

    /// Shares of a bar in whole per cent, one for each value; they add up to 100 (or are all 0).
    static std::vector<int> percentages(const Bar& bar);

    std::int64_t paintCount() const { return m_paintCount; }

    QString sentence() const { return m_sentence; }

    FigureTable table() const override;

    QSize pictureSize() const override { return size(); }

    void drawPicture(QPaintDevice& device, QSize size) override;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// Lengths in pixels of one drawing.
    struct Layout {
        int width = -1; ///< that it was measured for; -1: not measured
        int inset = 0;
        int nameWidth = 0;
        int barHeight = 0;
        int barPitch = 0;
        int legendTop = 0;
        int legendHeight = 0;
        int sentenceTop = 0;
        int sentenceHeight = 0;
        int height = 0;
    };

    Layout measure(int width) const;
    const Layout& layoutFor(int width) const;
    void askForHeight();
    void paint(QPainter& painter, QSize size) const;
    void paintBar(QPainter& painter, const Bar& bar, const QRect& room) const;
    void paintLegend(QPainter& painter, QPoint topLeft, int right) const;

    const Theme& m_theme;
    QString m_unit;
    QString m_sentence;
    std::vector<BarPart> m_parts;
    std::vector<Bar> m_bars;
    mutable Layout m_layout; ///< the newest
    int m_askedHeight = 0;
    std::int64_t m_paintCount = 0;
};

} // namespace ui
