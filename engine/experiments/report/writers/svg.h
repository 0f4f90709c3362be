// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/figures/drawing.h"
#include "engine/experiments/report/figures/palette.h"

#include <string>
#include <string_view>

namespace engine {

/// A drawing as an SVG document with the colours of a palette, on that palette's ground.
std::string svgDocument(const Drawing& drawing, const Palette& palette);

/// The same as an element for a page, whose style sheet gives the inks their colours by the
/// variables of inkStyles(). `id` must be unique in the page: the hatches are named by it.
std::string svgElement(const Drawing& drawing, std::string_view id);

/// "--ink-panel:#ffffff;--ink-text:..." for a style sheet.
std::string inkStyles(const Palette& palette);

} // namespace engine
