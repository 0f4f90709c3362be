// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
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

/// An open file or folder; closed at the end.
class OpenDescriptor {
public:
    explicit OpenDescriptor(int descriptor)
        : m_descriptor(descriptor) {}

    OpenDescriptor(const OpenDescriptor&) = delete;
    OpenDescriptor& operator=(const OpenDescriptor&) = delete;

    ~OpenDescriptor() { close(); }

    bool isOpen() const { return m_descriptor >= 0; }

    int get() const { return m_descriptor; }

    /// 0, or why closing failed: network file systems may report a failed write only here.
    int close() {
        const int descriptor = std::exchange(m_descriptor, -1);
        return descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR ? errno : 0;
    }

private:
    int m_descriptor;
};

/// 0, or the code of the first failure.
int writeAll(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

int syncToDisk(int descriptor) {
    while (::fsync(descriptor) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

/// Creates a file of a name that nobody else has, in `folder`; -1 and errno when it cannot.
int createPart(const std::filesystem::path& folder, std::filesystem::path& name) {
    constexpr int kAttempts = 1000;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        name = folder / fmt::format(".swift-studio-{}-{}.part", ::getpid(), attempt);
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

/// 0, or the code of the first failure; the part is gone then.
int writePart(const std::filesystem::path& folder,
              std::string_view bytes,
              std::filesystem::path& part) {
    OpenDescriptor file(createPart(folder, part));
    if (!file.isOpen())
        return errno;
    int code = writeAll(file.get(), bytes);
    if (code == 0)
        code = syncToDisk(file.get());
    const int closeCode = file.close();
    code = code != 0 ? code : closeCode;
    if (code != 0)
        ::unlink(part.c_str());
    return code;
}

/// The file that is to be replaced: what a link leads to, or the path itself.
Result<std::filesystem::path> targetOf(const std::filesystem::path& path) {
    std::error_code problem;
    const bool isLink = std::filesystem::is_symlink(path, problem);
    const std::filesystem::path target =
        isLink ? std::filesystem::weakly_canonical(path, problem) : path;
    if (isLink && problem)
        return writeError(path, problem.value());
    const auto status = std::filesystem::status(target, problem);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is no regular file and is not replaced", path.string()),
                     "Give the path of a file on disk."};
    return target;
}

} // namespace

Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
    ENGINE_TRY(const std::filesystem::path target, targetOf(path));
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    std::filesystem::path part;
    if (const int code = writePart(folder, bytes, part); code != 0)
        return writeError(path, code);
    if (::rename(part.c_str(), target.c_str()) != 0) {
        const int code = errno;
        ::unlink(part.c_str());
        return writeError(path, code);
    }
    // Without this the old name may be back after a power cut.
    OpenDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const int code = opened.isOpen() ? syncToDisk(opened.get()) : errno;
    if (code != 0 && code != EINVAL && code != EACCES) // folders that cannot be synced or read
        return Error{ErrorCode::Io,
                     fmt::format("{} was replaced, but its folder could not be synced: {}",
                                 path.string(),
                                 std::generic_category().message(code)),
                     "Check the disk."};
    return {};
}

} // namespace engine
