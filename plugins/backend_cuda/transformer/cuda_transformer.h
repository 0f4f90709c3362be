// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/transformer/cuda_cache.h"
#include "plugins/backend_cuda/transformer/cuda_weights.h"
#include "plugins/backend_cuda/transformer/pass_tables.h"
#include "plugins/backend_cuda/workspaces/pass_spaces.h"
#include "plugins/backend_cuda/workspaces/workspace.h"

#include <array>
#include <optional>

namespace backend_cuda {

/// How the backend shall load a model: TransformerOptions with its own settings read.
struct CudaOptions {
    std::optional<Form> weights;          ///< nothing: as the file has them (formatOf)
    std::optional<engine::KvType> kvType; ///< nothing: float32 beside float32 weights, else float16
    int device = 0;
    int gpus = 1;                ///< that share the layers, from `device` on
    bool isByOperations = false; ///< a launch for each operation, with the same bits
};

/// The type of keys and values beside weights that are mostly of this format.
engine::KvType kvTypeOf(const CudaOptions& options, const engine::TileFormat& format);

/// The logits of the newest pass, which stay on the GPU until a row is asked for.
class DeviceLogits final : public engine::LogitStorage {
public:
    DeviceLogits(std::shared_ptr<Device> device, int vocabSize)
        : m_device(std::move(device))
        , m_vocabSize(vocabSize)
        , m_stride((vocabSize + kStrip - 1) / kStrip * kStrip) {}

    int vocabSize() const override { return m_vocabSize; }

    engine::Result<void> read(int index, std::span<double> out) const override;

    /// Memory for so many rows. Errors: NoMemory; those of the device.
    engine::Result<float*> reserve(std::size_t count);

    /// Begins a pass with so many rows: their memory, [count, stride].
    engine::Result<float*> begin(std::size_t count);

    /// Which row of the memory has which index of the pass.
    void place(std::size_t index, int row) { m_places[index] = row; }

    int stride() const { return m_stride; }

private:
    std::shared_ptr<Device> m_device;
    int m_vocabSize;
    int m_stride;
    Workspace m_memory;
    const float* m_rows = nullptr;
    std::vector<int> m_places; // [rows of the pass]
};

class CudaTransformer;

/// How the stream of a pass gets from the GPU of some layers to that of the next ones. A plain
/// value.
struct StreamBorders {
    bool isHere = false; ///< it lies in this GPU's memory, as the one before put it there
    engine::HiddenRows* toHost = nullptr; ///< behind these layers it is appended there
    CudaTransformer* toPeer = nullptr;    ///< or it goes straight into the memory of this one

    bool goesOn() const { return toHost != nullptr || toPeer != nullptr; }
};

/// Computes on a GPU: one launch of a persistent kernel for up to 64 rows, which walks the plan's
/// list of operations. Exact: a row's numbers are the same bits whatever rows run with it. Thread:
/// engine.
class CudaTransformer final : public engine::Transformer {
public:
    /// Takes the memory of the largest launch at once, so that no answer runs out of it. Errors:
    /// NoMemory; those of the device.
    static engine::Result<std::unique_ptr<CudaTransformer>> make(std::shared_ptr<Device> device,
                                                                 engine::ModelConfig config,
                                                                 DeviceWeights weights,
                                                                 const CudaOptions& options,
                                                                 engine::Position contextLength,
                                                                 engine::TransformerKey key = {});

    const engine::ModelConfig& config() const override { return m_config; }

    engine::Precision precision() const override { return engine::Precision::F32; }

    std::string arithmeticName() const override {
        return std::string(tileFormatName(m_weights.mainFormat));
    }

    std::string_view kvTypeName() const override { return engine::kvTypeName(m_kvType); }

    std::string_view instructionSet() const override { return m_instructionSet; }

    std::size_t weightBytes() const override { return m_weights.bytes; }

    bool tellsAttention() const override { return true; }

    std::string deviceName() const override { return m_device->facts().name; }

    int preferredTreeNodes() const override { return 32; }

    engine::Result<std::unique_ptr<engine::ReadRoof>> makeReadRoof(std::size_t bytes,
                                                                   int threads) const override;

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override;

    /// Errors: Numeric; behind one of the device every later pass answers with the same.
    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override;

    /// The layers whose weights it holds.
    LayerSpan span() const { return m_weights.span; }

    /// A pass through these layers alone, without the checks of forwardInto(), with which it has
    /// everything else in common. A `firstLayer` of 0 reads tokens, one above reads hidden states
    /// of the same key, or what lies here.
    engine::Result<void> passOn(const engine::ForwardRequest& request,
                                engine::KvCache& cache,
                                engine::ForwardResult& result,
                                const StreamBorders& borders);

    /// Whether the stream can go straight from this GPU to that of later layers: the driver says
    /// so, and numbers that are sent arrive. In some machines they do not.
    bool reaches(const CudaTransformer& next);

    /// What the device failed with, if it did.
    const std::optional<engine::Error>& lost() const { return m_lost; }

private:
    /// Rows [first, first + count) of a pass, which run in one launch.
    struct Piece {
        const engine::ForwardRequest& request;
        CudaCache& cache;
        engine::ForwardResult& result;
        const StreamBorders& borders;
        int first;
        int count;
        std::vector<int> headRows = {};             // rows of the piece
        std::vector<std::size_t> logitIndices = {}; // of the first head rows
        std::vector<Operation> operations = {};
        std::size_t operationsAt = 0;
        PassFindings found = {};

        std::size_t handOutCount() const {
            return request.handOuts.size() + (borders.goesOn() ? 1 : 0);
        }
    };

    CudaTransformer(std::shared_ptr<Device> device,
                    engine::ModelConfig config,
                    DeviceWeights weights,
                    const CudaOptions& options,
                    engine::Position contextLength,
                    engine::TransformerKey key);

    engine::KvShape kvShape(engine::Position capacity) const;
    engine::Result<void> runPiece(Piece& piece, float* logits, int firstLogit);
    engine::Result<void> prepareTables(Piece& piece, PassArguments& arguments);
    engine::Result<void> readGiven(const Piece& piece, std::vector<float>& given) const;
    engine::Result<void> reserve(const PassExtent& extent, PassArguments& arguments);
    engine::Result<void> reserveMost(engine::Position contextLength);
    engine::Result<void> reserveBorder(std::size_t rows);
    engine::Result<void> handOver(const Piece& piece, const PassArguments& arguments);
    engine::Result<void> launchAll(Piece& piece, PassArguments arguments);
    engine::Result<void> launch(const Piece& piece, PassArguments arguments, int first, int end);
    engine::Result<void> tellAttention(const Piece& piece, const PassArguments& arguments);
    engine::Result<void> takeResults(Piece& piece, const PassArguments& arguments);
    void takeHandOuts(const Piece& piece);
    void takeInfluence(const Piece& piece, const PassArguments& arguments);

    std::shared_ptr<Device> m_device;
    engine::ModelConfig m_config;
    engine::TransformerKey m_key;
    DeviceWeights m_weights;
    engine::KvType m_kvType;
    std::string m_instructionSet; // "sm_90"
    bool m_isByOperations;
    std::array<std::vector<double>, 3> m_frequencies; // by LayerRope, radians per position
    std::shared_ptr<DeviceLogits> m_logits;           // of the newest pass
    PassArguments m_network;                          // what every pass has in common
    TableBuffer m_tables;
    Workspace m_tableSpace, m_counterSpace, m_streamSpace, m_projectedSpace, m_innerSpace;
    Workspace m_contextSpace, m_sumSpace, m_partialSpace, m_headSpace, m_borderSpace;
    float* m_border = nullptr;      // [rows, hidden], the stream that the GPU before has put here
    std::vector<std::byte> m_found; // what the newest piece has found out
    unsigned m_barriersPassed = 0;
    std::optional<engine::Error> m_lost;
};

} // namespace backend_cuda
