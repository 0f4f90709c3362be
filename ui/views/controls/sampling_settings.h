// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"

#include <QString>

#include <string>
#include <vector>

namespace ui {

/// The sampling options as rows of a form: temperature, top_p, top_k, min_p and seed, which are
/// always shown; typical_p, the penalties, logit_bias, and the form of an answer (form, form_text).
std::vector<engine::SettingInfo> samplingSettings();

/// Why a value that was typed cannot be sent, as a sentence; empty = it can.
QString samplingProblem(const std::string& setting, const engine::SettingValue& value);

engine::SettingValues valuesOf(const engine::SamplingOptions& sampling);

/// Values missing in `values` are taken from `otherwise`.
engine::SamplingOptions samplingOf(const engine::SettingValues& values,
                                   const engine::SamplingOptions& otherwise);

} // namespace ui
