// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/linear_group.h"

#include <algorithm>
#include <cstdint>

namespace engine::cpu {

namespace {

/// Pieces for each thread, so that one that starts late or is taken away delays the others little.
constexpr std::size_t kPiecesPerThread = 6;

// Less is not worth handing out; more keeps a thread that is done waiting for the other.
constexpr std::size_t kLeastPieceBytes = std::size_t{16} << 10U;
constexpr std::size_t kMostPieceBytes = std::size_t{128} << 10U;

/// More than that is seldom fetched during a wait.
constexpr std::size_t kMostFirstBytes = std::size_t{64} << 10U;

} // namespace

void addTileReads(const TileMatrix& matrix,
                  const NodeBytes& tiles,
                  std::span<const std::byte> memory,
                  std::vector<NodeBytes>& into) {
    // A matrix before the memory gives a number beyond it, too.
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(matrix.data) -
                               reinterpret_cast<std::uintptr_t>(memory.data());
    if (offset < memory.size() && tiles.first < tiles.end)
        into.push_back({offset + tiles.first * matrix.tileBytes,
                        offset + tiles.end * matrix.tileBytes,
                        tiles.node});
}

void OutputRows::reserve(int rows, const TileMatrix& matrix) {
    stride = static_cast<std::size_t>(tileCount(matrix)) * kTileRows;
    values.reserve(static_cast<std::size_t>(rows) * stride);
}

LinearGroup::LinearGroup(std::vector<const Linear*> linears, int threads, bool isPaired)
    : m_linears(std::move(linears))
    , m_isPaired(isPaired) {
    std::size_t bytes = 0;
    for (const Linear* linear : m_linears) {
        m_forms.add(linear->matrix);
        bytes += matrixBytes(linear->matrix);
    }
    const std::size_t wanted =
        std::clamp(bytes / (static_cast<std::size_t>(threads) * kPiecesPerThread),
                   kLeastPieceBytes,
                   kMostPieceBytes);
    const int cutLinears = isPaired ? 1 : static_cast<int>(m_linears.size());
    for (int index = 0; index < cutLinears; ++index) {
        const TileMatrix& matrix = linear(index).matrix;
        const std::size_t tileBytes = matrix.tileBytes * (isPaired ? m_linears.size() : 1);
        // What pairs make is rounded piece by piece, in whole groups of columns.
        const int unit = isPaired ? kGroupColumns / kTileRows : 1;
        const int step = std::max(1, static_cast<int>(wanted / tileBytes) / unit) * unit;
        for (int first = 0; first < tileCount(matrix); first += step)
            m_pieces.push_back({index, first, std::min(step, tileCount(matrix) - first)});
    }
    planReads(threads);
}

void LinearGroup::runPiece(const Piece& piece,
                           int index,
                           const ActivationRows& in,
                           int rowCount,
                           OutputRows& out,
                           const KernelSet& kernels) const {
    const Linear& layer = linear(index);
    kernels.multiplyTiles(layer.matrix,
                          in.input(layer.matrix, m_forms, rowCount),
                          piece.firstTile,
                          piece.tileCount,
                          {out.values.data(), out.stride});
    if (layer.bias.empty())
        return;
    const int first = piece.firstTile * kTileRows;
    const int count = std::min(piece.tileCount * kTileRows, layer.matrix.rows - first);
    for (int row = 0; row < rowCount; ++row)
        kernels.rows.addTo(out.row(row) + first, layer.bias.data() + first, count);
}

/// Pieces of a thread's share lie one behind the other, as far as they are of one layer.
void LinearGroup::planReads(int threads) {
    const auto count = static_cast<int>(m_pieces.size());
    m_firstReads.resize(static_cast<std::size_t>(threads) * WorkerPool::kReadsPerThread);
    for (int thread = 0; thread < threads; ++thread) {
        const auto [first, end] = WorkerPool::shareOf(thread, count, threads);
        if (first == end)
            continue;
        const Piece& piece = m_pieces[static_cast<std::size_t>(first)];
        for (std::size_t i = 0; i < (m_isPaired ? WorkerPool::kReadsPerThread : 1); ++i) {
            const TileMatrix& matrix = linear(piece.linear + static_cast<int>(i)).matrix;
            const std::size_t begin = static_cast<std::size_t>(piece.firstTile) * matrix.tileBytes;
            const std::size_t most = m_isPaired ? kMostFirstBytes / 2 : kMostFirstBytes;
            m_firstReads[static_cast<std::size_t>(thread) * WorkerPool::kReadsPerThread + i] = {
                matrix.data + begin, std::min(most, matrixBytes(matrix) - begin)};
        }
    }
}

void LinearGroup::addReads(const NodeThreads& threads,
                           std::span<const std::byte> memory,
                           std::vector<NodeBytes>& into) const {
    for (int node = 0; node < threads.nodeCount(); ++node) {
        const auto [begin, end] = threads.partOf(node, m_pieces.size());
        for (std::size_t i = begin; i < end; ++i) {
            const Piece& piece = m_pieces[i];
            const auto tile = static_cast<std::size_t>(piece.firstTile);
            const NodeBytes tiles{tile, tile + static_cast<std::size_t>(piece.tileCount), node};
            const int last = m_isPaired ? static_cast<int>(m_linears.size()) - 1 : piece.linear;
            for (int index = piece.linear; index <= last; ++index)
                addTileReads(linear(index).matrix, tiles, memory, into);
        }
    }
}

void LinearGroup::run(const Run& run) const {
    run.pool.run(
        static_cast<int>(m_pieces.size()),
        [&](int part, int) {
            const Piece& piece = m_pieces[static_cast<std::size_t>(part)];
            runPiece(piece,
                     piece.linear,
                     run.in,
                     run.rowCount,
                     *run.out[static_cast<std::size_t>(piece.linear)],
                     run.kernels);
        },
        run.next);
}

} // namespace engine::cpu
