// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"

namespace ui {

/// The film for which a run's recipe asks, of the sets that its subject has had so far, unfinished
/// parts included. None if the recipe asks for none, or there was no set yet.
std::optional<engine::ResultFigure> runningFilm(const RunPicture& picture);

/// The result with this film in the place of its own, which knows finished parts only.
engine::ExperimentResult withFilm(engine::ExperimentResult result,
                                  const std::optional<engine::ResultFigure>& film);

} // namespace ui
