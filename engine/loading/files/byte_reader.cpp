// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/byte_reader.h"

#include "engine/base/checked_math.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace engine {

namespace {

constexpr std::uint64_t kBufferBytes = 65536;
constexpr const char* kFetchAgain = "The file is damaged or incomplete: fetch it again.";

std::string systemMessage(int code) { return std::generic_category().message(code); }

Error openError(const std::filesystem::path& path, int code) {
    if (code == ENOENT || code == ENOTDIR)
        return {ErrorCode::NotFound,
                fmt::format("{} does not exist", path.string()),
                "Check the path."};
    return {ErrorCode::Io,
            fmt::format("{} cannot be opened: {}", path.string(), systemMessage(code)),
            "Check that you may read it."};
}

Error notRegular(const std::filesystem::path& path, mode_t mode) {
    return {ErrorCode::InvalidInput,
            fmt::format("{} is {}, not a regular file",
                        path.string(),
                        S_ISDIR(mode) ? "a folder" : "a pipe, a socket or a device"),
            "Give the path of a file on disk."};
}

} // namespace

Error corruptAt(const std::filesystem::path& path, std::uint64_t offset, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} (byte {})", path.string(), problem, offset),
            kFetchAgain};
}

ByteReader::ByteReader(std::filesystem::path path, int descriptor, std::uint64_t size)
    : m_path(std::move(path))
    , m_descriptor(descriptor)
    , m_size(size) {}

ByteReader::ByteReader(ByteReader&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_size(other.m_size)
    , m_state(std::move(other.m_state)) {}

ByteReader& ByteReader::operator=(ByteReader&& other) noexcept {
    std::swap(m_path, other.m_path);
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_size, other.m_size);
    std::swap(m_state, other.m_state);
    return *this;
}

ByteReader::~ByteReader() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<ByteReader> ByteReader::open(const std::filesystem::path& path) {
    struct stat status {};

    // Looked at before it is opened: opening a device can have effects of its own.
    if (::stat(path.c_str(), &status) != 0)
        return openError(path, errno);
    if (!S_ISREG(status.st_mode))
        return notRegular(path, status.st_mode);
    // O_NONBLOCK: should a pipe have taken the file's place meanwhile, nobody waits for its writer.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return openError(path, errno);
    ByteReader reader(path, descriptor, 0);
    if (::fstat(descriptor, &status) != 0)
        return openError(path, errno);
    if (!S_ISREG(status.st_mode))
        return notRegular(path, status.st_mode);
    reader.m_size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    reader.m_state = fmt::format("{}:{}.{}:{}.{}",
                                 reader.m_size,
                                 status.st_mtim.tv_sec,
                                 status.st_mtim.tv_nsec,
                                 status.st_ctim.tv_sec,
                                 status.st_ctim.tv_nsec);
    return reader;
}

Result<void>
ByteReader::readAt(std::uint64_t offset, std::span<std::byte> out, std::string_view what) const {
    const auto end = checked::add(offset, out.size());
    if (!end || *end > m_size)
        return corruptAt(m_path,
                         offset,
                         fmt::format("{} needs {} bytes from here, but the file ends at byte {}",
                                     what,
                                     out.size(),
                                     m_size));
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t count = ::pread(
            m_descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return Error{ErrorCode::Io,
                         fmt::format("{}: reading {} at byte {} failed: {}",
                                     m_path.string(),
                                     what,
                                     offset + done,
                                     systemMessage(errno)),
                         "Check the disk or the network folder."};
        if (count == 0)
            return corruptAt(
                m_path, offset + done, fmt::format("was cut short while reading {}", what));
        done += static_cast<std::size_t>(count);
    }
    return {};
}

Result<std::string> readTextFile(const std::filesystem::path& path, std::uint64_t maxBytes) {
    ENGINE_TRY(const ByteReader file, ByteReader::open(path));
    if (file.size() > maxBytes)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} has {} bytes; at most {} are read of such a file",
                                 path.string(),
                                 file.size(),
                                 maxBytes),
                     "Check that this is the file you meant."};
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    ENGINE_TRY_DO(file.readAt(0, std::as_writable_bytes(std::span(text)), "the text"));
    return text;
}

Result<void> ByteCursor::read(std::span<std::byte> out, std::string_view what) {
    if (out.size() > bytesLeft() || out.size() > kBufferBytes) {
        ENGINE_TRY_DO(m_file.readAt(m_offset, out, what));
        m_offset += out.size();
        return {};
    }
    const bool isBuffered =
        m_offset >= m_bufferStart && m_offset - m_bufferStart + out.size() <= m_buffer.size();
    if (!isBuffered) {
        m_buffer.resize(static_cast<std::size_t>(std::min(kBufferBytes, bytesLeft())));
        m_bufferStart = m_offset;
        ENGINE_TRY_DO(m_file.readAt(m_offset, m_buffer, what));
    }
    if (!out.empty())
        std::memcpy(out.data(), m_buffer.data() + (m_offset - m_bufferStart), out.size());
    m_offset += out.size();
    return {};
}

Result<std::string> ByteCursor::string(std::uint64_t maxLength, std::string_view what) {
    ENGINE_TRY(const auto length, number<std::uint64_t>(what));
    if (length > maxLength)
        return corrupt(fmt::format(
            "{} is said to have {} bytes; at most {} are allowed", what, length, maxLength));
    ENGINE_TRY_DO(checkFits(length, 1, what));
    std::string text(static_cast<std::size_t>(length), '\0');
    ENGINE_TRY_DO(read(std::as_writable_bytes(std::span(text)), what));
    return text;
}

Result<void>
ByteCursor::checkFits(std::uint64_t count, std::uint64_t bytesEach, std::string_view what) const {
    const auto needed = checked::mul(count, bytesEach);
    if (needed && *needed <= bytesLeft())
        return {};
    return corrupt(
        fmt::format("{}: {} items of at least {} bytes do not fit into the {} bytes left",
                    what,
                    count,
                    bytesEach,
                    bytesLeft()));
}

} // namespace engine
