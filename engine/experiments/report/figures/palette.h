// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/figures/drawing.h"

#include <array>
#include <string>

namespace engine {

/// A colour; `alpha` 1 covers what lies below it.
struct InkColour {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    double alpha = 1.0;
};

/// The colour of each ink.
using Palette = std::array<InkColour, kInkCount>;

const Palette& lightPalette();
const Palette& darkPalette();

inline const InkColour& colourOf(const Palette& palette, Ink ink) {
    return palette.at(static_cast<std::size_t>(ink));
}

/// "#1b1f24"
std::string hexText(const InkColour& colour);

/// The name of an ink in a style sheet: "ink-heat3".
std::string inkName(Ink ink);

} // namespace engine
