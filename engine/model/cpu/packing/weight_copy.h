// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/cpu/packing/cpu_weights.h"
#include "engine/model/cpu/packing/packed_cache.h"

#include <memory>
#include <optional>
#include <vector>

namespace engine::cpu {

/// Makes a copy of packed weights in 4 bits, scale and minimum per 32, piece by piece. It is made
/// from the packed weights themselves, so no file is read again. Norms, biases, the embedding, the
/// routers of experts and matrices of whole numbers are those of the weights that are copied, which
/// must outlive both this and the copy. Thread: engine.
class WeightCopy {
public:
    /// Asks for the memory, and looks for a copy that was kept in the packed cache. `freeBytes`:
    /// what the system can give. Errors: Unsupported where most of the weights are whole numbers;
    /// NoMemory unless twice the bytes are free.
    static Result<std::unique_ptr<WeightCopy>> begin(const Weights& weights,
                                                     const ModelConfig& config,
                                                     const PackedCacheOptions& cache,
                                                     double freeBytes);

    /// Bytes that a copy of such weights takes, which may be outlined alone; 0 where there can be
    /// none.
    static std::size_t bytesFor(const Weights& weights);

    /// Rounds some millions of weights, on all threads, or reads 8 MiB of a copy that was kept;
    /// true if none are left. A kept copy that turns out to be damaged is removed, and the weights
    /// are rounded. Errors: Numeric for numbers that 4 bits cannot stand for, names the tensor;
    /// NoMemory.
    Result<bool> makePiece(WorkerPool& pool);

    /// The complete copy.
    Weights take() { return std::move(m_copy); }

private:
    /// The weights as a source of 4-bit tensors: each is some whole tiles of a matrix.
    class Slabs final : public WeightSource {
    public:
        explicit Slabs(std::string fileState)
            : m_fileState(std::move(fileState)) {}

        void add(const Linear& linear, int firstRow, int rowCount);

        std::span<const TensorInfo> tensors() const override { return m_tensors; }

        const TensorInfo* find(std::string_view name) const override;

        Result<void> readRows(const TensorInfo& tensor,
                              std::uint64_t firstRow,
                              std::uint64_t rowCount,
                              std::span<float> out) const override;

        Result<void> readRawRows(const TensorInfo& tensor,
                                 std::uint64_t firstRow,
                                 std::uint64_t rowCount,
                                 std::span<std::byte> out) const override;

        std::string fileState() const override { return m_fileState; }

    private:
        struct Place {
            const Linear* linear;
            int firstRow;
        };

        const Place& placeOf(const TensorInfo& tensor) const {
            return m_places[static_cast<std::size_t>(&tensor - m_tensors.data())];
        }

        std::string m_fileState;
        std::vector<TensorInfo> m_tensors;
        std::vector<Place> m_places;
    };

    WeightCopy(const Weights& weights, const PackedCacheOptions& cache);

    void outline(const Weights& weights);
    void outlineLinear(const Linear& from, Linear& to);
    Result<void> reserve(double freeBytes);
    Result<void> renewMemory();
    void listJobs();
    Result<void> readPiece(WorkerPool& pool);
    Result<void> roundPiece(WorkerPool& pool);

    Weights m_copy;
    PackedCacheOptions m_cacheOptions;
    std::vector<std::pair<const Linear*, Linear*>> m_rounded; // what is copied, and into what
    std::vector<std::size_t> m_offsets;                       // [rounded] of the copy's memory
    std::size_t m_bytes = 0;
    bool m_isPlaced = false; // see placeWeights(), which asks for the threads
    std::uint64_t m_sourceBytes = 0;
    Slabs m_slabs;
    std::vector<TileMatrix> m_outlines; // [slabs]
    std::vector<PackingJob> m_jobs;     // [slabs]
    std::optional<PackedCache> m_cache;
    std::optional<CachedFile> m_kept; // until it is read
    std::size_t m_read = 0;           // chunks of it
    std::size_t m_done = 0;           // jobs
    double m_workMs = 0.0;
};

} // namespace engine::cpu
