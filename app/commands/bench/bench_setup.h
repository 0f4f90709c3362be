// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/bench_run.h"
#include "engine/decoding/decoder_registry.h"

namespace app {

/// The decoder that is compared with vanilla.
struct DraftingChoice {
    std::string decoder; ///< empty = none
    engine::SettingValues settings;
    std::string note; ///< why there is none, as a sentence; empty otherwise
};

/// --decoder, or auto where that exists. Errors: those of parseSettings.
engine::Result<DraftingChoice> chooseDrafting(const BenchOptions& options,
                                              engine::DecoderRegistry& registry);

struct BenchDecoders {
    std::unique_ptr<engine::Decoder> vanilla;
    std::unique_ptr<engine::Decoder> drafting; ///< null if none is compared
};

/// Greedy decoders without anything learned in earlier runs. Errors: those of
/// DecoderRegistry::make.
engine::Result<BenchDecoders> makeDecoders(engine::DecoderRegistry& registry,
                                           const DraftingChoice& choice,
                                           const BenchModel& model);

/// The skip sets that --skip-set names, files of either shape or JSON. Errors: those of
/// readSkipSetFile.
engine::Result<std::vector<NamedPlan>> readPlans(const std::vector<std::string>& typed,
                                                 int layerCount);

SkipSetSamples emptySamples(const NamedPlan& plan, const engine::ModelConfig& config);

/// The processor, the backend and the size of its weights.
void describeModel(const BenchOptions& options, const BenchModel& model, BenchFacts& facts);

/// A probe of the requested size, or as large as fits, with a note. Errors: as makeReadRoof().
engine::Result<std::unique_ptr<engine::ReadRoof>>
openRoof(const BenchOptions& options, const engine::Transformer& transformer, BenchFacts& facts);

/// Refuses options with which other programs could not take part, before anything is loaded.
/// Errors: InvalidInput when the model is no GGUF file; those of RivalProcess::checkParts.
engine::Result<void> checkRivals(const BenchOptions& options);

/// The other programs' processes, null for those that are not asked for. Errors: those of
/// RivalProcess::start.
engine::Result<ForRivals<std::unique_ptr<RivalProcess>>>
startRivals(const BenchOptions& options, const BenchModel& model, const std::stop_token& stop);

} // namespace app
