// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/figures/drawing.h"
#include "engine/experiments/report/figures/palette.h"

#include <span>
#include <string>
#include <string_view>

namespace engine {

/// A drawing as an SVG document with the colours of a palette, on that palette's ground.
std::string svgDocument(const Drawing& drawing, const Palette& palette);

/// The same as an element for a page, whose style sheet gives the inks their colours by the
/// variables of inkStyles(). `id` must be unique in the page: the hatches are named by it.
std::string svgElement(const Drawing& drawing, std::string_view id);

/// How the drawings of a film follow each other.
struct FilmPace {
    int frameMs = 0;
    int endMs = 0; ///< of the last one
};

/// Drawings of one size, one after the other and again and again, as an SVG document without any
/// script: its style sheet shows one at a time. It rests while the pointer is on it; where motion
/// is not wanted, on paper, and in programs without animations the last one is seen.
std::string filmSvgDocument(std::span<const Drawing> frames, FilmPace pace, const Palette& palette);

/// The same as an element for a page, see svgElement().
std::string filmSvgElement(std::span<const Drawing> frames, FilmPace pace, std::string_view id);

/// "--ink-panel:#ffffff;--ink-text:..." for a style sheet.
std::string inkStyles(const Palette& palette);

} // namespace engine
