// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <filesystem>

namespace app {

/// Where backend modules lie: beside this program, in the build and the install tree alike.
std::filesystem::path moduleFolder();

/// Where data that belongs to the programs lies, in the build and the install tree alike.
std::filesystem::path resourceFolder();

/// Where the default model lies, fetched or not.
std::filesystem::path defaultModelPath();

/// Where packed weights are kept: "packed" in the cache folder. SWIFT_STUDIO_PACKED_CACHE_GB
/// changes the limit of 16 GB; 0 keeps none.
engine::PackedCacheOptions packedCacheOptions();

/// The interpreter that tests/benchmarks/set_up_llama_cpp.sh makes ready, made or not.
std::filesystem::path defaultLlamaPython();

/// The script that bench drives, in the checkout this program was built in.
std::filesystem::path llamaBenchScript();

} // namespace app
