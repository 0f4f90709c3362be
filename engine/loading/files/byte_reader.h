// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

static_assert(std::endian::native == std::endian::little, "the file formats are little endian");

/// "PATH: PROBLEM (byte OFFSET)", with the hint to fetch the file again.
Error corruptAt(const std::filesystem::path& path, std::uint64_t offset, std::string_view problem);

/// One regular file, read by position. Never a mapping: a file cut short while it is open gives an
/// error, not a signal. Folders, pipes and devices are refused and never waited on.
/// Thread: reads may come from any thread.
class ByteReader {
public:
    /// Errors: NotFound, Io; InvalidInput for what is no regular file.
    static Result<ByteReader> open(const std::filesystem::path& path);

    ByteReader(ByteReader&& other) noexcept;
    ByteReader& operator=(ByteReader&& other) noexcept;
    ByteReader(const ByteReader&) = delete;
    ByteReader& operator=(const ByteReader&) = delete;
    ~ByteReader();

    const std::filesystem::path& path() const { return m_path; }

    /// Bytes at the time of opening.
    std::uint64_t size() const { return m_size; }

    /// Size and times of the last changes when it was opened: differs from that of any other state
    /// of the file, as far as the system's clock tells them apart.
    const std::string& state() const { return m_state; }

    /// Fills `out` from `offset` on; `what` names the wanted thing in messages.
    /// Errors: CorruptFile (beyond the end, or cut short since it was opened), Io.
    Result<void>
    readAt(std::uint64_t offset, std::span<std::byte> out, std::string_view what) const;

private:
    ByteReader(std::filesystem::path path, int descriptor, std::uint64_t size);

    std::filesystem::path m_path;
    int m_descriptor = -1;
    std::uint64_t m_size = 0;
    std::string m_state;
};

/// A whole file as text. Errors: as ByteReader; CorruptFile when it is longer than `maxBytes`.
Result<std::string> readTextFile(const std::filesystem::path& path, std::uint64_t maxBytes);

/// Walks through a file from front to back, buffered; every read is bounded by the bytes left.
/// Thread: one.
class ByteCursor {
public:
    /// `file` must outlive the cursor.
    explicit ByteCursor(const ByteReader& file)
        : m_file(file) {}

    std::uint64_t offset() const { return m_offset; }

    std::uint64_t bytesLeft() const { return m_file.size() - m_offset; }

    /// A little-endian number of the size of T.
    template <typename T> Result<T> number(std::string_view what) {
        T value{};
        ENGINE_TRY_DO(read(std::as_writable_bytes(std::span(&value, 1)), what));
        return value;
    }

    /// A u64 length and as many bytes. Errors: CorruptFile when longer than `maxLength`.
    Result<std::string> string(std::uint64_t maxLength, std::string_view what);

    /// Passes when `count` things of at least `bytesEach` bytes fit into the bytes left: to be
    /// asked before anything is allocated for them. Errors: CorruptFile.
    Result<void>
    checkFits(std::uint64_t count, std::uint64_t bytesEach, std::string_view what) const;

    Result<void> read(std::span<std::byte> out, std::string_view what);

    /// CorruptFile at the present offset.
    Error corrupt(std::string_view problem) const {
        return corruptAt(m_file.path(), m_offset, problem);
    }

private:
    const ByteReader& m_file;
    std::uint64_t m_offset = 0;
    std::uint64_t m_bufferStart = 0;
    std::vector<std::byte> m_buffer;
};

} // namespace engine
