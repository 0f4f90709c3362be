// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace engine {

namespace {

Error writeError(const std::filesystem::path& path, int code) {
    return {ErrorCode::Io,
            fmt::format(
                "{} cannot be written: {}", path.string(), std::generic_category().message(code)),
            "Check that the folder exists, that you may write there and that the disk has space."};
}

/// What a link leads to, or the path itself.
Result<std::filesystem::path> behindLinks(const std::filesystem::path& path) {
    std::error_code problem;
    if (!std::filesystem::is_symlink(path, problem))
        return path;
    auto target = std::filesystem::weakly_canonical(path, problem);
    if (problem)
        return writeError(path, problem.value());
    return target;
}

constexpr std::string_view kBeginning = ".swift-studio-";
constexpr std::string_view kEnd = ".part";

/// Creates a file of a name that nobody else has, in `folder`; -1 and errno when it cannot.
int createPart(const std::filesystem::path& folder, std::filesystem::path& name) {
    constexpr int kAttempts = 1000;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        name = folder / fmt::format("{}{}-{}{}", kBeginning, ::getpid(), attempt, kEnd);
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

std::filesystem::path folderOf(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : ".";
}

/// 0, or the code of the failure.
int syncToDisk(int descriptor) {
    while (::fsync(descriptor) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

} // namespace

Result<PartFile> PartFile::begin(const std::filesystem::path& path) {
    ENGINE_TRY(std::filesystem::path target, behindLinks(path));
    PartFile file(path, std::move(target));
    std::error_code ignored;
    const auto status = std::filesystem::status(file.m_target, ignored);
    if (std::filesystem::is_character_file(status)) {
        file.m_descriptor = ::open(file.m_target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is no regular file and is not replaced", path.string()),
                     "Give the path of a file on disk."};
    } else {
        file.m_descriptor = createPart(folderOf(file.m_target), file.m_part);
    }
    if (file.m_descriptor >= 0)
        return file;
    file.m_part.clear(); // another's, if there is one
    return writeError(path, errno);
}

PartFile::PartFile(PartFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_target(std::move(other.m_target))
    , m_part(std::exchange(other.m_part, {}))
    , m_descriptor(std::exchange(other.m_descriptor, -1)) {}

PartFile::~PartFile() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
    if (!m_part.empty())
        ::unlink(m_part.c_str());
}

Error PartFile::failed(int code) const { return writeError(m_path, code); }

Result<void> PartFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(m_descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failed(errno);
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

Result<void> PartFile::sync() {
    if (const int code = syncToDisk(m_descriptor); code != 0)
        return failed(code);
    return {};
}

Result<void> PartFile::publish() {
    if (m_part.empty())
        return {};
    if (::rename(m_part.c_str(), m_target.c_str()) != 0)
        return failed(errno);
    m_part.clear();
    return {};
}

Result<void> PartFile::syncFolder() const { return syncName(m_target); }

Result<void> PartFile::close() {
    const int descriptor = std::exchange(m_descriptor, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR)
        return failed(errno);
    return {};
}

bool isPartFile(std::string_view name) {
    return name.size() > kBeginning.size() + kEnd.size() && name.starts_with(kBeginning) &&
           name.ends_with(kEnd) &&
           name.substr(kBeginning.size(), name.size() - kBeginning.size() - kEnd.size())
                   .find_first_not_of("0123456789-") == std::string_view::npos;
}

Result<void> syncName(const std::filesystem::path& path) {
    const int folder = ::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int code = folder >= 0 ? syncToDisk(folder) : errno;
    if (folder >= 0)
        ::close(folder);
    if (code == 0 || code == EINVAL || code == EACCES) // folders that cannot be synced or read
        return {};
    return Error{ErrorCode::Io,
                 fmt::format("{} has been written, but its folder could not be synced: {}",
                             path.string(),
                             std::generic_category().message(code)),
                 "Check the disk."};
}

} // namespace engine
