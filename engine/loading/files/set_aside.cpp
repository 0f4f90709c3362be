// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/set_aside.h"

#include <system_error>

namespace engine {

Result<std::filesystem::path> setAside(const std::filesystem::path& path) {
    constexpr int kMaxBroken = 1000;
    for (int number = 1; number <= kMaxBroken; ++number) {
        const std::filesystem::path aside = fmt::format("{}.broken-{}", path.string(), number);
        std::error_code problem;
        if (std::filesystem::exists(std::filesystem::symlink_status(aside, problem)))
            continue;
        std::filesystem::rename(path, aside, problem);
        if (problem)
            return Error{ErrorCode::Io,
                         fmt::format("{} could be neither read nor renamed: {}",
                                     path.string(),
                                     problem.message()),
                         "Check that you may write in that folder."};
        return aside;
    }
    return Error{ErrorCode::Io,
                 fmt::format("{} cannot be read, and {} others like it lie beside it",
                             path.string(),
                             kMaxBroken),
                 "Delete those whose names end in .broken and a number."};
}

} // namespace engine
