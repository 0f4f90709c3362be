// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string_view>

namespace engine {

/// A file that is written under a temporary name in its target's folder until publish() gives it
/// the target's name, in place of what was there; without that it is gone in the end. A link keeps
/// its place, the file it names is the target. A character device (/dev/null) is written at once.
/// Thread: one.
class PartFile {
public:
    /// The folder must exist. Errors: Io; InvalidInput for a target that is there and can be no
    /// file (a folder, a pipe).
    static Result<PartFile> begin(const std::filesystem::path& target);

    PartFile(PartFile&& other) noexcept;
    PartFile& operator=(PartFile&&) = delete;
    ~PartFile();

    /// Hands the bytes to the system. Errors: Io with the system's reason.
    Result<void> write(std::string_view bytes);

    /// Waits until the bytes are on the disk. Errors: Io.
    Result<void> sync();

    /// What was written takes the target's name; writing may go on. Errors: Io, with what was
    /// there left as it is.
    Result<void> publish();

    /// Waits until the new name is on the disk, too. Errors: those of syncName.
    Result<void> syncFolder() const;

    /// Nothing can be written behind it. Errors: Io, which some network folders tell only here.
    Result<void> close();

private:
    PartFile(std::filesystem::path path, std::filesystem::path target)
        : m_path(std::move(path))
        , m_target(std::move(target)) {}

    Error failed(int code) const;

    std::filesystem::path m_path;   // as it was asked for
    std::filesystem::path m_target; // where its links lead
    std::filesystem::path m_part;   // empty once it has the target's name
    int m_descriptor = -1;
};

/// Whether a file has such a temporary name: one that a process that was killed has left.
bool isPartFile(std::string_view name);

/// Waits until the name of a file or folder that was made or renamed is on the disk; without that
/// the old one may be back after a power cut. A folder that cannot be read or synced is left alone.
/// Errors: Io, which says that the thing is in its place.
Result<void> syncName(const std::filesystem::path& path);

} // namespace engine
