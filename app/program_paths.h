// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace app {

/// Where backend modules lie: beside this program, in the build and the install tree alike.
std::filesystem::path moduleFolder();

/// Where data that belongs to the programs lies, in the build and the install tree alike.
std::filesystem::path resourceFolder();

/// Where the default model lies, fetched or not.
std::filesystem::path defaultModelPath();

} // namespace app
