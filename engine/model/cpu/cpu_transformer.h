// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/cpu/cpu_pass.h"
#include "engine/model/cpu/packing/weight_copy.h"

#include <array>
#include <memory>
#include <thread>

namespace engine::cpu {

/// The fast backend of x86-64 processors: packed tiles, layers of five forks and joins (eight from
/// four rows on), a head that keeps summaries instead of logits. Exact: every number of a row is
/// summed in an order that depends on the model and the row's own keys alone, so a row's logits and
/// cache are the same bits whatever rows run with it, on whatever threads. Thread: engine.
class CpuTransformer final : public Transformer {
public:
    /// `kernels` decide the last bits; a test may bring its own.
    CpuTransformer(ModelConfig config,
                   Weights weights,
                   const Options& options,
                   const KernelSet& kernels);

    Result<std::unique_ptr<Transformer>>
    makeDraftNetwork(const ModelConfig& config, const WeightSource& source) const override;

    bool roundsDraftNetworks() const override;

    Result<bool> makeCopyPiece() override;

    void dropCopy() override;

    double copyShare() const override;

    Result<void> readHeadRow(TokenId token, std::span<float> out) const override;

    const ModelConfig& config() const override { return m_config; }

    Precision precision() const override { return Precision::F32; }

    std::string arithmeticName() const override {
        return std::string(tileFormatName(m_full.weights.mainFormat()));
    }

    std::string_view kvTypeName() const override { return engine::kvTypeName(m_kvType); }

    std::string_view instructionSet() const override {
        return instructionSetName(m_kernels.instructionSet);
    }

    Result<KvCache> makeCache(Position capacity) const override;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override;

    int memoryNodes() const override { return m_pool->nodes().nodeCount(); }

    /// The embedding of a network that drafts belongs to another one.
    std::size_t weightBytes() const override {
        return m_full.weights.byteSize() -
               (m_config.isDraft() ? matrixBytes(m_full.weights.embedding.matrix) : 0);
    }

    bool tellsAttention() const override { return true; }

    bool leavesTokensOut() const override { return true; }

private:
    CpuTransformer(ModelConfig config,
                   Weights weights,
                   const Options& options,
                   const KernelSet& kernels,
                   std::shared_ptr<WorkerPool> pool);

    /// Weights, and how their operations are cut for the threads.
    struct CutWeights {
        Weights weights;
        std::vector<LayerOperations> layers; // [layers]
        LinearGroup head;
    };

    struct ByteRange {
        std::size_t first;
        std::size_t count;
    };

    /// What one pass works on.
    struct Pass {
        const ForwardRequest& request;
        HostKvStorage& storage;
        ForwardResult& result;
        int rows;
        float* logits; // [logitRows, vocab]
        std::optional<Error> error;
    };

    void reserve(int rows);
    void compile(const ForwardRequest& request);
    void readInput(Pass& pass);
    void readDraftInput(Pass& pass);
    void prepareAngles(const AttentionLayout& layout);
    void prepareRuns(const AttentionLayout& layout, int window);
    const Operation* readerOf(std::size_t operation) const;
    WorkerPool::NextReads readsOf(const Operation* reader) const;
    void readStream(const Operation* reader, int row);
    void runAttention(Pass& pass, const Operation& operation, const Operation* reader);
    void tellAttention(Pass& pass, int layer);
    void storeRow(Pass& pass, int layer, int row, int kvHead);
    bool isPrompt() const;
    int promptRows(int rows) const;
    void prepareParts(int rows);
    ByteRange sectionBytes(const HostKvStorage& storage, int row, int section) const;
    ByteRange partBytes(const HostKvStorage& storage, int index) const;
    void planAttendReads(Pass& pass, int layer);
    int sharedSections() const;
    float* rowQueries(int rows, int row, int kvHead);
    AttendSums sectionSums(int kvHead, int place);
    void attendPart(Pass& pass, int layer, int index, int thread);
    void attendInTurn(const HostKvStorage& storage, AttendArguments arguments, int row, int thread);
    bool finishesByHead() const;
    void finishPart(const Pass& pass, int index, int thread, const LinearGroup& output);
    void joinContext(int row, int kvHead, int thread);
    void runMlp(Pass& pass, const Operation& operation, const Operation* reader);
    void runExperts(Pass& pass, const Operation& operation, const Operation* reader);
    void chooseRows(const Pass& pass);
    void cutExperts(const LayerWeights& weights, bool isDown);
    void runExpertGateUp(const LayerWeights& weights,
                         const LayerOperations& operations,
                         const ExpertPiece& piece);
    void runExpertDown(const LayerWeights& weights,
                       const LayerOperations& operations,
                       const ExpertPiece& piece);
    void addExperts(int row);
    void normaliseHeads(Pass& pass, int layer);
    void finishLogits(float* logits, int count) const;
    void
    runGateUp(const Pass& pass, const LayerOperations& operations, const LinearGroup::Piece& piece);
    void addToStream(Pass& pass, const Operation& operation, const Operation* reader);
    void explainNonFinite(Pass& pass, int sublayer) const;
    void handOut(const Pass& pass, HiddenRows& to);
    KvShape kvShape(Position capacity) const;
    void cut(CutWeights& into) const;
    void cutHead(std::span<const TokenSpan> spans);
    void runHead(Pass& pass);
    void finishHead(Pass& pass);

    /// Queries of a kv head that a thread works on together, so that their sums stay in its cache.
    static constexpr int kAttendQueries = 96;

    /// Fewer rows are done faster by one thread than they are handed out.
    static constexpr int kRowsWorthAFork = 4;

    template <typename Work> void forRows(int rows, Work&& work, WorkerPool::NextReads next = {}) {
        if (rows >= kRowsWorthAFork) {
            m_pool->run(
                rows, [&](int row, int) { work(row); }, next);
            return;
        }
        for (int row = 0; row < rows; ++row)
            work(row);
    }

    float* streamRow(int row) {
        return m_space.stream.data() + static_cast<std::size_t>(row) * m_space.streamStride;
    }

    const LayerWeights& weightsOf(int layer) const {
        return m_used->weights.layers[static_cast<std::size_t>(layer)];
    }

    const LayerOperations& operationsOf(int layer) const {
        return m_used->layers[static_cast<std::size_t>(layer)];
    }

    /// The matrices that read the stream.
    const LinearGroup& firstGroupOf(const Operation& operation) const {
        const LayerOperations& operations = operationsOf(operation.layer);
        return operation.kind == Operation::Kind::Attention ? operations.queryKeyValue
                                                            : operations.firstOfMlp();
    }

    ModelConfig m_config;
    TransformerKey m_key;
    CutWeights m_full;
    std::unique_ptr<WeightCopy> m_copying; // while the copy is made
    std::unique_ptr<CutWeights> m_copy;    // null until it is complete
    std::jthread m_dropping;               // of a copy that may still be written to the cache
    const CutWeights* m_used = &m_full;    // by the newest pass
    PackedCacheOptions m_packedCache;
    double (*m_freeMemory)();
    KernelSet m_kernels;
    KvType m_kvType;
    KvElement m_kvElement;
    LinearGroup m_draftInput;                         // of a network that drafts
    std::array<std::vector<double>, 3> m_frequencies; // by LayerRope, radians per position
    void (*m_activate)(const float* gate, const float* up, int width, float* out);
    Workspace m_space;
    std::shared_ptr<HostLogits<float>> m_logits; // of the newest pass
    int m_reservedRows = 0;
    std::shared_ptr<WorkerPool> m_pool; // that of the model that this one drafts for
};

/// Tiles of the vocabulary that are summarised together: 512 logits; of a head that leaves tokens
/// out fewer, so that the threads share them evenly.
inline constexpr int kHeadTiles = 32;
inline constexpr int kShortHeadTiles = 8;
static_assert(kHeadBlock == kTileRows);

} // namespace engine::cpu
