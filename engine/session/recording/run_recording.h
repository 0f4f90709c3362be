// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/part_file.h"
#include "engine/session/engine_event.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

// A .swiftrun file: 8 bytes "SWIFTRUN", a u32 version, then records. A record is a u32 length, the
// u64 XXH3 of the payload with the record's place in the file as seed, and the payload: one event
// as JSON (event_json.h). All numbers are little endian.

namespace engine {

/// No record is longer.
inline constexpr std::uint32_t kMaxRecordBytes = 1U << 24U;

/// Whether a file is a recording, of this version or a newer one. Errors: Io, NotFound.
Result<bool> isRecording(const std::filesystem::path& path);

/// Writes events to a file as they arrive. Each is passed to the system at once, so a killed
/// program leaves a file that is complete up to its last event. Thread: one.
class RunRecorder {
public:
    /// Starts a file under a temporary name; with the first record it replaces an earlier
    /// recording, or any other file if `mayOverwrite`. Errors: those of checkOutput; Io.
    static Result<RunRecorder> start(const std::filesystem::path& path, bool mayOverwrite = false);

    const std::filesystem::path& path() const { return m_path; }

    /// Errors: Io with the system's reason; nothing more should be written then.
    Result<void> write(const EngineEvent& event);

    /// Closes the file. Errors: Io.
    Result<void> finish();

private:
    RunRecorder(std::filesystem::path path, PartFile file)
        : m_path(std::move(path))
        , m_file(std::move(file)) {}

    Result<void> writeBytes(std::string_view bytes);

    std::filesystem::path m_path;
    PartFile m_file;
    std::uint64_t m_offset = 0;
};

/// Reads a recording from front to back. The file is untrusted: everything is checked, and all
/// events before a damaged place are still returned. Thread: one.
class RunReader {
public:
    /// Errors: NotFound, Io, InvalidInput for what is no regular file; CorruptFile when it is no
    /// recording; Unsupported when a newer version wrote it.
    static Result<RunReader> open(const std::filesystem::path& path);

    /// From here on only the events of this conversation and of the whole session are given; those
    /// of others are counted.
    void follow(std::uint64_t conversation) { m_followed = conversation; }

    std::int64_t otherEvents() const { return m_otherEvents; }

    /// The next event; nothing at the end. Events of unknown kinds are skipped and counted. Errors:
    /// CorruptFile with the byte of a cut or damaged record, after which nothing more can be read.
    Result<std::optional<EngineEvent>> next();

    std::int64_t unknownEvents() const { return m_unknownEvents; }

private:
    RunReader(std::unique_ptr<const ByteReader> file, ByteCursor cursor)
        : m_file(std::move(file))
        , m_cursor(std::move(cursor)) {}

    Result<std::string> readRecord();

    std::unique_ptr<const ByteReader> m_file; // the cursor refers to it
    ByteCursor m_cursor;
    std::optional<std::uint64_t> m_followed; // none: all conversations
    std::int64_t m_otherEvents = 0;
    std::int64_t m_unknownEvents = 0;
    bool m_isAtEnd = false;
};

} // namespace engine
