// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/device/driver_functions.h"

#include <dlfcn.h>

#include <type_traits>

namespace backend_cuda::driver {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr const char* kHint =
    "Install NVIDIA's driver 580 or newer, or compute with --backend cpu.";

Error tooOld(int version) {
    return Error{
        ErrorCode::Unsupported,
        fmt::format("NVIDIA's driver here knows CUDA {}.{}, and {}.{} is needed (driver 580; "
                    "Debian 12's own is 535).",
                    version / 1000,
                    version % 1000 / 10,
                    kOldestVersion / 1000,
                    kOldestVersion % 1000 / 10),
        kHint};
}

} // namespace

std::string Functions::nameOf(Status status) const {
    const char* name = nullptr;
    if (errorName != nullptr && errorName(status, &name) == kSuccess && name != nullptr)
        return name;
    return fmt::format("error {}", status);
}

Result<Functions> open(const std::string& library) {
    void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed
    if (opened == nullptr)
        return Error{
            ErrorCode::Unsupported,
            fmt::format("No NVIDIA driver is installed here ({} cannot be opened).", library),
            kHint};
    Functions functions;
    std::string missing;
    forEachFunction(functions, [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(opened, name));
        if (function == nullptr && missing.empty())
            missing = name;
    });
    if (!missing.empty())
        return Error{
            ErrorCode::Unsupported,
            fmt::format("NVIDIA's driver here is too old: it has no function {}.", missing),
            kHint};
    ENGINE_TRY_DO(start(functions));
    return functions;
}

Result<void> start(const Functions& functions) {
    int version = 0;
    if (functions.driverVersion(&version) == kSuccess && version < kOldestVersion)
        return tooOld(version);
    const Status status = functions.init(0);
    if (status == kSuccess || status == kNoDevice) // list() says that there is no device
        return {};
    return Error{ErrorCode::Unsupported,
                 fmt::format("NVIDIA's driver does not start ({}).", functions.nameOf(status)),
                 "Restart the computer if the driver has just been renewed, or compute with "
                 "--backend cpu."};
}

} // namespace backend_cuda::driver
