// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

class JsonDocument;
class JsonValue;
struct JsonLimits;

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

/// Makes the folder of such a file if there is none. Errors: Io.
Result<void> makeDataFolder(const std::filesystem::path& file);

/// Replaces such a file as a whole, and makes its folder if there is none. Errors: Io.
Result<void> storeDataFile(const std::filesystem::path& path, std::string_view bytes);

/// Reads such a file whose content is JSON. Errors: those of readJsonFile(), which leave the file.
Result<JsonDocument> readDataFile(const std::filesystem::path& path, const JsonLimits& limits);

/// What is wrong `at` a place of such a file: a CorruptFile that names the file and the byte.
Error damagedDataFile(std::string_view path, std::string_view problem, const JsonValue& at);

/// Whether the file is `what`, in the format that this program writes. Errors: CorruptFile;
/// Unsupported for one of a later version.
Result<void> checkDataFormat(std::string_view path,
                             const JsonValue& root,
                             std::int64_t format,
                             std::string_view what);

/// Renames a file that cannot be understood, see setAside(). Returns the note for the user: `why`
/// it cannot be understood, and the new name. Errors: Io.
Result<std::string> setDataFileAside(const std::filesystem::path& path, const Error& why);

/// The sentence for the user when `what` was found but cannot be stored.
std::string notStored(std::string_view what, const Error& error);

} // namespace engine
