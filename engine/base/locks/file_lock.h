// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace engine {

/// A file that can be locked for this object alone (flock). The lock ends with the object or with
/// the process, however that ends; programs that it starts do not inherit it. Thread: one at a
/// time.
class FileLock {
public:
    /// Opens the file without locking it; makes it if needed. Errors: Io.
    static Result<FileLock> open(const std::filesystem::path& path);

    /// Opens and locks it; none if another process, or another lock of this one, holds it. Errors:
    /// Io.
    static Result<std::optional<FileLock>> take(const std::filesystem::path& path);

    /// Whether somebody holds it at this moment. False for a file that does not exist.
    static bool isHeld(const std::filesystem::path& path);

    /// Locks it without waiting; false if another one holds it. Errors: Io.
    Result<bool> tryLock();

    void unlock();

    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

private:
    FileLock(int descriptor, std::filesystem::path path)
        : m_descriptor(descriptor)
        , m_path(std::move(path)) {}

    int m_descriptor = -1;
    std::filesystem::path m_path;
};

} // namespace engine
