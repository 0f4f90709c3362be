// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/decoding/free/successor_table.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace engine {

/// The successors seen for one model, in one file of the user's data folder:
/// successors/FINGERPRINT.bin. The file may have been changed by anyone: all of it is checked when
/// it is read. Thread: one. Several processes may store at once: the file is always whole, and the
/// last one wins.
class SuccessorMemory {
public:
    /// Rows that must have been recorded since the file was last written before keep() writes it
    /// again: the disk must not cost more than the drafts gain.
    static constexpr std::uint64_t kRowsBetweenWrites = 4096;

    /// `folder` is the data folder; `modelFingerprint` comes from modelFingerprint().
    SuccessorMemory(const std::filesystem::path& folder, std::string modelFingerprint);

    /// The file, there or not.
    const std::filesystem::path& path() const { return m_path; }

    /// Puts what the file holds into a table; no file is no error. A file that cannot be understood
    /// (damaged, of another model, of a later version) leaves the table alone and is renamed to
    /// NAME.broken-N. Returns a note for the user that says so, usually an empty one.
    /// Errors: Io; InvalidInput for what is there and no regular file.
    Result<std::string> load(SuccessorTable& table);

    /// Writes the table in place of the file. Errors: Io.
    Result<void> store(const SuccessorTable& table);

    /// store(), if enough has been recorded since the last time. Errors: Io.
    Result<void> keep(const SuccessorTable& table);

    /// Whether the table holds rows that the file does not.
    bool isBehind(const SuccessorTable& table) const {
        return table.recordCount() != m_knownRecords;
    }

private:
    Result<void> read(SuccessorTable& table) const;
    std::string headerOf(const SuccessorTable& table) const;

    std::string m_fingerprint;
    std::filesystem::path m_path;
    std::uint64_t m_knownRecords = 0; // of the table when it was loaded or stored
};

} // namespace engine
