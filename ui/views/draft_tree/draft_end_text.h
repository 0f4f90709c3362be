// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

namespace ui {

/// Why a draft is no longer, as the step itself tells: "0.46 < threshold 0.80". Empty where it does
/// not tell, as steps of older recordings.
QString draftEndText(const engine::DraftEnd& end);

} // namespace ui
