// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/training/checkpoint.h"

#include <functional>
#include <optional>

namespace engine {

/// The checkpoints of a run in its folder: two that take turns, and the good one, which is written
/// at steps that do not depend on time and to which a training goes back. Thread: one.
class CheckpointFiles {
public:
    CheckpointFiles(std::filesystem::path folder, CheckpointOwner owner)
        : m_folder(std::move(folder))
        , m_owner(std::move(owner)) {}

    /// The newest one that can be read, with one in memory at a time; none if there is none.
    /// `note` is told of those that cannot be read. Errors: that of the last one if none can be
    /// read; NoMemory.
    Result<std::optional<Checkpoint>> newest(const std::function<void(const std::string&)>& note);

    /// Errors: as readCheckpoint.
    Result<Checkpoint> good() const { return readCheckpoint(goodPath(), m_owner); }

    /// Writes in place of the older one of the two, or of the good one; counts it in
    /// `checkpoint.place.serial`. Returns its path. Errors: Io; the others are left as they were.
    Result<std::filesystem::path> write(Checkpoint& checkpoint, bool isGood);

private:
    std::filesystem::path goodPath() const { return m_folder / "checkpoint-good.bin"; }

    std::filesystem::path pathOf(int which) const {
        return m_folder / fmt::format("checkpoint-{}.bin", which);
    }

    std::filesystem::path m_folder;
    CheckpointOwner m_owner;
    std::int64_t m_serial = 0; // of the newest
    int m_next = 0;            // of the two, which is written next
};

} // namespace engine
