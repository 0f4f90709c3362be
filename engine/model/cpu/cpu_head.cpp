// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/model/cpu/cpu_transformer.h"

#include <algorithm>

namespace engine::cpu {

namespace {

HeadSummary summaryOf(const HeadTotal& total, int vocabSize) {
    HeadSummary summary;
    summary.count = std::min(HeadSummary::kMost, vocabSize);
    for (std::size_t i = 0; i < toSize(summary.count); ++i) {
        summary.ids[i] = total.ids[i];
        summary.logits[i] = total.logits[i];
    }
    summary.logSumExp = total.logSumExp;
    return summary;
}

int placeOf(std::span<const int> rows, int row) {
    return static_cast<int>(std::find(rows.begin(), rows.end(), row) - rows.begin());
}

} // namespace

void CpuTransformer::planHeadReads(CutWeights& into) const {
    const TileMatrix& matrix = into.weights.outputHead().matrix;
    const int pieces = (tileCount(matrix) + kHeadTiles - 1) / kHeadTiles;
    const int threads = m_pool->threads();
    into.headReads.resize(toSize(threads) * WorkerPool::kReadsPerThread);
    for (int thread = 0; thread < threads; ++thread) {
        const auto [first, end] = WorkerPool::shareOf(thread, pieces, threads);
        if (first < end)
            into.headReads[toSize(thread) * WorkerPool::kReadsPerThread] = {
                matrix.data + toSize(first * kHeadTiles) * matrix.tileBytes, matrix.tileBytes};
    }
}

/// Final norm and head. Each piece of the vocabulary is summarised while it is at hand, and kept if
/// its logits are asked for.
void CpuTransformer::runHead(Pass& pass) {
    const ForwardRequest& request = pass.request;
    m_space.headRows.assign(request.logitRows.begin(), request.logitRows.end());
    for (const int row : request.summaryRows)
        if (placeOf(m_space.headRows, row) == static_cast<int>(m_space.headRows.size()))
            m_space.headRows.push_back(row);
    const std::size_t vocab = toSize(m_config.headSize());
    const int rows = static_cast<int>(m_space.headRows.size());
    if (rows == 0)
        return;
    forRows(rows, [&](int index) {
        m_kernels.rows.rmsNorm(streamRow(m_space.headRows[toSize(index)]),
                               m_used->weights.finalNorm.data(),
                               static_cast<float>(m_config.normEpsilon),
                               m_config.hiddenSize,
                               m_space.normed.row(index));
        m_space.normed.prepare(index, m_used->head.forms(), m_kernels.rows);
    });
    const TileMatrix& matrix = m_used->weights.outputHead().matrix;
    const int pieces = (tileCount(matrix) + kHeadTiles - 1) / kHeadTiles;
    m_space.partials.resize(std::max(m_space.partials.size(), toSize(rows) * toSize(pieces)));
    const TileInput input = m_space.normed.input(matrix, m_used->head.forms(), rows);
    constexpr std::size_t kPieceLogits = std::size_t{kHeadTiles} * kTileRows;
    const auto runPiece = [&](int piece, int thread) {
        const int firstTile = piece * kHeadTiles;
        const int first = firstTile * kTileRows;
        const int tiles = std::min(kHeadTiles, tileCount(matrix) - firstTile);
        std::vector<float>& scratch = m_space.logitScratch[toSize(thread)];
        if (scratch.size() < toSize(rows) * kPieceLogits)
            scratch.resize(toSize(rows) * kPieceLogits);
        TileMatrix part = matrix;
        part.data += toSize(firstTile) * matrix.tileBytes;
        m_kernels.multiplyTiles(part, input, 0, tiles, {scratch.data(), kPieceLogits});
        const int count = std::min(tiles * kTileRows, matrix.rows - first);
        for (int row = 0; row < rows; ++row) {
            float* values = scratch.data() + toSize(row) * kPieceLogits;
            finishLogits(values, count);
            m_kernels.rows.summarise(
                values, count, first, &m_space.partials[toSize(row * pieces + piece)]);
            if (toSize(row) < request.logitRows.size()) // they are the first of all
                std::copy_n(values, count, pass.logits + toSize(row) * vocab + toSize(first));
        }
    };
    m_pool->run(pieces, runPiece, m_used->layers.front().queryKeyValue.firstReads());
    finishHead(pass);
}

/// What the network does to logits behind the head.
void CpuTransformer::finishLogits(float* logits, int count) const {
    if (m_config.logitScale != 1.0)
        for (int i = 0; i < count; ++i)
            logits[i] *= static_cast<float>(m_config.logitScale);
    if (m_config.logitSoftCap > 0.0)
        m_kernels.rows.softCap(logits, static_cast<float>(m_config.logitSoftCap), count);
}

void CpuTransformer::finishHead(Pass& pass) {
    const ForwardRequest& request = pass.request;
    const TileMatrix& matrix = m_used->weights.outputHead().matrix;
    const int pieces = (tileCount(matrix) + kHeadTiles - 1) / kHeadTiles;
    pass.result.summaries.resize(request.summaryRows.size());
    for (std::size_t place = 0; place < m_space.headRows.size(); ++place) {
        const int row = m_space.headRows[place];
        const HeadTotal total =
            combinePartials(m_space.partials.data() + place * toSize(pieces), pieces);
        if (!total.isFinite) {
            pass.error = nonFiniteError(
                "the output head", m_used->weights.outputHead().name, request.layout.position(row));
            return;
        }
        for (std::size_t i = 0; i < request.summaryRows.size(); ++i)
            if (request.summaryRows[i] == row)
                pass.result.summaries[i] = summaryOf(total, m_config.headSize());
    }
}

} // namespace engine::cpu
