// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"

#include <vector>

namespace ui {

/// How tokens are chosen, as rows of a form: temperature, top_p, top_k, seed.
std::vector<engine::SettingInfo> samplingSettings();

engine::SettingValues valuesOf(const engine::SamplingOptions& sampling);

/// What `values` lacks is taken from `otherwise`.
engine::SamplingOptions samplingOf(const engine::SettingValues& values,
                                   const engine::SamplingOptions& otherwise);

} // namespace ui
