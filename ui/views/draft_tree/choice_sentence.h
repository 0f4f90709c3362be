// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

namespace ui {

/// Why a step used its drafter: what was chosen, its expected gain, and the best refused
/// alternative. Empty for a step without a choice. Thread: GUI.
QString choiceSentence(const engine::StepFinished& step);

} // namespace ui
