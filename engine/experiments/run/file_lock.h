// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <optional>

namespace engine {

/// A file that is locked for this process alone (flock) until the lock is destroyed or the process
/// ends, however it ends. Thread: any.
class FileLock {
public:
    /// None if another process, or another lock of this one, holds it. Makes the file if needed.
    /// Errors: Io.
    static Result<std::optional<FileLock>> take(const std::filesystem::path& path);

    /// Whether somebody holds it at this moment. False for a file that does not exist.
    static bool isHeld(const std::filesystem::path& path);

    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

private:
    explicit FileLock(int descriptor)
        : m_descriptor(descriptor) {}

    int m_descriptor = -1;
};

} // namespace engine
