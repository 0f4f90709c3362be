// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/report/figures/drawing.h"
#include "engine/experiments/report/figures/palette.h"

#include <string>

namespace engine {

/// A drawing as a PDF of one page of its size (a pixel becomes .75 points), with the fonts that it
/// uses embedded. Errors: Io if the library cannot write it; NoMemory.
Result<std::string> pdfDocument(const Drawing& drawing, const Palette& palette);

} // namespace engine
