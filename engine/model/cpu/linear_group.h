// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/worker_pool.h"
#include "engine/model/cpu/activation_rows.h"
#include "engine/model/cpu/packing/cpu_weights.h"

#include <span>
#include <vector>

namespace engine::cpu {

/// What came out of a linear layer: rows of `stride` numbers, the width rounded up to whole tiles.
struct OutputRows {
    AlignedBuffer<float> values;
    std::size_t stride = 0;

    void reserve(int rows, const TileMatrix& matrix);

    float* row(int index) { return values.data() + static_cast<std::size_t>(index) * stride; }

    const float* row(int index) const {
        return values.data() + static_cast<std::size_t>(index) * stride;
    }
};

/// Adds the bytes of some tiles, [first, end) of a matrix, counted from the beginning of the memory
/// in which it lies. A matrix that lies elsewhere adds nothing.
void addTileReads(const TileMatrix& matrix,
                  const NodeBytes& tiles,
                  std::span<const std::byte> memory,
                  std::vector<NodeBytes>& into);

/// Linear layers that read the same input and run at once, cut into pieces for the threads. How it
/// is cut changes nothing in what comes out.
class LinearGroup {
public:
    LinearGroup() = default;

    /// The layers must outlive the group. `isPaired`: pieces hold the same tiles of both layers,
    /// which then must have equal sizes.
    LinearGroup(std::vector<const Linear*> linears, int threads, bool isPaired = false);

    const InputForms& forms() const { return m_forms; }

    /// Tiles [firstTile, firstTile + tileCount) of layer `linear`; of all layers if paired.
    struct Piece {
        int linear;
        int firstTile;
        int tileCount;
    };

    std::span<const Piece> pieces() const { return m_pieces; }

    /// The weights with which each thread begins.
    WorkerPool::NextReads firstReads() const { return m_firstReads; }

    /// Adds the weights with which the threads of each node begin, as far as they lie in `memory`.
    void addReads(const NodeThreads& threads,
                  std::span<const std::byte> memory,
                  std::vector<NodeBytes>& into) const;

    const Linear& linear(int index) const { return *m_linears[static_cast<std::size_t>(index)]; }

    /// One piece: its products and biases.
    void runPiece(const Piece& piece,
                  int linear,
                  const ActivationRows& in,
                  int rowCount,
                  OutputRows& out,
                  const KernelSet& kernels) const;

    /// What a run works with. Shapes: out [layers].
    struct Run {
        const ActivationRows& in;
        int rowCount;
        std::span<OutputRows* const> out;
        const KernelSet& kernels;
        WorkerPool& pool;
        WorkerPool::NextReads next; ///< what is read after it
    };

    /// All pieces.
    void run(const Run& run) const;

private:
    void planReads(int threads);

    std::vector<const Linear*> m_linears;
    bool m_isPaired = false;
    std::vector<Piece> m_pieces;
    std::vector<std::span<const std::byte>> m_firstReads;
    InputForms m_forms;
};

} // namespace engine::cpu
