// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/session_records.h"

#include <QString>

#include <map>
#include <optional>
#include <string>

namespace ui {

/// The sets of a file, by name: one set, or a collection in the published shape. A single set has
/// the empty name. Errors: those of the engine's readers; InvalidInput when the file has no set,
/// or one names a layer beyond `layerCount`.
engine::Result<std::map<std::string, engine::SkipSet>> readSkipSets(const QString& path,
                                                                    int layerCount);

/// Writes a set under a name in the published shape, whole or not at all. What went wrong, as a
/// sentence; none when it is written.
std::optional<QString>
writeSkipSet(const QString& path, const std::string& name, const engine::SkipSet& set);

} // namespace ui
