// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// What --draft-adapter says for none.
inline constexpr const char* kNoDraftAdapter = "none";

/// The file that the user keeps for a model: draft-adapters/FINGERPRINT.safetensors in the data
/// folder. It need not exist.
std::filesystem::path usersDraftAdapter(const std::string& fingerprint);

/// Keeps a copy of the adapter that has a place before another one gets it: as NAME.before; the two
/// that were kept last are NAME.before-2 and NAME.before-3 then. One that is kept already stays
/// where it is. The copy is whole before the oldest one gives way to it. Returns its path. Errors:
/// those of readTextFile() and writeFileAtomically(); Io.
Result<std::filesystem::path> keepUsedAdapter(const std::filesystem::path& place);

/// Gives a loaded model its draft adapter: the file asked for, none, or for "" the user's, else the
/// one of the same name in `shipped`, a folder of the program's data; neither need exist. Returns
/// notes for the user: an adapter that nobody asked for by name and that cannot be used is told
/// and left alone, but a shipped one that the backend has no use for is not worth a word. Errors:
/// those of openDraftAdapter(), checkFits() and makeDraftModel() for a file that was asked for,
/// NoMemory among them.
Result<std::vector<std::string>> adoptDraftAdapter(Transformer& model,
                                                   const std::string& fingerprint,
                                                   const std::string& asked,
                                                   const std::filesystem::path& shipped = {});

} // namespace engine
