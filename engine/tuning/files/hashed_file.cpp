// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/files/hashed_file.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace {

constexpr std::uint64_t kMagicBytes = 8;
constexpr std::uint64_t kSumDigits = 32;
constexpr std::uint64_t kTailBytes = sizeof(std::uint64_t) + kSumDigits;
constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20U;
constexpr std::uint64_t kMostDescription = 64'000'000;

std::string_view textOf(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

Result<HashedFileWriter> HashedFileWriter::begin(const std::filesystem::path& path,
                                                 std::string_view magic) {
    ENGINE_CHECK(magic.size() == kMagicBytes, "a magic word of {} bytes", magic.size());
    ENGINE_TRY(PartFile file, PartFile::begin(path));
    HashedFileWriter writer(std::move(file));
    ENGINE_TRY_DO(writer.write(std::as_bytes(std::span(magic))));
    return writer;
}

Result<void> HashedFileWriter::write(std::span<const std::byte> bytes) {
    m_sum.add(bytes);
    m_offset += bytes.size();
    return m_file.write(textOf(bytes));
}

Result<std::string> HashedFileWriter::finish(std::string_view description) {
    ENGINE_TRY_DO(write(std::as_bytes(std::span(description))));
    const std::uint64_t length = description.size();
    ENGINE_TRY_DO(write(std::as_bytes(std::span(&length, 1))));
    std::string hash = m_sum.hexDigits();
    ENGINE_TRY_DO(m_file.write(hash));
    ENGINE_TRY_DO(m_file.sync());
    ENGINE_TRY_DO(m_file.close());
    ENGINE_TRY_DO(m_file.publish());
    ENGINE_TRY_DO(m_file.syncFolder());
    return hash;
}

Result<HashedFile> HashedFile::open(const std::filesystem::path& path, std::string_view magic) {
    ENGINE_TRY(ByteReader file, ByteReader::open(path));
    HashedFile opened(std::move(file));
    ENGINE_TRY_DO(opened.check(magic));
    return opened;
}

Error HashedFile::corrupt(std::string_view problem) const {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {}.", path().string(), problem),
            "Remove this file; --resume makes again what is missing."};
}

Result<void> HashedFile::check(std::string_view magic) {
    const std::uint64_t size = m_file.size();
    if (size < kMagicBytes + kTailBytes)
        return corrupt("it is too short");
    std::string found(kMagicBytes, '\0');
    ENGINE_TRY_DO(readAll(0, std::span(found), "its kind"));
    if (found != magic)
        return corrupt("it is a file of another kind");
    const std::uint64_t summed = size - kSumDigits;
    ContentSum sum;
    std::vector<std::byte> piece(
        static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, summed)));
    for (std::uint64_t at = 0; at < summed; at += piece.size()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, summed - at)));
        ENGINE_TRY_DO(m_file.readAt(at, piece, "its content"));
        sum.add(piece);
    }
    m_hash.assign(kSumDigits, '\0');
    ENGINE_TRY_DO(readAll(summed, std::span(m_hash), "its hash"));
    if (m_hash != sum.hexDigits())
        return corrupt("its content does not have its hash, so it is damaged");
    std::uint64_t length = 0;
    ENGINE_TRY_DO(readAll(size - kTailBytes, std::span(&length, 1), "a length"));
    if (length > kMostDescription || length > size - kMagicBytes - kTailBytes)
        return corrupt("its description is said to be longer than the file");
    m_description.assign(static_cast<std::size_t>(length), '\0');
    return readAll(size - kTailBytes - length, std::span(m_description), "its description");
}

} // namespace engine
