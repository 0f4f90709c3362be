// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

namespace ui {

/// Why a draft is not longer, as reported by the step: "0.46 < threshold 0.80". Empty if it does
/// not say, as in older recordings.
QString draftEndText(const engine::DraftEnd& end);

} // namespace ui
