// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/data/data_layout.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace ui {

/// The options by which swift-run reads files with this layout; none for the usual one. The window
/// makes no layouts with a fixed task or with a separator.
QStringList layoutArguments(const engine::DataLayout& layout);

/// The same layout for the settings.
QString layoutText(const engine::DataLayout& layout);

/// Nothing if this is no such text.
std::optional<engine::DataLayout> layoutFrom(const QString& text);

} // namespace ui
