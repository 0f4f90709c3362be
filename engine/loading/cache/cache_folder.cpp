// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/cache/cache_folder.h"

#include "engine/loading/cache/content_sum.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".packed";
constexpr std::size_t kDigits = 32;

/// A program that still writes after this time is gone: it left its unfinished file behind.
constexpr std::chrono::hours kUnfinishedAge{1};

struct KeptFile {
    fs::path path;
    std::uint64_t byteSize = 0;
    fs::file_time_type usedAt;
};

bool isOurs(std::string_view name) {
    return name.size() >= kDigits + kSuffix.size() &&
           name.substr(0, kDigits).find_first_not_of("0123456789abcdef") ==
               std::string_view::npos &&
           name.substr(kDigits, kSuffix.size()) == kSuffix;
}

/// Removes what was left unfinished and lists the rest, the one used longest ago first. A file that
/// vanishes meanwhile is left out.
std::vector<KeptFile> listKept(const fs::path& folder) {
    std::vector<KeptFile> kept;
    std::error_code failure;
    const auto now = fs::file_time_type::clock::now();
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        std::error_code gone;
        KeptFile file{entry->path(), entry->file_size(gone), entry->last_write_time(gone)};
        if (gone || !isOurs(name))
            continue;
        const std::string_view rest = std::string_view(name).substr(kDigits + kSuffix.size());
        if (rest.empty())
            kept.push_back(std::move(file));
        else if (rest.starts_with(kUnfinishedSuffix) && now - file.usedAt > kUnfinishedAge)
            fs::remove(file.path, gone);
    }
    std::sort(kept.begin(), kept.end(), [](const KeptFile& a, const KeptFile& b) {
        return std::tie(a.usedAt, a.path) < std::tie(b.usedAt, b.path);
    });
    return kept;
}

} // namespace

fs::path CacheFolder::fileOf(std::string_view key) const {
    return m_path / fmt::format("{}{}", contentSumOf(key), kSuffix);
}

Result<CachedFile> CacheFolder::open(std::string_view key, std::uint64_t byteSize) const {
    const fs::path path = fileOf(key);
    ENGINE_TRY(CachedFile file, CachedFile::open(path, key, byteSize));
    std::error_code ignored; // a folder that may only be read still saves time
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return file;
}

Result<void> CacheFolder::keep(std::string_view key,
                               std::span<const std::byte> bytes,
                               const std::stop_token& stop) const {
    const std::uint64_t fileBytes = cachedFileBytes(key, bytes.size());
    if (fileBytes > m_limitBytes)
        return Error{ErrorCode::Unsupported,
                     fmt::format("{} bytes are more than the {} that {} may hold.",
                                 fileBytes,
                                 m_limitBytes,
                                 m_path.string()),
                     "Raise the limit of the packed cache."};
    std::error_code failure;
    fs::create_directories(m_path, failure);
    makeRoom(fileBytes);
    // As much again stays free: a cache must not be what fills a disk.
    const fs::space_info space = fs::space(m_path, failure);
    if (!failure && space.available / 2 < fileBytes)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The disk of {} is nearly full.", m_path.string()),
                     "Free some space."};
    return writeCachedFile(fileOf(key), key, bytes, stop);
}

void CacheFolder::remove(std::string_view key) const {
    std::error_code ignored;
    fs::remove(fileOf(key), ignored);
}

void CacheFolder::makeRoom(std::uint64_t byteSize) const {
    const std::vector<KeptFile> kept = listKept(m_path);
    std::uint64_t total = byteSize;
    for (const KeptFile& file : kept)
        total += file.byteSize;
    for (const KeptFile& file : kept) {
        if (total <= m_limitBytes)
            return;
        std::error_code failure;
        if (fs::remove(file.path, failure))
            total -= file.byteSize;
    }
}

} // namespace engine
