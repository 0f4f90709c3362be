// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <filesystem>

namespace app {

/// The folder of backend modules: beside this program, in the build and the install tree alike.
std::filesystem::path moduleFolder();

/// The folder of the programs' data, in the build and the install tree alike.
std::filesystem::path resourceFolder();

/// The folder of the example prompts that come with the program; it need not exist.
std::filesystem::path exampleFolder();

/// The folder of the draft adapters that come with the program; it need not exist.
std::filesystem::path adapterFolder();

/// The path of the default model, whether it was fetched or not.
std::filesystem::path defaultModelPath();

/// The folder of packed weights: "packed" in the cache folder. SWIFT_STUDIO_PACKED_CACHE_GB changes
/// the limit of 16 GB; 0 keeps none.
engine::PackedCacheOptions packedCacheOptions();

/// The interpreter that tests/benchmarks/set_up_llama_cpp.sh installs, whether it exists or not.
std::filesystem::path defaultLlamaPython();

/// The script that bench runs, in the checkout in which this program was built.
std::filesystem::path llamaBenchScript();

} // namespace app
