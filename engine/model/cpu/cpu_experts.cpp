// SPDX-License-Identifier: Apache-2.0
// Layers with experts: only the tiles of chosen experts are read, each once for all rows that chose
// it. A row's numbers depend on its own choice alone: every place is a row of its own to the
// kernels, and outputs are added in the order of the experts.
#include "engine/base/to_size.h"
#include "engine/model/cpu/cpu_transformer.h"

#include <algorithm>

namespace engine::cpu {

namespace {

/// Less of a matrix is not worth handing out.
constexpr std::size_t kLeastExpertPieceBytes = std::size_t{32} << 10U;

} // namespace

void CpuTransformer::runExperts(Pass& pass, const Operation& operation, const Operation* reader) {
    const LayerOperations& operations = operationsOf(operation.layer);
    const LayerWeights& weights = weightsOf(operation.layer);
    ExpertSpace& space = m_space.experts;
    OutputRows* const logits[] = {&space.logits};
    operations.router.run({m_space.normed, pass.rows, logits, m_kernels, *m_pool, {}});
    chooseRows(pass);
    const int places = pass.rows * m_config.experts.used;
    forRows(places, [&](int place) {
        std::copy_n(m_space.normed.row(space.rowOfPlace[toSize(place)]),
                    m_config.hiddenSize,
                    space.in.row(place));
        space.in.prepare(place, operations.expertInput, m_kernels.rows);
    });
    cutExperts(weights, false);
    m_pool->run(static_cast<int>(space.pieces.size()), [&](int part, int) {
        runExpertGateUp(weights, operations, space.pieces[toSize(part)]);
    });
    forRows(places,
            [&](int place) { space.inner.prepare(place, operations.expertInner, m_kernels.rows); });
    cutExperts(weights, true);
    m_pool->run(
        static_cast<int>(space.pieces.size()),
        [&](int part, int) { runExpertDown(weights, operations, space.pieces[toSize(part)]); },
        readsOf(reader));
    forRows(pass.rows, [&](int row) { addExperts(row); });
    addToStream(pass, operation, reader);
}

/// Each row's experts, and a place for each of them, those of one expert side by side.
void CpuTransformer::chooseRows(const Pass& pass) {
    ExpertSpace& space = m_space.experts;
    const ExpertChoice& experts = m_config.experts;
    for (int row = 0; row < pass.rows; ++row)
        space.chosen[toSize(row)] =
            chooseExperts<float>(std::span(space.logits.row(row), toSize(experts.count)), experts);
    space.rows.clear();
    space.rowOfPlace.clear();
    space.places.assign(toSize(pass.rows) * toSize(experts.used), 0);
    for (int expert = 0; expert < experts.count; ++expert) {
        const int first = static_cast<int>(space.rowOfPlace.size());
        for (int row = 0; row < pass.rows; ++row)
            for (int i = 0; i < experts.used; ++i)
                if (space.chosen[toSize(row)][toSize(i)].expert == expert) {
                    space.places[toSize(row * experts.used + i)] =
                        static_cast<int>(space.rowOfPlace.size());
                    space.rowOfPlace.push_back(row);
                }
        const int count = static_cast<int>(space.rowOfPlace.size()) - first;
        if (count > 0)
            space.rows.push_back({expert, first, count});
    }
}

/// Cuts the chosen experts' gates and ups, or their downs, into pieces for the threads: those of a
/// memory node follow one another.
void CpuTransformer::cutExperts(const LayerWeights& weights, bool isDown) {
    ExpertSpace& space = m_space.experts;
    space.pieces.clear();
    const NodeThreads& nodes = m_pool->nodes();
    for (int node = 0; node < nodes.nodeCount(); ++node)
        for (int entry = 0; entry < static_cast<int>(space.rows.size()); ++entry) {
            const GatedMlp& mlp = weights.mlps[toSize(space.rows[toSize(entry)].expert)];
            const TileMatrix& matrix = isDown ? mlp.down.matrix : mlp.gate.matrix;
            const int step =
                std::max(1, static_cast<int>(kLeastExpertPieceBytes / matrix.tileBytes));
            const auto part = nodes.partOf(node, toSize(tileCount(matrix)));
            const int end = static_cast<int>(part.second);
            for (int first = static_cast<int>(part.first); first < end; first += step)
                space.pieces.push_back({entry, first, std::min(step, end - first)});
        }
}

void CpuTransformer::runExpertGateUp(const LayerWeights& weights,
                                     const LayerOperations& operations,
                                     const ExpertPiece& piece) {
    ExpertSpace& space = m_space.experts;
    const auto [expert, firstPlace, count] = space.rows[toSize(piece.entry)];
    const GatedMlp& mlp = weights.mlps[toSize(expert)];
    for (const auto& [linear, out] :
         {std::pair(&mlp.gate, &space.gate), std::pair(&mlp.up, &space.up)})
        m_kernels.multiplyTiles(
            linear->matrix,
            space.in.input(linear->matrix, operations.expertInput, count, firstPlace),
            piece.firstTile,
            piece.tileCount,
            {out->row(firstPlace), out->stride});
    const int first = piece.firstTile * kTileRows;
    const int width = std::min(piece.tileCount * kTileRows, m_config.experts.size - first);
    for (int place = firstPlace; place < firstPlace + count; ++place)
        m_activate(space.gate.row(place) + first,
                   space.up.row(place) + first,
                   width,
                   space.inner.row(place) + first);
}

void CpuTransformer::runExpertDown(const LayerWeights& weights,
                                   const LayerOperations& operations,
                                   const ExpertPiece& piece) {
    ExpertSpace& space = m_space.experts;
    const auto [expert, firstPlace, count] = space.rows[toSize(piece.entry)];
    const TileMatrix& matrix = weights.mlps[toSize(expert)].down.matrix;
    m_kernels.multiplyTiles(matrix,
                            space.inner.input(matrix, operations.expertInner, count, firstPlace),
                            piece.firstTile,
                            piece.tileCount,
                            {space.out.row(firstPlace), space.out.stride});
}

/// The sum of a row's experts, each times its weight.
void CpuTransformer::addExperts(int row) {
    ExpertSpace& space = m_space.experts;
    const auto width = toSize(m_config.hiddenSize);
    float* sum = m_space.added.row(row);
    std::fill_n(sum, width, 0.0F);
    for (int i = 0; i < m_config.experts.used; ++i) {
        const float weight = space.chosen[toSize(row)][toSize(i)].weight;
        const float* from = space.out.row(space.places[toSize(row * m_config.experts.used + i)]);
        for (std::size_t at = 0; at < width; ++at)
            sum[at] += weight * from[at];
    }
}

} // namespace engine::cpu
