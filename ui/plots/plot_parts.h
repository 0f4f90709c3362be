// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/colours.h"

#include <QString>

#include <functional>
#include <optional>

namespace ui {

// The parts of a LinePlot: plain values, named by their look. Colours are members of Colours, so
// that a plot follows the theme.

using ColourName = QColor Colours::*;

enum class LineForm { None, Line, Step };
enum class Dash { Solid, Dashed, Dotted };
enum class Marker { None, HollowCircle, FilledDiamond, HollowSquare, HollowTriangle, Cross, Plus };
enum class LabelSide {
    Left,
    Right,
    Beside, ///< of the plot, at its right, where no data is
};

struct PlotPoint {
    double x = 0.0;
    double y = 0.0; ///< not a number = a gap in the line

    bool operator==(const PlotPoint&) const = default;
};

struct PlotRange {
    double from = 0.0;
    double to = 1.0;

    double span() const { return to - from; }

    bool contains(double value) const { return value >= from && value <= to; }

    bool operator==(const PlotRange&) const = default;
};

struct SeriesForm {
    QString name; ///< a column of the table, and in the read-out
    ColourName colour = &Colours::text;
    LineForm line = LineForm::Line;
    Dash dash = Dash::Solid;
    Marker marker = Marker::None; ///< at every point
    bool isNewestMarked = false;  ///< by a 7 x 7 square
};

/// Written in place, beside the newest part of a series.
struct SeriesLabel {
    QString text;
    bool isBelow = true;
    LabelSide side = LabelSide::Right;
};

/// A horizontal line through the whole plot, with its name on it.
struct ReferenceLine {
    double value = 0.0;
    QString label;
    ColourName colour = &Colours::muted;
    Dash dash = Dash::Solid;
    LabelSide side = LabelSide::Left;
    bool isLabelBelow = false;
    std::optional<double> labelFrom = {}; ///< a label at the left starts after this x
};

/// A tinted part of the x axis. The longer name is taken if it fits, else the short one.
struct PhaseBand {
    double from = 0.0;
    double to = 0.0;
    QString name;
    QString shortName;
    ColourName ground = &Colours::optimiseBand;
};

struct AxisForm {
    QString title;                                ///< at the end of a horizontal axis
    int tickCount = 4;                            ///< at most
    double origin = 0.0;                          ///< ticks lie whole steps from here
    std::function<QString(double)> tickText = {}; ///< none = the plain number
};

/// The position in the past that the user looks at: a vertical line with its name.
struct PlotCursor {
    double x = 0.0;
    std::optional<double> y; ///< marked by a square
    QString label;

    bool operator==(const PlotCursor&) const = default;
};

/// The note below a plot that has no points yet.
struct EmptyNote {
    QString title;
    QString sentence;
    QString action; ///< text of the button; empty = none
};

} // namespace ui
