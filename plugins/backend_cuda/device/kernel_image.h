// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <vector>

namespace backend_cuda {

/// The machine code of the kernels, which is built beside the module where there was a compiler.
constexpr const char* kImageName = "cuda_kernels.fatbin";

/// Reads it, without its mark. Errors: Unsupported: built without kernels, or with those of
/// another build; Io.
engine::Result<std::vector<char>> readKernelImage(const std::filesystem::path& folder);

/// The text that the file of this build ends with.
std::string_view kernelImageMark();

} // namespace backend_cuda
