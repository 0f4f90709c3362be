// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/settings.h"
#include "engine/base/token.h"
#include "engine/kernels/read_roof.h"
#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"
#include "engine/model/cache/attention_layout.h"
#include "engine/model/cache/kv_cache.h"
#include "engine/model/handles/hidden_rows.h"
#include "engine/model/handles/logit_rows.h"
#include "engine/model/head_summary.h"
#include "engine/model/skip_sets/layer_plan.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The arithmetic of a backend.
enum class Precision { F32, F64, BF16 };

std::string_view precisionName(Precision precision); ///< "float32", "float64", "bfloat16"

/// The residual stream of all rows of a pass behind a layer, to be appended to `to`.
struct HandOut {
    int layer;
    HiddenRows* to;
};

/// A row of a pass and a layer, whose attention is wanted.
struct AttentionPlace {
    int layer;
    int row;
};

/// Tokens [first, end) of the vocabulary. A plain value.
struct TokenSpan {
    int first;
    int end;

    bool operator==(const TokenSpan&) const = default;
};

/// Where spans of a head begin and end: at multiples of it, or with the vocabulary.
inline constexpr int kHeadBlock = 16;

/// What one forward pass shall do. All spans are guests: they must live until the call returns.
struct ForwardRequest {
    const LayerPlan& plan;
    const AttentionLayout& layout;
    /// [rows] ids, the input when `firstLayer` is 0.
    std::span<const TokenId> tokens = {};
    /// The residual stream that enters `firstLayer`, the input when that is above 0: rows that
    /// passes of this transformer handed out, one piece behind the other.
    std::span<const HiddenPiece> hidden = {};
    /// Layers [firstLayer, endLayer) of the plan are run; -1 means all up to the plan's exit.
    int firstLayer = 0;
    int endLayer = -1;
    /// [rows, hidden] of a network that drafts (ModelConfig::isDraft), beside `tokens`: the stream
    /// behind the last layer of the model that it drafts for, at the row's position; the token is
    /// the one that follows there.
    std::span<const double> streams = {};
    /// Rows whose logits may be asked for behind the pass: final norm and head on the stream behind
    /// the last layer run.
    std::span<const int> logitRows = {};
    /// Rows whose HeadSummary is wanted, from the same head. A backend with a fused head makes it
    /// without full logits.
    std::span<const int> summaryRows = {};
    /// The only tokens that matter to a draft, ascending and apart from each other; empty: all. A
    /// backend that leavesTokensOut() reads no other rows of the head: summaries are over these
    /// tokens alone, and the logit of any other one is -infinity.
    std::span<const TokenSpan> headSpans = {};
    /// Layers behind which the residual stream is wanted, ascending; each goes to rows of its own.
    std::span<const HandOut> handOuts = {};
    /// Whether the influence of the sublayers that run is wanted (SublayerInfluence).
    bool wantsInfluence = false;
    /// Where the weights of attention are wanted; of a transformer that tells them
    /// (Transformer::tellsAttention), at an attention that runs.
    std::optional<AttentionPlace> attention = {};

    /// The layer behind the last one that runs.
    int layersEnd() const;
};

/// What came out.
struct ForwardResult {
    LogitRows logits; ///< [logitRows]
    /// [2 * layers] sums over rows of |f(x)| / |x|, attention first; 0 where nothing ran.
    std::vector<double> influence;
    std::vector<HeadSummary> summaries; ///< [summaryRows]
    /// [heads, keys] how much each head of `attention` takes of each key that its row sees, in the
    /// order of AttentionLayout::forEachKey; the weights of a head add up to 1. Empty if not
    /// wanted.
    std::vector<double> attention;

    /// Empties everything but keeps the memory.
    void clear();
};

/// What a backend answers when a pass leaves the finite numbers: names the sublayer, the position
/// and the first tensor behind which that shows.
Error nonFiniteError(std::string_view where, std::string_view tensor, Position position);

struct DraftModel;

/// A loaded network: the one interface of all backends. A pass writes keys and values of its rows
/// at the layout's slots for every attention it runs, reads those of the slots its rows see, and
/// leaves the cache's length alone. Thread: engine.
class Transformer {
public:
    Transformer();
    virtual ~Transformer();
    Transformer(const Transformer&) = delete;
    Transformer& operator=(const Transformer&) = delete;

    virtual const ModelConfig& config() const = 0;

    virtual Precision precision() const = 0;

    /// An empty cache of `capacity` slots. Errors: NoMemory.
    virtual Result<KvCache> makeCache(Position capacity) const = 0;

    /// Runs one pass. Errors: Numeric when the residual stream or the logits are no longer finite
    /// (names the first tensor behind which that happens). Wrong shapes and ids outside the
    /// vocabulary are a bug (ENGINE_CHECK): callers check prompts first.
    /// What `result` held is replaced and its memory used again, so that step after step nothing is
    /// allocated; behind an error its content means nothing.
    virtual Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) = 0;

    /// forwardInto() with a result of its own.
    Result<ForwardResult> forward(const ForwardRequest& request, KvCache& cache);

    /// Whether passes can tell the weights of attention.
    virtual bool tellsAttention() const { return false; }

    /// Whether passes keep to ForwardRequest::headSpans; if not, they compute the whole head.
    virtual bool leavesTokensOut() const { return false; }

    /// Memory that the weights take, bytes.
    virtual std::size_t weightBytes() const = 0;

    /// For people: how weights are held and numbers computed, as "float32" or "4-bit, scale and
    /// minimum per 32".
    virtual std::string arithmeticName() const { return std::string(precisionName(precision())); }

    /// Type of the keys and values in its caches, as "float16".
    virtual std::string_view kvTypeName() const { return precisionName(precision()); }

    /// Instructions that the kernels use, as "avx512" or "amx"; empty when the backend does not
    /// choose.
    virtual std::string_view instructionSet() const { return {}; }

    /// Nodes of the computer's memory over which threads and weights are spread; 1 where there is
    /// one, and with a backend that does not spread them.
    virtual int memoryNodes() const { return 1; }

    /// For people: what it computes on, as "NVIDIA H200"; empty for the processor.
    virtual std::string deviceName() const { return {}; }

    /// Nodes of a draft tree that it is worth verifying at once when nobody says otherwise: on a
    /// processor the cost of a pass grows with its rows.
    virtual int preferredTreeNodes() const { return 7; }

    /// Measures the memory that weights are read from, over so many bytes or as many as fit:
    /// usually the processor's, read by `threads` threads. Errors: NoMemory; those of a device.
    virtual Result<std::unique_ptr<ReadRoof>> makeReadRoof(std::size_t bytes, int threads) const;

    /// A network that drafts for this one, computed as this one is. It reads this one's embedding,
    /// so this one must outlive it. Errors: Unsupported from a backend that has none; those of
    /// reading the weights.
    virtual Result<std::unique_ptr<Transformer>> makeDraftNetwork(const ModelConfig& config,
                                                                  const WeightSource& source) const;

    /// Whether what drafts for this one is rounded to 4 bits, as its own weights are narrowed too.
    /// A backend that computes with the numbers of the files says no.
    virtual bool roundsDraftNetworks() const { return false; }

    /// A row of the output head as float32, exactly as used in products; 0 <= token < vocabulary.
    /// Errors: Unsupported from a backend that has no makeDraftNetwork(). Shapes: out [hidden].
    virtual Result<void> readHeadRow(TokenId token, std::span<float> out) const;

    /// Makes a piece of a copy of the matrices in 4 bits, from which passes under a plan of
    /// WeightSet::Copy draft; true once the copy is complete. It then stays, and asking again costs
    /// nothing. A piece takes some milliseconds of all threads, the first one more: it asks for the
    /// memory and looks for a copy that was kept. Errors, in a sentence that ends with why nothing
    /// is drafted: Unsupported from a backend that makes none, and for weights that are narrow
    /// already; NoMemory unless twice its bytes are free, which may be asked again later; Numeric
    /// for numbers too large to be rounded.
    virtual Result<bool> makeCopyPiece();

    /// Gives the memory of the copy back, complete or not. makeCopyPiece() makes it again, or reads
    /// it where it was kept.
    virtual void dropCopy() {}

    /// Bytes that a full pass on the copy reads of those that it reads otherwise; 1 while there is
    /// no complete copy.
    virtual double copyShare() const { return 1.0; }

    /// What drafts for this network, if anything does; null otherwise.
    virtual DraftModel* draftModel() { return m_draftModel.get(); }

    /// Drafts with it from now on; null = with none.
    void useDraftModel(std::unique_ptr<DraftModel> model);

private:
    friend class CopyUse;

    std::unique_ptr<DraftModel> m_draftModel;
    int m_copyUses = 0;
};

/// Held by whoever drafts with the copy of a transformer's weights, complete or not: with the last
/// of its uses the copy is dropped. The transformer must outlive it. Thread: engine.
class CopyUse {
public:
    explicit CopyUse(Transformer& transformer)
        : m_transformer(transformer) {
        ++m_transformer.m_copyUses;
    }

    ~CopyUse() {
        if (--m_transformer.m_copyUses == 0)
            m_transformer.dropCopy();
    }

    CopyUse(const CopyUse&) = delete;
    CopyUse& operator=(const CopyUse&) = delete;

private:
    Transformer& m_transformer;
};

/// An arithmeticName() up to its first comma: "4-bit".
std::string shortArithmetic(std::string_view arithmeticName);

/// Told while weights are read: the part done, 0 to 1. Thread: the caller's.
using LoadProgress = std::function<void(double)>;

/// Where a backend that packs weights may keep them for the next start. A plain value.
struct PackedCacheOptions {
    static constexpr std::uint64_t kUsualLimitBytes = 16'000'000'000;

    std::filesystem::path folder = {};           ///< empty = nothing is kept
    std::uint64_t limitBytes = kUsualLimitBytes; ///< of all files there; 0 = nothing is kept
    std::string fingerprint = {};                ///< of the model; empty = it is made
    bool keepsAll = false;                       ///< also what is packed as fast as it is read
};

/// How a backend shall load a model.
struct TransformerOptions {
    Precision precision = Precision::F32;
    int threads = 0;             ///< compute threads; 0 = the backend's choice
    SettingValues settings = {}; ///< the others of its BackendInfo; what is missing has its default
    PackedCacheOptions packedCache = {};
    /// Tokens of the context, 0 = not known: a load is refused that leaves no memory for the keys
    /// and values of so many, and rotary embeddings with factors for long contexts ("longrope") use
    /// these where there are more than the original context has.
    Position cacheSlots = 0;
    std::stop_token stop = {}; ///< polled between tensors
    LoadProgress progress = {};
};

/// A request that does not fit the network or the cache, hidden states of another transformer, or a
/// plan that reads a copy that is not there, are a bug (ENGINE_CHECK). `key` is that of the
/// transformer asked.
void checkForwardRequest(const ModelConfig& config,
                         TransformerKey key,
                         const ForwardRequest& request,
                         const KvCache& cache,
                         bool hasCopy = false);

} // namespace engine
