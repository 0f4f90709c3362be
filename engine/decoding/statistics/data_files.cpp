// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/data_files.h"

#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/set_aside.h"
#include "engine/loading/json/json_document.h"

#include <unistd.h>

#include <cstdlib>
#include <pwd.h>
#include <system_error>

namespace engine {

namespace {

constexpr const char* kLeaveHint =
    "The file is left as it is: repair it, or move it away to start anew.";

std::filesystem::path environmentPath(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

} // namespace

std::filesystem::path defaultDataFolder() {
    if (const auto folder = environmentPath("SWIFT_STUDIO_DATA"); !folder.empty())
        return folder;
    // The XDG base directory specification has relative paths ignored.
    if (const auto folder = environmentPath("XDG_DATA_HOME"); folder.is_absolute())
        return folder / "swift-studio";
    std::filesystem::path home = environmentPath("HOME");
    if (home.empty()) {
        const passwd* user = ::getpwuid(::getuid());
        home = user && user->pw_dir ? user->pw_dir : "";
    }
    return home / ".local/share/swift-studio";
}

std::filesystem::path modelDataFile(const std::filesystem::path& folder,
                                    std::string_view kind,
                                    std::string_view fingerprint,
                                    std::string_view extension) {
    const bool isHex = fingerprint.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    ENGINE_CHECK(isHex && !fingerprint.empty(), "fingerprint '{}'", fingerprint);
    return folder / kind / fmt::format("{}{}", fingerprint, extension);
}

Result<void> makeDataFolder(const std::filesystem::path& file) {
    std::error_code problem;
    std::filesystem::create_directories(file.parent_path(), problem);
    if (problem)
        return Error{ErrorCode::Io,
                     fmt::format("the folder {} cannot be made: {}",
                                 file.parent_path().string(),
                                 problem.message()),
                     "Check that you may write there, or set SWIFT_STUDIO_DATA to another folder."};
    return {};
}

Result<void> storeDataFile(const std::filesystem::path& path, std::string_view bytes) {
    ENGINE_TRY_DO(makeDataFolder(path));
    return writeFileAtomically(path, bytes);
}

Result<JsonDocument> readDataFile(const std::filesystem::path& path, const JsonLimits& limits) {
    auto document = readJsonFile(path.string(), limits);
    if (!document && document.error().code == ErrorCode::CorruptFile)
        return Error{ErrorCode::CorruptFile, document.error().message, kLeaveHint};
    return document;
}

Error damagedDataFile(std::string_view path, std::string_view problem, const JsonValue& at) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} (byte {})", path, problem, at.offset()),
            kLeaveHint};
}

Result<void> checkDataFormat(std::string_view path,
                             const JsonValue& root,
                             std::int64_t format,
                             std::string_view what) {
    const auto found = root["format"].asInteger();
    if (!found || *found < format)
        return damagedDataFile(path, fmt::format("it is no {}", what), root);
    if (*found > format)
        return Error{ErrorCode::Unsupported,
                     fmt::format("{} was written by a later version of the program", path),
                     "Use that version, or move the file away to start anew."};
    return {};
}

Result<std::string> setDataFileAside(const std::filesystem::path& path, const Error& why) {
    ENGINE_TRY(const std::filesystem::path aside, setAside(path));
    return fmt::format("{}. The file was renamed to {} and a new one begun.",
                       why.message,
                       aside.filename().string());
}

std::string notStored(std::string_view what, const Error& error) {
    return fmt::format("{} could not be stored: {}. {}", what, error.message, error.hint);
}

} // namespace engine
