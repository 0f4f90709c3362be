// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/checkpoint_files.h"

#include <array>

namespace engine {

Result<std::optional<Checkpoint>>
CheckpointFiles::newest(const std::function<void(const std::string&)>& note) {
    std::optional<std::size_t> newest;
    std::optional<Error> damaged;
    const std::array paths = {pathOf(0), pathOf(1), goodPath()};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const auto read = readCheckpoint(paths[i], m_owner);
        if (!read && read.error().code == ErrorCode::NotFound)
            continue;
        if (!read && read.error().code != ErrorCode::CorruptFile)
            return read.error();
        if (!read) {
            damaged = read.error();
            if (note)
                note(fmt::format("{} An earlier checkpoint is used.", read.error().message));
            continue;
        }
        if (newest && m_serial > read.value().place.serial)
            continue;
        newest = i;
        m_serial = read.value().place.serial;
        if (i < 2)
            m_next = 1 - static_cast<int>(i);
    }
    if (!newest && damaged)
        return *damaged;
    if (!newest)
        return std::optional<Checkpoint>();
    // Read once more, so that two are never in memory together.
    ENGINE_TRY(Checkpoint checkpoint, readCheckpoint(paths[*newest], m_owner));
    return std::optional(std::move(checkpoint));
}

Result<std::filesystem::path> CheckpointFiles::write(Checkpoint& checkpoint, bool isGood) {
    const std::filesystem::path path = isGood ? goodPath() : pathOf(m_next);
    checkpoint.place.serial = ++m_serial;
    ENGINE_TRY_DO(writeCheckpoint(path, m_owner, checkpoint));
    if (!isGood)
        m_next = 1 - m_next;
    return path;
}

} // namespace engine
