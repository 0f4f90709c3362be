// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/exit_drafter.h"
#include "tests/engine/decoding/targets/wrong_samplers.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/forward_helpers.h"

namespace support {

inline constexpr int kLawContext = 64;

/// A network of 8 tokens; layers from `firstQuiet` on add little, so that exits are often right.
inline std::unique_ptr<engine::Transformer>
eightTokens(int layers, int firstQuiet, unsigned seed = 5) {
    engine::ModelConfig config = layeredConfig(layers);
    config.vocabSize = 8;
    config.hiddenSize = 16;
    config.mlpSize = 16;
    config.headCount = 2;
    config.kvHeadCount = 1;
    config.headDim = 8;
    MemoryWeights weights = randomWeights(config, seed);
    for (int layer = firstQuiet; layer < layers; ++layer)
        quietenLayer(weights, layer, 0.3F);
    return plainModel(config, weights);
}

/// The law of the next tokens behind a prompt by its definition.
inline TokenLaw modelLaw(engine::Transformer& model,
                         const Tokens& prompt,
                         const engine::SamplingOptions& sampling,
                         int count) {
    const engine::Sampler sampler(sampling);
    const engine::LayerPlan plan = engine::LayerPlan::full(model.config().layerCount);
    TokenLaw law = {{Tokens(), 1.0}};
    for (int place = 0; place < count; ++place) {
        TokenLaw longer;
        for (const auto& [tokens, probability] : law) {
            Tokens all = prompt;
            all.insert(all.end(), tokens.begin(), tokens.end());
            engine::KvCache cache = emptyCache(model, kLawContext);
            const engine::Distribution next =
                sampler.distribution(runChain(model, cache, plan, all, kLawContext).back());
            for (std::size_t i = 0; i < next.ids.size(); ++i) {
                Tokens more = tokens;
                more.push_back(next.ids[i]);
                longer[more] = probability * next.probabilities[i];
            }
        }
        law = std::move(longer);
    }
    return law;
}

/// A way to get sampled drafts of an exit wrong.
enum class ExitFault {
    None,
    SoftArgmax, ///< argmax draft with soft q: the best token, tested as if it had been drawn
    DropDrawn,  ///< drop by sampled confidence: a drawn token that itself is unlikely is taken back
    KeepUnsure, ///< right: a draft ends behind what the exit is unsure of
    DropUnsure, ///< right: it ends before what the exit is unsure of, whatever would be drawn
};

inline bool isWrong(ExitFault fault) {
    return fault == ExitFault::SoftArgmax || fault == ExitFault::DropDrawn;
}

/// The draft without its last token.
inline engine::DraftTree withoutLast(const engine::DraftTree& draft) {
    engine::DraftTree shorter;
    for (int node = 0; node + 1 < draft.size(); ++node) {
        shorter.setDrawnFrom(node - 1, *draft.drawnFrom(node - 1));
        shorter.add(draft.node(node).token, node - 1, draft.node(node).probability);
    }
    return shorter;
}

/// What rounds of an exit are made of.
struct ExitRoundTerms {
    engine::Transformer& model;
    engine::SamplingOptions sampling = {.temperature = 1.0};
    ExitFault fault = ExitFault::None;
    int exitLayers = 1;
    double threshold = 0.0; ///< of confidence; ends drafts
    int mostDraft = 2;
};

/// One round by hand under Rejection. Guest: the model.
inline Round exitRounds(const ExitRoundTerms& terms) {
    return [terms](const Tokens& prompt, Decisions& decisions) {
        engine::Target target = rounds::valueOf(
            engine::Target::make(terms.model, terms.sampling, kLawContext, terms.mostDraft + 1));
        ENGINE_CHECK(target.begin({prompt, 20}, {}, engine::kPrefillRows).hasValue(), "no prompt");
        rounds::TopDraws topDraws;
        engine::DraftDraws& drawn = decisions;
        engine::ExitDrafter drafter(terms.fault == ExitFault::SoftArgmax ? &topDraws : &drawn);
        const bool isStopped =
            terms.fault == ExitFault::KeepUnsure || terms.fault == ExitFault::DropUnsure;
        const engine::ConfidenceStopRule rule(isStopped ? terms.threshold : 0.0, terms.mostDraft);
        drafter.use(
            {.exitLayers = terms.exitLayers, .keepsUnsure = terms.fault != ExitFault::DropUnsure});
        engine::Draft made = rounds::valueOf(drafter.draft(target,
                                                           {.rule = engine::VerifyRule::Rejection,
                                                            .maxDepth = terms.mostDraft,
                                                            .stopRule = &rule}));
        if (terms.fault == ExitFault::DropDrawn &&
            made.tree.node(made.tree.size() - 1).probability < terms.threshold)
            made = withoutLast(made.tree);
        return rounds::valueOf(
                   target.verify(std::move(made),
                                 {.rule = engine::VerifyRule::Rejection, .draws = &decisions}))
            .tokens;
    };
}

} // namespace support
