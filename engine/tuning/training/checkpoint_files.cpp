// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/checkpoint_files.h"

#include <array>

namespace engine {

Result<std::optional<Checkpoint>>
CheckpointFiles::newest(const std::function<void(const std::string&)>& remark) {
    std::optional<Checkpoint> newest;
    std::optional<Error> damaged;
    const std::array paths = {pathOf(0), pathOf(1), goodPath()};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        auto read = readCheckpoint(paths[i], m_owner);
        if (!read && read.error().code == ErrorCode::NotFound)
            continue;
        if (!read && read.error().code != ErrorCode::CorruptFile)
            return read.error();
        if (!read) {
            damaged = read.error();
            if (remark)
                remark(fmt::format("{} An earlier checkpoint is used.", read.error().message));
            continue;
        }
        if (newest && newest->place.serial > read.value().place.serial)
            continue;
        newest = std::move(read).value();
        if (i < 2)
            m_next = 1 - static_cast<int>(i);
    }
    if (!newest && damaged)
        return *damaged;
    if (newest)
        m_serial = newest->place.serial;
    return newest;
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
