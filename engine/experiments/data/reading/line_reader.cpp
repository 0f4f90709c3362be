// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/reading/line_reader.h"

#include <algorithm>
#include <span>
#include <utility>

namespace engine {

namespace {

constexpr std::uint64_t kChunkBytes = 65536;

/// A file without a line end for this long is not a text; reading a sparse file could take days.
constexpr std::uint64_t kMostBytesWithoutEnd = 4'000'000'000;

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

/// The name of a wide encoding, by its mark or by where ASCII leaves zero bytes; else nothing.
std::string_view wideEncodingOf(std::string_view start) {
    using namespace std::string_view_literals;
    if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv))
        return "UTF-32";
    if (start.starts_with("\xFF\xFE"sv) || start.starts_with("\xFE\xFF"sv))
        return "UTF-16";
    if (start.size() < 2 || (start[0] == '\0') == (start[1] == '\0'))
        return start.size() == 4 && start.starts_with("\0\0\0"sv) && start[3] != '\0' ? "UTF-32"
                                                                                      : "";
    return start.size() == 4 && start[2] == '\0' && start[3] == '\0' ? "UTF-32" : "UTF-16";
}

} // namespace

LineReader::LineReader(ByteReader file,
                       std::size_t maxLineBytes,
                       std::uint64_t start,
                       std::stop_token stop)
    : m_file(std::move(file))
    , m_maxLineBytes(maxLineBytes)
    , m_stop(std::move(stop))
    , m_offset(start) {}

Result<LineReader> LineReader::open(const std::filesystem::path& path,
                                    std::size_t maxLineBytes,
                                    std::stop_token stop) {
    ENGINE_TRY(ByteReader file, ByteReader::open(path));
    std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 4)), '\0');
    ENGINE_TRY_DO(file.readAt(0, std::as_writable_bytes(std::span(start)), "the text"));
    if (const std::string_view encoding = wideEncodingOf(start); !encoding.empty())
        return Error{
            ErrorCode::Unsupported,
            fmt::format("{} is {} text; only UTF-8 is read", path.string(), encoding),
            fmt::format("Save it as UTF-8, for example with: iconv -f {} -t UTF-8", encoding)};
    const std::uint64_t begin = start.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0;
    return LineReader(std::move(file), maxLineBytes, begin, std::move(stop));
}

LineReader::Place LineReader::place() const {
    return {.offset = m_offset - (m_chunk.size() - m_chunkPosition), .lines = m_lineNumber};
}

void LineReader::goBack(const Place& place) {
    m_chunk.clear();
    m_chunkPosition = 0;
    m_offset = place.offset;
    m_lineNumber = place.lines;
}

Result<bool> LineReader::fillChunk() {
    if (m_stop.stop_requested())
        return Error{ErrorCode::Cancelled, "Reading the prompts was stopped.", ""};
    m_chunk.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, m_file.size() - m_offset)));
    m_chunkPosition = 0;
    if (m_chunk.empty())
        return false;
    ENGINE_TRY_DO(m_file.readAt(m_offset, std::as_writable_bytes(std::span(m_chunk)), "the text"));
    m_offset += m_chunk.size();
    return true;
}

void LineReader::append(std::string_view part) {
    // One more byte, for a CR that may belong to the line's end.
    m_isTooLong = m_isTooLong || m_line.size() + part.size() > m_maxLineBytes + 1;
    if (m_isTooLong)
        m_line.clear();
    else
        m_line += part;
}

TextLine LineReader::finishLine() {
    if (!m_line.empty() && m_line.back() == '\r')
        m_line.pop_back();
    m_isTooLong = m_isTooLong || m_line.size() > m_maxLineBytes;
    if (m_isTooLong)
        m_line.clear();
    return {.number = ++m_lineNumber, .text = m_line, .isTooLong = m_isTooLong};
}

Result<std::optional<TextLine>> LineReader::next() {
    m_line.clear();
    m_isTooLong = false;
    std::uint64_t bytes = 0;
    for (;;) {
        if (m_chunkPosition == m_chunk.size()) {
            ENGINE_TRY(const bool hasMore, fillChunk());
            if (!hasMore)
                break;
        }
        const std::string_view rest = std::string_view(m_chunk).substr(m_chunkPosition);
        const std::size_t end = rest.find('\n');
        append(rest.substr(0, end));
        if (end != std::string_view::npos) {
            m_chunkPosition += end + 1;
            return std::optional(finishLine());
        }
        m_chunkPosition = m_chunk.size();
        bytes += rest.size();
        if (bytes > kMostBytesWithoutEnd)
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("{}: line {} does not end within {} bytes, so this is not a text file",
                            m_file.path().string(),
                            m_lineNumber + 1,
                            kMostBytesWithoutEnd),
                "Give JSON Lines, a table (.csv, .tsv) or plain text with one prompt a line "
                "(.txt)."};
    }
    if (bytes == 0)
        return std::optional<TextLine>();
    return std::optional(finishLine());
}

} // namespace engine
