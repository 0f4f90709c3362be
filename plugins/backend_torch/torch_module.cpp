// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"
#include "plugins/backend_torch/torch_library.h"

namespace backend_torch {

namespace {

using namespace engine;

/// LibTorch takes a quarter of a second and 150 MB to load: only a model that is computed with it
/// does that. The library with everything that needs it lies beside this module.
Result<TransformerFactory> openLibrary(const std::filesystem::path& folder) {
    MakeTransformer maker = nullptr;
    ENGINE_TRY_DO(ModuleFolder(folder, kLibraryKind)
                      .open(kLibraryName, kGiveTransformerMaker, [&maker](void* function) {
                          reinterpret_cast<GiveTransformerMaker>(function)(&maker);
                      }));
    return TransformerFactory(maker);
}

void registerTorchBackend(BackendRegistry& registry) {
    BackendInfo info;
    info.name = "torch";
    info.title = "LibTorch";
    info.summary = "LibTorch, all cores";
    info.settings = {precisionSetting({Precision::F32, Precision::BF16, Precision::F64}),
                     threadsSetting()};
    info.forecast = &widenedForecast;
    info.devices = &processorDevice;
    registry.add(std::move(info),
                 [folder = registry.moduleFolder()](
                     const ModelConfig& config,
                     const WeightSource& source,
                     const TransformerOptions& options) -> Result<std::unique_ptr<Transformer>> {
                     ENGINE_TRY(const TransformerFactory factory, openLibrary(folder));
                     return factory(config, source, options);
                 });
}

} // namespace

} // namespace backend_torch

ENGINE_BACKEND_MODULE(backend_torch::registerTorchBackend);
