// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace engine {

/// What the name of a part of a split GGUF file says: STEM-00002-of-00005.gguf.
struct GgufPartName {
    std::string stem;
    int number = 0; ///< from 1 on
    int count = 0;

    /// The path of another part, in the folder of this one.
    std::filesystem::path sibling(const std::filesystem::path& path, int other) const;
};

/// Nothing for any other name.
std::optional<GgufPartName> ggufPartName(const std::filesystem::path& path);

} // namespace engine
