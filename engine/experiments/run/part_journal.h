// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/shard_json.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// What a shard at work has written since an offset of its part file.
struct PartProgress {
    std::vector<ShardRecord> records;
    std::vector<std::uint64_t> ends; ///< [records] offset behind each
    std::uint64_t next = 0;          ///< offset to go on from
    bool isAnother = false;  ///< the file is shorter than the offset: it was begun anew, and the
                             ///< records are those from its beginning
    std::string damage = {}; ///< why the line behind `next` cannot be read; empty: it can
};

/// The part file of a shard that this process runs: every record is one line, handed to the system
/// at once. Thread: one.
class PartJournal {
public:
    /// Begins the file anew, with a first line that names the shard. Errors: Io.
    static Result<PartJournal> begin(const std::filesystem::path& path, std::string_view head);

    /// Goes on behind the last whole line. Errors: Io.
    static Result<PartJournal> goOn(const std::filesystem::path& path, std::uint64_t end);

    PartJournal(PartJournal&& other) noexcept;
    PartJournal& operator=(PartJournal&&) = delete;
    ~PartJournal();

    /// Errors: Io with the system's reason.
    Result<void> add(const ShardRecord& record);

private:
    PartJournal(std::filesystem::path path, int descriptor)
        : m_path(std::move(path))
        , m_descriptor(descriptor) {}

    static Result<PartJournal> open(const std::filesystem::path& path, int flags);
    Result<void> write(std::string_view text);
    Error failed() const;

    std::filesystem::path m_path;
    int m_descriptor;
};

/// The records of a part file from an offset on; none if there is no file. A line that is not whole
/// yet is left for the next time, and so is everything behind it. They end before a line that
/// readRecord() refuses; `prompts`: see there. Errors: Io; CorruptFile if the file becomes shorter
/// meanwhile.
Result<PartProgress>
readPart(const std::filesystem::path& path, std::uint64_t from, std::size_t prompts);

} // namespace engine
