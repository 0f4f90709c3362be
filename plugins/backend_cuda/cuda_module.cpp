// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/data_files.h"
#include "plugins/backend_cuda/cuda_backend.h"
#include "plugins/backend_cuda/device/driver_device.h"
#include "plugins/backend_cuda/device/kernel_image.h"

namespace backend_cuda {

namespace {

/// NVIDIA's driver, opened when somebody first asks for a GPU.
Machine driverMachine(const std::filesystem::path& folder) {
    return {[folder]() -> engine::Result<std::vector<DeviceFacts>> {
                ENGINE_TRY(const driver::Functions functions, driver::open());
                ENGINE_TRY_DO(readKernelImage(folder));
                return listDevices(functions);
            },
            [folder](int place) -> engine::Result<std::shared_ptr<Device>> {
                ENGINE_TRY(const driver::Functions functions, driver::open());
                ENGINE_TRY(const std::vector<char> image, readKernelImage(folder));
                return DriverDevice::open(functions, place, image);
            },
            engine::defaultDataFolder() / "gpus"};
}

void registerCudaBackend(engine::BackendRegistry& registry) {
    registerBackend(registry, driverMachine(registry.moduleFolder()));
}

} // namespace

} // namespace backend_cuda

ENGINE_BACKEND_MODULE(backend_cuda::registerCudaBackend);
