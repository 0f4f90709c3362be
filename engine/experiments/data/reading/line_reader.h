// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/files/byte_reader.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

/// One line of a text file, without its end.
struct TextLine {
    std::int64_t number = 0; ///< counted from 1
    std::string_view text;   ///< valid until the next line is read; empty when too long
    bool isTooLong = false;
};

/// Reads a text file line by line with one line in memory. Lines end with LF or CRLF, never with
/// another character; the last one may have no end. Thread: one.
class LineReader {
public:
    /// A UTF-8 byte order mark is skipped. Errors: NotFound, Io, InvalidInput (no regular file);
    /// Unsupported for UTF-16 and UTF-32, recognised by their mark or their zero bytes.
    static Result<LineReader>
    open(const std::filesystem::path& path, std::size_t maxLineBytes, std::stop_token stop = {});

    /// The next line; nothing at the end. The part of a line beyond the limit is skipped. Errors:
    /// Io, CorruptFile (the file was cut short meanwhile); InvalidInput for a file that has no line
    /// end for too long; Cancelled.
    Result<std::optional<TextLine>> next();

    /// A place between two lines.
    struct Place {
        std::uint64_t offset = 0; ///< bytes before it
        std::int64_t lines = 0;   ///< lines before it
    };

    Place place() const;

    /// Goes on reading from an earlier place.
    void goBack(const Place& place);

    const std::filesystem::path& path() const { return m_file.path(); }

private:
    LineReader(ByteReader file,
               std::size_t maxLineBytes,
               std::uint64_t start,
               std::stop_token stop);

    Result<bool> fillChunk();
    void append(std::string_view part);
    TextLine finishLine();

    ByteReader m_file;
    std::size_t m_maxLineBytes;
    std::stop_token m_stop;
    std::uint64_t m_offset; // of the first byte not yet read
    std::string m_chunk;
    std::size_t m_chunkPosition = 0;
    std::string m_line;
    bool m_isTooLong = false;
    std::int64_t m_lineNumber = 0;
};

} // namespace engine
