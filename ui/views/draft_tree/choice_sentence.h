// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

namespace ui {

/// Why a step was drafted as it was: what was chosen, what it promised, and the best of what was
/// refused. Empty for a step that was not a choice. Thread: GUI.
QString choiceSentence(const engine::StepFinished& step);

} // namespace ui
