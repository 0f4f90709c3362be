// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

namespace ui {

/// A sentence of the engine in the window's language, or as it is where no translation is known.
QString engineText(const std::string& english);

/// With all that is shown of the setting in the window's language; what is typed stays.
engine::SettingInfo inWindowLanguage(engine::SettingInfo setting);

/// The decoder and its settings likewise.
engine::DecoderInfo inWindowLanguage(engine::DecoderInfo decoder);

} // namespace ui
