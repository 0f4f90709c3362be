// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/cache/cached_file.h"

#include "engine/base/checked_math.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kMagic = "SWIFTPK1";
constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20U;
constexpr std::uint64_t kAlignment = 4096;
constexpr std::uint64_t kMaxKeyBytes = 4096;
/// Magic, number of bytes, length of the key.
constexpr std::uint64_t kFixedBytes = 8 + 8 + 8;

std::uint64_t chunksOf(std::uint64_t byteSize) {
    return byteSize / kChunkBytes + (byteSize % kChunkBytes != 0 ? 1 : 0);
}

/// What stands in front of the bytes, its own checksum left out.
std::uint64_t headBytes(std::string_view key, std::uint64_t byteSize) {
    return kFixedBytes + key.size() + chunksOf(byteSize) * sizeof(std::uint64_t);
}

std::uint64_t startOf(std::string_view key, std::uint64_t byteSize) {
    const auto end = headBytes(key, byteSize) + sizeof(std::uint64_t);
    return (end + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t checksumOf(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

template <typename Bytes> Bytes chunkOf(Bytes bytes, std::size_t index) {
    const std::size_t first = index * kChunkBytes;
    return bytes.subspan(first, std::min<std::size_t>(kChunkBytes, bytes.size() - first));
}

void append(std::string& head, std::uint64_t number) {
    head.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// The head with its checksum, filled up to where the bytes begin.
std::string
makeHead(std::string_view key, std::uint64_t byteSize, std::span<const std::uint64_t> checksums) {
    std::string head(kMagic);
    append(head, byteSize);
    append(head, key.size());
    head += key;
    for (const std::uint64_t checksum : checksums)
        append(head, checksum);
    append(head, checksumOf(std::as_bytes(std::span(head))));
    head.resize(static_cast<std::size_t>(startOf(key, byteSize)), '\0');
    return head;
}

/// A file beside the one it is to become; it goes away unless it is finished.
class UnfinishedFile {
public:
    explicit UnfinishedFile(const std::filesystem::path& target)
        : m_name(target.string() + std::string(kUnfinishedSuffix) + "XXXXXX")
        , m_descriptor(::mkostemp(m_name.data(), O_CLOEXEC)) {}

    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    ~UnfinishedFile() {
        if (m_descriptor < 0)
            return;
        ::close(m_descriptor);
        ::unlink(m_name.c_str());
    }

    bool isOpen() const { return m_descriptor >= 0; }

    /// 0, or the code of the first failure.
    int write(std::uint64_t offset, std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t count =
                ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                return errno;
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            offset += static_cast<std::uint64_t>(count);
        }
        return 0;
    }

    int finish(const std::filesystem::path& target) {
        if (::rename(m_name.c_str(), target.c_str()) != 0)
            return errno;
        const int code = ::close(std::exchange(m_descriptor, -1)) == 0 ? 0 : errno;
        return code == EINTR ? 0 : code;
    }

private:
    std::string m_name;
    int m_descriptor;
};

Error notWritten(const std::filesystem::path& path, int code) {
    return {ErrorCode::Io,
            fmt::format(
                "{} cannot be written: {}", path.string(), std::generic_category().message(code)),
            "Check that you may write there and that the disk has space."};
}

} // namespace

Result<CachedFile>
CachedFile::open(const std::filesystem::path& path, std::string_view key, std::uint64_t byteSize) {
    ENGINE_CHECK(key.size() <= kMaxKeyBytes, "a key of {} bytes", key.size());
    ENGINE_TRY(ByteReader reader, ByteReader::open(path));
    CachedFile file(std::move(reader));
    ENGINE_TRY_DO(file.readHead(key, byteSize));
    return file;
}

/// The head must be the very bytes that this key and these sizes ask for, so nothing in it is
/// believed before it is compared.
Result<void> CachedFile::readHead(std::string_view key, std::uint64_t byteSize) {
    m_start = startOf(key, byteSize);
    const auto end = checked::add(m_start, byteSize);
    if (!end || *end != m_file.size())
        return corruptAt(m_file.path(), 0, "the file is not of the size that was kept");
    std::string head(static_cast<std::size_t>(m_start), '\0');
    ENGINE_TRY_DO(m_file.readAt(0, std::as_writable_bytes(std::span(head)), "the head"));
    m_checksums.resize(static_cast<std::size_t>(chunksOf(byteSize)));
    std::memcpy(m_checksums.data(),
                head.data() + kFixedBytes + key.size(),
                m_checksums.size() * sizeof(std::uint64_t));
    if (head != makeHead(key, byteSize, m_checksums))
        return corruptAt(m_file.path(), 0, "the head is damaged, or another thing's");
    return {};
}

Result<void> CachedFile::readChunk(std::size_t index, std::span<std::byte> memory) const {
    ENGINE_CHECK(index < m_checksums.size() && chunksOf(memory.size()) == m_checksums.size(),
                 "chunk {} of {}, {} bytes",
                 index,
                 m_checksums.size(),
                 memory.size());
    const std::span<std::byte> chunk = chunkOf(memory, index);
    const std::uint64_t offset = m_start + index * kChunkBytes;
    ENGINE_TRY_DO(m_file.readAt(offset, chunk, "a chunk"));
    if (checksumOf(chunk) != m_checksums[index])
        return corruptAt(m_file.path(), offset, "a chunk does not have its checksum");
    return {};
}

std::uint64_t cachedFileBytes(std::string_view key, std::uint64_t byteSize) {
    return startOf(key, byteSize) + byteSize;
}

Result<void> writeCachedFile(const std::filesystem::path& path,
                             std::string_view key,
                             std::span<const std::byte> bytes,
                             const std::stop_token& stop) {
    ENGINE_CHECK(key.size() <= kMaxKeyBytes, "a key of {} bytes", key.size());
    UnfinishedFile file(path);
    if (!file.isOpen())
        return notWritten(path, errno);
    const std::uint64_t start = startOf(key, bytes.size());
    std::vector<std::uint64_t> checksums;
    for (std::size_t index = 0; index < chunksOf(bytes.size()); ++index) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Writing was cancelled.", ""};
        const auto chunk = chunkOf(bytes, index);
        checksums.push_back(checksumOf(chunk));
        if (const int code = file.write(start + index * kChunkBytes, chunk); code != 0)
            return notWritten(path, code);
    }
    const std::string head = makeHead(key, bytes.size(), checksums);
    int code = file.write(0, std::as_bytes(std::span(head)));
    if (code == 0)
        code = file.finish(path);
    return code == 0 ? Result<void>() : notWritten(path, code);
}

} // namespace engine
