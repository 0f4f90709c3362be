// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"

namespace ui {

/// The film for which a run's recipe asks, of the sets that each of its variants has had so far,
/// unfinished parts included. Null if the recipe asks for none, or there was no set yet.
ResultFigurePtr runningFilm(const RunPicture& picture);

/// The figures of the result, none of them copied, with this film in the place of its own, which
/// knows finished parts only. The film may be null.
std::vector<ResultFigurePtr> sharedFigures(const ResultPtr& result, const ResultFigurePtr& film);

} // namespace ui
