// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/round/cached_sequence.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/model/transformer.h"
#include "engine/sampling/sampler.h"
#include "engine/text/vocabulary/token_trie.h"

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What an answer starts from, and where it must end. begin() copies what it needs of the spans.
struct Prompt {
    std::span<const TokenId> tokens;
    int maxTokens = std::numeric_limits<int>::max(); ///< of the answer
    std::span<const TokenId> endIds = {};            ///< the first one met ends the answer
    std::string_view task = {};                      ///< names the search state to use
    /// The texts of the tokens, shared; needed when the sampling options have a grammar.
    std::shared_ptr<const TokenTrie> vocabulary = nullptr;
    int begunTokens = 0; ///< how many at the end of `tokens` belong to an answer that goes on
};

/// Turns a prompt into tokens, one round at a time. Every decoder emits vanilla's own tokens (under
/// recursive rejection: tokens of vanilla's own distribution).
///
/// Between rounds, everywhere: the newest emitted token is pending (its row is not in the cache),
/// so the cache holds prompt + emitted - 1 tokens (before the first round maybe fewer). An answer
/// ends at its end id, maximum or the context's end: nothing beyond counts. Thread: engine.
class Decoder {
public:
    virtual ~Decoder() = default;

    /// Reads the prompt except its last token, which the first step reads, and up to kPrefillRows
    /// before it if the method drafts from them. The stop token also ends later steps, between
    /// passes.
    /// Errors: InvalidInput for an empty prompt, ids outside the vocabulary (names the first),
    /// a prompt longer than the context, or a grammar without a vocabulary; Numeric from a pass;
    /// Cancelled.
    virtual Result<void> begin(const Prompt& prompt, const PromptWork& work) = 0;

    /// Reads a piece of the prompt that begin() will be given, at most kPrefillRows tokens, so that
    /// others may have a turn before the next piece. Returns false and reads nothing if begin() is
    /// to read all that is left. The answer before is over then. Errors: as begin().
    virtual Result<bool> readAhead(const Prompt& /*prompt*/, const PromptWork& /*work*/) {
        return false;
    }

    /// One round. Errors: those of a pass, InvalidInput from a grammar that cannot go on, and
    /// Cancelled; the decoder must then begin again.
    virtual Result<DecodeStep> step() = 0;

    /// One token by the full model alone, whatever the method: the baseline measured while running.
    virtual Result<DecodeStep> plainStep() = 0;

    /// The answer is over: the decoder may still do the search work that this answer has paid for.
    /// Errors: Cancelled and those of a pass; the decoder stays usable.
    virtual Result<SearchReport> endAnswer() { return SearchReport(); }

    /// What has come up since the last report. An answer that is cancelled asks for it, so that the
    /// time of its search is not taken for the next answer's.
    virtual SearchReport takeReport() { return {}; }

    /// One piece of work for the pause behind an answer, in which nothing else waits. A piece lasts
    /// at most one pass of the model, so that the next command waits no longer than that. Nothing:
    /// no such work is left before the next answer. `stop` ends the pause. Errors: Cancelled and
    /// those of a pass; the decoder stays usable.
    virtual Result<std::optional<SearchReport>> idle(const std::stop_token& /*stop*/) {
        return std::optional<SearchReport>();
    }

    /// Takes new settings, between rounds or answers; each acts at the moment its SettingInfo
    /// names. `values` have passed resolveSettings(); `given` are those that were asked for just
    /// now. Returns what the decoder did at once, such as scoring a skip set that was given; the
    /// next round reports the phase. Errors: InvalidInput; nothing is changed then.
    virtual Result<SearchReport> configure(const SettingValues& /*values*/,
                                           const SettingValues& /*given*/) {
        return SearchReport();
    }

    /// Takes new sampling options between answers and keeps what it has searched and cached.
    /// Errors: InvalidInput for options out of range; Unsupported from a decoder that cannot: it
    /// must be made anew. Nothing is changed then.
    virtual Result<void> changeSampling(const SamplingOptions& /*sampling*/) {
        return Error{ErrorCode::Unsupported, "This decoder keeps its sampling options.", ""};
    }

    /// Stores the statistics that are not stored yet, before the decoder is destroyed. Returns
    /// sentences for the user about what could not be stored.
    virtual std::vector<std::string> storeStatistics() { return {}; }

    /// Tokens that still fit into the context.
    virtual int remainingContext() const = 0;

    /// Tokens whose keys and values are cached; for checks of the invariant above.
    virtual int cachedTokens() const = 0;
};

/// One token a pass: the baseline everything else is compared with.
/// `contextLength` is the number of tokens, prompt and output together, that fit.
/// Errors: NoMemory for the cache. `transformer` must outlive the decoder.
Result<std::unique_ptr<Decoder>>
makeVanillaDecoder(Transformer& transformer, const SamplingOptions& sampling, int contextLength);

} // namespace engine
