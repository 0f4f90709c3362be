// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"

#include <QString>
#include <QStringList>

namespace ui {

/// Settings as one text for a file, named and with all their digits as in recordings.
QString settingsText(const engine::SettingValues& settings);

/// Reads what settingsText() wrote; none where that is damaged.
engine::SettingValues settingsFrom(const QString& text);

/// The options of swift-run that load a model as `load` does, but for its path; none for nullptr.
QStringList loadOptions(const engine::LoadModel* load);

} // namespace ui
