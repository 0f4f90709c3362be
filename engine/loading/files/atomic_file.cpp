// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/atomic_file.h"

#include "engine/loading/files/part_file.h"

namespace engine {

Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
    ENGINE_TRY(PartFile file, PartFile::begin(path));
    ENGINE_TRY_DO(file.write(bytes));
    ENGINE_TRY_DO(file.sync());
    ENGINE_TRY_DO(file.close());
    ENGINE_TRY_DO(file.publish());
    // Without this the old name may be back after a power cut.
    return file.syncFolder();
}

} // namespace engine
