// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QStringList>

namespace ui {

/// Marks a file as ours (PRAGMA application_id): "SwSt".
inline constexpr int kStoreApplicationId = 0x53775374;

/// PRAGMA user_version of a file that this program writes: one more than the steps before it.
int storeVersion();

/// The step that rebuilds the search table from the messages.
inline constexpr int kFullTextStep = 4;

/// The statements that bring a file from `version` to `version` + 1; 0 is an empty file.
/// `hasFullText`: whether SQLite was built with FTS5. Without it, searching reads all messages.
QStringList schemaStep(int version, bool hasFullText);

} // namespace ui
