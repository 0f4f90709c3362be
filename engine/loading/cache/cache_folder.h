// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/cache/cached_file.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string_view>

namespace engine {

/// A folder of files that only save time, each kept under a key: any of them may be deleted at any
/// moment, by anybody. Several programs may use one folder. Only files of its own kind of name
/// (32 hexadecimal digits and ".packed") are counted and removed. Thread: any, one at a time.
class CacheFolder {
public:
    /// `limitBytes`: of all files together. The folder is made when something is kept.
    CacheFolder(std::filesystem::path path, std::uint64_t limitBytes)
        : m_path(std::move(path))
        , m_limitBytes(limitBytes) {}

    /// Where the bytes of this key lie, kept or not.
    std::filesystem::path fileOf(std::string_view key) const;

    /// Opens what is kept and makes it the one used last. Errors: those of CachedFile::open.
    Result<CachedFile> open(std::string_view key, std::uint64_t byteSize) const;

    /// Keeps bytes; of the others those used longest ago go until all are within the limit.
    /// Errors: Unsupported when these bytes alone are above it, or the disk would be nearly full;
    /// those of writeCachedFile.
    Result<void>
    keep(std::string_view key, std::span<const std::byte> bytes, const std::stop_token& stop) const;

    void remove(std::string_view key) const;

private:
    void makeRoom(std::uint64_t byteSize) const;

    std::filesystem::path m_path;
    std::uint64_t m_limitBytes;
};

} // namespace engine
