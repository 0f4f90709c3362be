// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/files/byte_reader.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Bytes that were kept under a key, read in chunks each of which is checked. A file that was cut
/// short, damaged, or written for another key gives errors, never wrong bytes. The layout: a head
/// (magic, sizes, key, a checksum of each chunk, a checksum of the head), filled up to 4 KiB, then
/// the bytes. Thread: chunks may be read by several threads at once.
class CachedFile {
public:
    /// `key`: any text of up to 4096 bytes. Errors: NotFound; CorruptFile for a file that does not
    /// hold `byteSize` bytes under this key; Io.
    static Result<CachedFile>
    open(const std::filesystem::path& path, std::string_view key, std::uint64_t byteSize);

    std::size_t chunkCount() const { return m_checksums.size(); }

    /// Fills chunk `index`'s part of `memory`. Shapes: memory [byteSize]. Errors: CorruptFile, Io.
    Result<void> readChunk(std::size_t index, std::span<std::byte> memory) const;

private:
    explicit CachedFile(ByteReader file)
        : m_file(std::move(file)) {}

    Result<void> readHead(std::string_view key, std::uint64_t byteSize);

    ByteReader m_file;
    std::uint64_t m_start = 0; // of the bytes in the file
    std::vector<std::uint64_t> m_checksums;
};

/// Size of the file that holds so many bytes under this key.
std::uint64_t cachedFileBytes(std::string_view key, std::uint64_t byteSize);

/// Writes such a file as a whole: a reader finds the old one or the new one, and one that a power
/// cut spoiled gives errors. The folder must exist. Errors: Io; Cancelled; nothing is left then.
Result<void> writeCachedFile(const std::filesystem::path& path,
                             std::string_view key,
                             std::span<const std::byte> bytes,
                             const std::stop_token& stop);

/// How names of unfinished files begin, behind the name of the file they are to become.
inline constexpr std::string_view kUnfinishedSuffix = ".part-";

} // namespace engine
