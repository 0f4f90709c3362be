// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/device/kernel_image.h"

#include <fstream>
#include <iterator>

namespace backend_cuda {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

std::string_view kernelImageMark() { return SWIFT_STUDIO_KERNEL_MARK; }

Result<std::vector<char>> readKernelImage(const std::filesystem::path& folder) {
    constexpr const char* kHint =
        "Build again with SWIFT_STUDIO_CUDA=1 installer/run.sh, or compute with --backend cpu.";
    const std::filesystem::path path = folder / kImageName;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return Error{ErrorCode::Unsupported,
                     fmt::format("SWIFT Studio was built without kernels for NVIDIA GPUs ({} is "
                                 "missing).",
                                 path.string()),
                     kHint};
    std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
    if (file.bad())
        return Error{ErrorCode::Io, fmt::format("{} cannot be read.", path.string()), ""};
    const std::string_view mark = kernelImageMark();
    const bool isOurs = image.size() > mark.size() &&
                        std::equal(mark.begin(), mark.end(), image.end() - std::ssize(mark));
    if (!isOurs)
        return Error{ErrorCode::Unsupported,
                     fmt::format("{} holds the kernels of another build.", path.string()),
                     kHint};
    image.resize(image.size() - mark.size());
    return image;
}

} // namespace backend_cuda
