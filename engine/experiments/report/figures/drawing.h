// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// A figure as a list of simple marks that any painter can draw: the window, SVG and PDF.

/// What a colour means; a palette gives each its value, so one drawing serves light and dark.
enum class Ink : std::uint8_t {
    Panel, ///< the ground of the figure
    Shade, ///< the ground of a band or of a summary
    Text,
    Muted,
    Accent, ///< the subject
    Success,
    Warning, ///< slower than vanilla
    Grid,
    Axis,
    Raw,   ///< measured values behind a line
    Paper, ///< a paper's own figures
    Attention,
    Mlp,
    Kept,
    KeptLine,
    Hatch, ///< the lines of a hatch
    Part0, ///< parts of a stack: draft, verify, search, other
    Part1,
    Part2,
    Part3,
    Heat0, ///< seven steps of a scale, from little to much
    Heat1,
    Heat2,
    Heat3,
    Heat4,
    Heat5,
    Heat6,
    HeatText0, ///< the text on each step
    HeatText1,
    HeatText2,
    HeatText3,
    HeatText4,
    HeatText5,
    HeatText6,
    PartText0, ///< the text on each part
    PartText1,
    PartText2,
    PartText3,
};

inline constexpr int kInkCount = static_cast<int>(Ink::PartText3) + 1;

enum class HatchKind : std::uint8_t { None, Diagonal, Dots, Horizontal, Cross };

enum class TextAnchor : std::uint8_t { Start, Middle, End };

struct TextStyle {
    double size = 12.0; ///< of the font, in the units of the drawing
    bool isBold = false;
    bool isMono = false; ///< Noto Sans Mono instead of Inter

    bool operator==(const TextStyle&) const = default;
};

struct DrawingPoint {
    double x = 0.0;
    double y = 0.0;

    bool operator==(const DrawingPoint&) const = default;
};

enum class MarkShape : std::uint8_t { Line, Rectangle, Circle, Diamond, Text };

/// One mark. Lengths are in pixels at a text scale of 1; y grows downwards.
struct Mark {
    MarkShape shape = MarkShape::Line;
    /// Line: its corners. Rectangle: two opposite corners. Circle, Diamond: the centre. Text: where
    /// its baseline begins, or by the anchor its middle or its end.
    std::vector<DrawingPoint> points;
    double radius = 0.0; ///< of a circle or a diamond
    std::optional<Ink> fill = {};
    std::optional<Ink> stroke = {};
    double strokeWidth = 1.0;
    std::vector<double> dashes = {};   ///< lengths of stroke and gap in turn; empty: a full line
    HatchKind hatch = HatchKind::None; ///< over the fill of a rectangle, in Ink::Hatch
    std::string text = {};
    TextStyle style = {};
    TextAnchor anchor = TextAnchor::Start;
    double turn = 0.0; ///< of a text around its point, in degrees, clockwise

    bool operator==(const Mark&) const = default;
};

struct Drawing {
    double width = 0.0;
    double height = 0.0;
    std::vector<Mark> marks;  ///< later ones lie above earlier ones
    std::string summary = {}; ///< one sentence that says what is seen, for a screen reader
};

/// The width of a text in pixels.
using TextWidth = std::function<double(std::string_view text, const TextStyle& style)>;

} // namespace engine
