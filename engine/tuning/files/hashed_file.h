// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/cache/content_sum.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/part_file.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace engine {

// Files of a run that trains: a magic word of 8 bytes, numbers, a JSON text that says what they
// are, the length of this text (u64), and the ContentSum of everything before it.

/// Writes such a file; it has its name only once it is finished. Thread: one.
class HashedFileWriter {
public:
    /// `magic` has 8 letters. Errors: Io.
    static Result<HashedFileWriter> begin(const std::filesystem::path& path,
                                          std::string_view magic);

    /// Errors: Io.
    Result<void> write(std::span<const std::byte> bytes);

    template <typename T> Result<void> writeAll(std::span<const T> values) {
        return write(std::as_bytes(values));
    }

    /// Where the next bytes go.
    std::uint64_t offset() const { return m_offset; }

    /// Appends the description, waits for the disk and gives the file its name. Returns its hash.
    /// Errors: Io; what had the name before is left as it was.
    Result<std::string> finish(std::string_view description);

private:
    explicit HashedFileWriter(PartFile file)
        : m_file(std::move(file)) {}

    PartFile m_file;
    ContentSum m_sum;
    std::uint64_t m_offset = 0;
};

/// Such a file, whose bytes were checked when it was opened. Thread: reads may come from any.
class HashedFile {
public:
    /// Reads all of it. Errors: NotFound; Io; CorruptFile for another kind of file, and for one
    /// that is not whole.
    static Result<HashedFile> open(const std::filesystem::path& path, std::string_view magic);

    const std::string& description() const { return m_description; }

    const std::string& hash() const { return m_hash; }

    const std::filesystem::path& path() const { return m_file.path(); }

    /// Errors: Io; CorruptFile for a place behind the numbers.
    template <typename T>
    Result<void> readAll(std::uint64_t offset, std::span<T> out, std::string_view what) const {
        return m_file.readAt(offset, std::as_writable_bytes(out), what);
    }

    /// CorruptFile that names the file.
    Error corrupt(std::string_view problem) const;

private:
    explicit HashedFile(ByteReader file)
        : m_file(std::move(file)) {}

    Result<void> check(std::string_view magic);

    ByteReader m_file;
    std::string m_description;
    std::string m_hash;
};

} // namespace engine
