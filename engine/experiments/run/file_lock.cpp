// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace engine {

Result<std::optional<FileLock>> FileLock::take(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
        return Error{ErrorCode::Io,
                     fmt::format("{} cannot be made: {}.",
                                 path.string(),
                                 std::generic_category().message(errno)),
                     "Check the folder, its permissions and the free space."};
    FileLock lock(descriptor);
    while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return std::optional<FileLock>();
        if (errno != EINTR)
            return Error{ErrorCode::Io,
                         fmt::format("{} cannot be locked: {}.",
                                     path.string(),
                                     std::generic_category().message(errno)),
                         "Choose a folder on a disk that can lock files."};
    }
    return std::optional<FileLock>(std::move(lock));
}

bool FileLock::isHeld(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const FileLock closes(descriptor);
    return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FileLock::FileLock(FileLock&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

FileLock::~FileLock() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

} // namespace engine
