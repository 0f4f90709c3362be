// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/bench_run.h"
#include "engine/decoding/decoder_registry.h"

namespace app {

/// Which decoder is compared with vanilla.
struct DraftingChoice {
    std::string decoder; ///< empty = none
    engine::SettingValues settings;
    std::string remark; ///< why none, for people; empty otherwise
};

/// --decoder, or auto where that exists. Errors: those of parseSettings.
engine::Result<DraftingChoice> chooseDrafting(const BenchOptions& options,
                                              engine::DecoderRegistry& registry);

struct BenchDecoders {
    std::unique_ptr<engine::Decoder> vanilla;
    std::unique_ptr<engine::Decoder> drafting; ///< null where none is compared
};

/// Greedy decoders that know nothing of earlier runs. Errors: those of DecoderRegistry::make.
engine::Result<BenchDecoders> makeDecoders(engine::DecoderRegistry& registry,
                                           const DraftingChoice& choice,
                                           const BenchModel& model);

/// The skip sets that --skip-set names, files of either shape or JSON. Errors: those of
/// readSkipSetFile.
engine::Result<std::vector<NamedPlan>> readPlans(const std::vector<std::string>& typed,
                                                 int layerCount);

SkipSetSamples emptySamples(const NamedPlan& plan, const engine::ModelConfig& config);

/// The processor, the backend and what its weights take.
void describeModel(const BenchOptions& options, const BenchModel& model, BenchFacts& facts);

/// A probe as large as asked for, or as fits; then that is a remark. Errors: NoMemory.
engine::Result<std::unique_ptr<engine::MemoryRoof>> openRoof(const BenchOptions& options,
                                                             BenchFacts& facts);

/// Refuses what llama.cpp could not take part in, before anything is loaded. Errors: InvalidInput
/// when the model is no GGUF file; those of LlamaProcess::checkParts.
engine::Result<void> checkLlama(const BenchOptions& options);

/// The llama.cpp process, null when it is not asked for. Errors: those of LlamaProcess::start.
engine::Result<std::unique_ptr<LlamaProcess>>
startLlama(const BenchOptions& options, const BenchModel& model, const std::stop_token& stop);

} // namespace app
