// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/decoding/cached_sequence.h"
#include "engine/model/transformer.h"
#include "engine/sampling/sampler.h"

#include <span>
#include <string>
#include <vector>

namespace engine {

/// What one round of a decoder gave, and how it came about. A plain value.
struct DecodeStep {
    std::vector<TokenId> tokens; ///< newly emitted, in order; never empty
    double draftMs = 0.0;
    double verifyMs = 0.0; ///< for vanilla: the whole pass
};

/// Turns a prompt into tokens, one round at a time. Every decoder emits vanilla's own tokens.
///
/// Between rounds, everywhere: the newest emitted token is pending (its row is not in the cache),
/// so the cache holds prompt + emitted - 1 tokens. Thread: engine.
class Decoder {
public:
    virtual ~Decoder() = default;

    /// Processes the prompt but for its last token, which is left to the first step.
    /// Errors: InvalidInput for an empty prompt, ids outside the vocabulary (names the first), or
    /// a prompt longer than the context; Numeric from a pass; Cancelled.
    virtual Result<void> begin(std::span<const TokenId> prompt, const PromptWork& work) = 0;

    /// One round. Errors: those of a pass; the decoder must then begin again.
    virtual Result<DecodeStep> step() = 0;

    /// Tokens that still fit into the context.
    virtual int remainingContext() const = 0;
};

/// One token a pass: the baseline everything else is compared with.
/// `contextLength` is the number of tokens, prompt and output together, that fit.
/// Errors: NoMemory for the cache. `transformer` must outlive the decoder.
Result<std::unique_ptr<Decoder>>
makeVanillaDecoder(Transformer& transformer, const SamplingOptions& sampling, int contextLength);

} // namespace engine
