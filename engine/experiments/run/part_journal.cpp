// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/part_journal.h"

#include "engine/loading/files/byte_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace engine {

namespace {

constexpr std::uint64_t kMostBytesAtOnce = 64'000'000;

} // namespace

PartJournal::PartJournal(PartJournal&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_descriptor(std::exchange(other.m_descriptor, -1)) {}

PartJournal::~PartJournal() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Error PartJournal::failed() const {
    return {ErrorCode::Io,
            fmt::format("{} cannot be written: {}.",
                        m_path.string(),
                        std::generic_category().message(errno)),
            "Make room, then go on with --resume: what was finished is kept."};
}

Result<PartJournal> PartJournal::open(const std::filesystem::path& path, int flags) {
    PartJournal journal(path, ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644));
    if (journal.m_descriptor < 0)
        return journal.failed();
    return journal;
}

Result<PartJournal> PartJournal::begin(const std::filesystem::path& path, std::string_view head) {
    ENGINE_TRY(PartJournal journal, open(path, O_TRUNC));
    ENGINE_TRY_DO(journal.write(head));
    return journal;
}

Result<PartJournal> PartJournal::goOn(const std::filesystem::path& path, std::uint64_t end) {
    ENGINE_TRY(PartJournal journal, open(path, 0));
    const auto offset = static_cast<off_t>(end);
    if (::ftruncate(journal.m_descriptor, offset) != 0 ||
        ::lseek(journal.m_descriptor, offset, SEEK_SET) != offset)
        return journal.failed();
    return journal;
}

Result<void> PartJournal::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(m_descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failed();
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

Result<void> PartJournal::add(const ShardRecord& record) {
    return write(recordJson(record) + "\n");
}

Result<PartProgress>
readPart(const std::filesystem::path& path, std::uint64_t from, std::size_t prompts) {
    PartProgress progress;
    auto file = ByteReader::open(path);
    if (!file && file.error().code == ErrorCode::NotFound)
        return progress;
    if (!file)
        return std::move(file).error();
    const ByteReader& reader = file.value();
    progress.isAnother = from > reader.size();
    progress.next = progress.isAnother ? 0 : from;
    std::string text(std::min(reader.size() - progress.next, kMostBytesAtOnce), '\0');
    ENGINE_TRY_DO(
        reader.readAt(progress.next, std::as_writable_bytes(std::span(text)), "the records"));
    std::string_view left = text;
    while (true) {
        const std::size_t end = left.find('\n');
        if (end == std::string_view::npos)
            return progress;
        if (progress.next > 0) { // the first line names the shard
            auto record = readRecord(left.substr(0, end), path.string(), prompts);
            if (!record) {
                progress.damage = record.error().message;
                return progress;
            }
            progress.records.push_back(std::move(record).value());
            progress.ends.push_back(progress.next + end + 1);
        }
        progress.next += end + 1;
        left.remove_prefix(end + 1);
    }
}

} // namespace engine
