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

/// The interpreter that tests/benchmarks/set_up_llama_cpp.sh makes ready, made or not.
std::filesystem::path defaultLlamaPython();

/// The script that bench drives, in the checkout this program was built in.
std::filesystem::path llamaBenchScript();

} // namespace app
