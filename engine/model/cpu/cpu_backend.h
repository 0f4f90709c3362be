// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/system_memory.h"
#include "engine/kernels/nodes/node_machine.h"
#include "engine/kernels/tiles/packing/tile_packing.h"
#include "engine/model/backends/backend_registry.h"

#include <optional>
#include <string>

namespace engine::cpu {

/// How this backend shall load a model: TransformerOptions with its own settings read.
struct Options {
    int threads = 0; ///< 0 = one for each processor
    WeightForm weights = WeightForm::Auto;
    /// Nothing: float32 beside float32 weights, else half precision.
    std::optional<KvType> kvType = std::nullopt;
    std::string instructionSet =
        {}; ///< "scalar", "avx2", "avx512", "amx"; empty = the best there is
    PackedCacheOptions packedCache = {};
    Position cacheSlots = 0;
    /// Bytes that a copy for drafts may count on; a test may bring its own.
    double (*freeMemory)() = &availableMemoryBytes;
    NodeMachine* machine = &systemMachine(); ///< likewise; never null
    std::stop_token stop = {};
    LoadProgress progress = {};
};

/// Errors: Unsupported for a precision other than float32; InvalidInput for a setting that is not
/// one of this backend.
Result<Options> optionsOf(const TransformerOptions& options);

/// Of the options the form of the weights, the type of keys and values and the instruction set
/// count. Errors: Unsupported for instructions that the processor lacks; those of looking for the
/// tensors that `config` calls for.
Result<LoadForecast> forecast(const ModelConfig& config,
                              const WeightSource& source,
                              const Options& options,
                              int contextLength);

void registerBackend(BackendRegistry& registry);

} // namespace engine::cpu

namespace engine {

/// The fast backend of x86-64: packed weights, exact for any number of rows and threads. Reads its
/// weights from `source`, which may go away afterwards. Errors: NotFound, CorruptFile, Numeric name
/// the tensor; Cancelled; NoMemory; Unsupported for an instruction set the processor lacks.
Result<std::unique_ptr<Transformer>> makeCpuTransformer(const ModelConfig& config,
                                                        const WeightSource& source,
                                                        const cpu::Options& options);

} // namespace engine
