// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Where the user's data lies: $SWIFT_STUDIO_DATA, else $XDG_DATA_HOME/swift-studio, else
/// ~/.local/share/swift-studio. The folder need not exist. Thread: any, as long as none sets the
/// environment.
std::filesystem::path defaultDataFolder();

/// The file in which something is kept for one model: FOLDER/KIND/FINGERPRINT and `extension`. A
/// fingerprint that does not come from modelFingerprint() is a bug (ENGINE_CHECK).
std::filesystem::path modelDataFile(const std::filesystem::path& folder,
                                    std::string_view kind,
                                    std::string_view fingerprint,
                                    std::string_view extension);

/// Replaces such a file as a whole, and makes its folder if there is none. Errors: Io.
Result<void> storeDataFile(const std::filesystem::path& path, std::string_view bytes);

/// Renames a file that cannot be understood, see setAside(). Returns the note for the user: `why`
/// it cannot be understood, and the new name. Errors: Io.
Result<std::string> setDataFileAside(const std::filesystem::path& path, const Error& why);

/// The sentence for the user when `what` was found but cannot be stored.
std::string notStored(std::string_view what, const Error& error);

} // namespace engine
