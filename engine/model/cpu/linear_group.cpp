// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/linear_group.h"

#include <algorithm>

namespace engine::cpu {

namespace {

/// Pieces for each thread, so that one that starts late or is taken away delays the others little.
constexpr std::size_t kPiecesPerThread = 6;

// Less is not worth handing out; more keeps a thread that is done waiting for the other.
constexpr std::size_t kLeastPieceBytes = std::size_t{16} << 10U;
constexpr std::size_t kMostPieceBytes = std::size_t{128} << 10U;

} // namespace

void OutputRows::reserve(int rows, const TileMatrix& matrix) {
    stride = static_cast<std::size_t>(tileCount(matrix)) * kTileRows;
    values.reserve(static_cast<std::size_t>(rows) * stride);
}

LinearGroup::LinearGroup(std::vector<const Linear*> linears, int threads, bool isPaired)
    : m_linears(std::move(linears)) {
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
        const int step = std::max(1, static_cast<int>(wanted / tileBytes));
        for (int first = 0; first < tileCount(matrix); first += step)
            m_pieces.push_back({index, first, std::min(step, tileCount(matrix) - first)});
    }
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

void LinearGroup::run(const ActivationRows& in,
                      int rowCount,
                      std::span<OutputRows* const> out,
                      const KernelSet& kernels,
                      WorkerPool& pool) const {
    pool.run(static_cast<int>(m_pieces.size()), [&](int part, int) {
        const Piece& piece = m_pieces[static_cast<std::size_t>(part)];
        runPiece(piece,
                 piece.linear,
                 in,
                 rowCount,
                 *out[static_cast<std::size_t>(piece.linear)],
                 kernels);
    });
}

} // namespace engine::cpu
