// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/session_records.h"

#include <QString>

#include <map>
#include <optional>
#include <string>

namespace ui {

/// The sets of a file, by name: one set, or a collection in the published format. A single set has
/// an empty name. Errors: those of the engine's readers; InvalidInput when the file has no set, or
/// one names a layer beyond `layerCount`.
engine::Result<std::map<std::string, engine::SkipSet>> readSkipSets(const QString& path,
                                                                    int layerCount);

/// Writes a set under a name in the published format, completely or not at all. Returns the error
/// as a sentence, or none.
std::optional<QString>
writeSkipSet(const QString& path, const std::string& name, const engine::SkipSet& set);

} // namespace ui
