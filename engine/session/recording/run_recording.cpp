// SPDX-License-Identifier: Apache-2.0
#include "engine/session/recording/run_recording.h"

#include "engine/loading/files/output_place.h"
#include "engine/session/recording/event_json.h"

#include <xxhash.h>

#include <array>
#include <cstring>
#include <span>

namespace engine {

namespace {

constexpr std::string_view kMagic = "SWIFTRUN";
constexpr std::uint32_t kVersion = 1;

template <typename T> std::string bytesOf(T number) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &number, sizeof(T));
    return bytes;
}

std::uint64_t checksum(std::string_view payload, std::uint64_t place) {
    return XXH3_64bits_withSeed(payload.data(), payload.size(), place);
}

Error damagedAt(const ByteReader& file, std::uint64_t offset, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} (byte {}).", file.path().string(), problem, offset),
            "Everything before this place is intact. A program that is killed while recording "
            "leaves its last record incomplete."};
}

/// Whether it concerns all conversations.
bool isOfSession(const EventContent& content) {
    return std::holds_alternative<ModelLoadProgress>(content) ||
           std::holds_alternative<ModelLoaded>(content) ||
           std::holds_alternative<ModelUnloaded>(content) ||
           std::holds_alternative<RecordingStarted>(content) ||
           std::holds_alternative<RecordingStopped>(content);
}

} // namespace

Result<bool> isRecording(const std::filesystem::path& path) {
    const auto reader = RunReader::open(path);
    if (reader || reader.error().code == ErrorCode::Unsupported) // a newer version's
        return true;
    if (reader.error().code == ErrorCode::CorruptFile)
        return false;
    return reader.error();
}

Result<RunRecorder> RunRecorder::start(const std::filesystem::path& path, bool mayOverwrite) {
    ENGINE_TRY_DO(checkOutput({.path = path, .isOwn = isRecording, .mayOverwrite = mayOverwrite}));
    ENGINE_TRY(PartFile file, PartFile::begin(path));
    RunRecorder recorder(path, std::move(file));
    ENGINE_TRY_DO(recorder.writeBytes(std::string(kMagic) + bytesOf(kVersion)));
    return recorder;
}

Result<void> RunRecorder::write(const EngineEvent& event) {
    const std::string payload = eventJson(event);
    if (payload.size() > kMaxRecordBytes)
        return Error{ErrorCode::Unsupported,
                     fmt::format("An event of {} bytes does not fit into the recording {}.",
                                 payload.size(),
                                 m_path.string()),
                     "Ask for shorter answers while recording."};
    ENGINE_TRY_DO(writeBytes(bytesOf(static_cast<std::uint32_t>(payload.size())) +
                             bytesOf(checksum(payload, m_offset)) + payload));
    return m_file.publish(); // with the first record
}

Result<void> RunRecorder::finish() { return m_file.close(); }

Result<void> RunRecorder::writeBytes(std::string_view bytes) {
    ENGINE_TRY_DO(m_file.write(bytes));
    m_offset += bytes.size();
    return {};
}

Result<RunReader> RunReader::open(const std::filesystem::path& path) {
    ENGINE_TRY(ByteReader opened, ByteReader::open(path));
    auto file = std::make_unique<const ByteReader>(std::move(opened));
    ByteCursor cursor(*file);
    const Error noRecording{ErrorCode::CorruptFile,
                            fmt::format("{} is not a recording of a run (byte 0).", path.string()),
                            "Recordings are files named NAME.swiftrun, made by Run > Record to a "
                            "file or by swift-run stream --out."};
    if (file->size() < kMagic.size() + sizeof(kVersion))
        return noRecording;
    std::array<char, kMagic.size()> magic{};
    ENGINE_TRY_DO(cursor.read(std::as_writable_bytes(std::span(magic)), "the magic"));
    if (std::string_view(magic.data(), magic.size()) != kMagic)
        return noRecording;
    ENGINE_TRY(const auto version, cursor.number<std::uint32_t>("the version"));
    if (version != kVersion)
        return Error{ErrorCode::Unsupported,
                     fmt::format("{} is a recording of version {}; this program reads version {} "
                                 "(byte {}).",
                                 path.string(),
                                 version,
                                 kVersion,
                                 kMagic.size()),
                     "A newer SWIFT Studio has probably written it; use that one."};
    return RunReader(std::move(file), std::move(cursor));
}

Result<std::optional<EngineEvent>> RunReader::next() {
    while (!m_isAtEnd && m_cursor.bytesLeft() > 0) {
        const std::uint64_t place = m_cursor.offset();
        m_isAtEnd = true; // after an error
        ENGINE_TRY(const std::string payload, readRecord());
        const std::uint64_t payloadPlace = m_cursor.offset() - payload.size();
        const auto where = fmt::format("{}: the record at byte {}", m_file->path().string(), place);
        ENGINE_TRY(auto event, readEventJson(payload, where, payloadPlace));
        m_isAtEnd = false;
        const bool isOfOther = event && m_followed && event->conversation != *m_followed &&
                               !isOfSession(event->content);
        if (event && !isOfOther)
            return event;
        ++(isOfOther ? m_otherEvents : m_unknownEvents);
    }
    m_isAtEnd = true;
    return std::optional<EngineEvent>();
}

Result<std::string> RunReader::readRecord() {
    const std::uint64_t place = m_cursor.offset();
    constexpr std::uint64_t kHeadBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
    if (m_cursor.bytesLeft() < kHeadBytes)
        return damagedAt(*m_file, place, "the recording ends inside the head of a record");
    ENGINE_TRY(const auto length, m_cursor.number<std::uint32_t>("a record's length"));
    ENGINE_TRY(const auto expected, m_cursor.number<std::uint64_t>("a record's checksum"));
    if (length > kMaxRecordBytes)
        return damagedAt(*m_file,
                         place,
                         fmt::format("a record of {} bytes is longer than any valid one", length));
    if (length > m_cursor.bytesLeft())
        return damagedAt(*m_file, place, "the recording ends inside a record");
    std::string payload(length, '\0');
    ENGINE_TRY_DO(m_cursor.read(std::as_writable_bytes(std::span(payload)), "a record"));
    if (checksum(payload, place) != expected)
        return damagedAt(*m_file, place, "a record's checksum is wrong");
    return payload;
}

} // namespace engine
