// SPDX-License-Identifier: Apache-2.0
#include "engine/base/locks/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace engine {

namespace {

Error lockError(const std::filesystem::path& path, const char* verb, int code, const char* hint) {
    return {ErrorCode::Io,
            fmt::format(
                "{} cannot be {}: {}.", path.string(), verb, std::generic_category().message(code)),
            hint};
}

} // namespace

Result<FileLock> FileLock::open(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
        return lockError(
            path, "made", errno, "Check the folder, its permissions and the free space.");
    return FileLock(descriptor, path);
}

Result<std::optional<FileLock>> FileLock::take(const std::filesystem::path& path) {
    constexpr int kAttempts = 4; // isHeld() of another process holds it for a moment
    constexpr std::chrono::milliseconds kPause(10);
    ENGINE_TRY(FileLock lock, open(path));
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        if (attempt > 0)
            std::this_thread::sleep_for(kPause);
        ENGINE_TRY(const bool isTaken, lock.tryLock());
        if (isTaken)
            return std::optional<FileLock>(std::move(lock));
    }
    return std::optional<FileLock>();
}

Result<bool> FileLock::tryLock() {
    while (::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return false;
        if (errno != EINTR)
            return lockError(
                m_path, "locked", errno, "Choose a folder on a disk that can lock files.");
    }
    return true;
}

void FileLock::unlock() { ::flock(m_descriptor, LOCK_UN); }

bool FileLock::isHeld(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const FileLock closes(descriptor, path);
    return ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FileLock::FileLock(FileLock&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_path, other.m_path);
    return *this;
}

FileLock::~FileLock() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

} // namespace engine
