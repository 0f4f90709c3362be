// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/model/cpu/cpu_transformer.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace engine::cpu {

namespace {

HeadSummary summaryOf(const HeadTotal& total, int tokens) {
    HeadSummary summary;
    summary.count = std::min(HeadSummary::kMost, tokens);
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

/// The head in pieces for the threads, and what each of them reads first.
void CpuTransformer::cutHead(std::span<const TokenSpan> spans) {
    const TileMatrix& matrix = m_used->weights.outputHead().matrix;
    const TokenSpan all{0, matrix.rows};
    const int most = spans.empty() ? kHeadTiles : kShortHeadTiles;
    m_space.headPieces.clear();
    for (const TokenSpan& span : spans.empty() ? std::span(&all, 1) : spans) {
        const int endTile = (span.end + kTileRows - 1) / kTileRows;
        for (int tile = span.first / kTileRows; tile < endTile; tile += most)
            m_space.headPieces.push_back({tile, std::min(most, endTile - tile)});
    }
    const int pieces = static_cast<int>(m_space.headPieces.size());
    const int threads = m_pool->threads();
    m_space.headReads.assign(toSize(threads) * WorkerPool::kReadsPerThread, {});
    for (int thread = 0; thread < threads; ++thread) {
        const auto [first, end] = WorkerPool::shareOf(thread, pieces, threads);
        if (first < end)
            m_space.headReads[toSize(thread) * WorkerPool::kReadsPerThread] = {
                matrix.data +
                    toSize(m_space.headPieces[toSize(first)].firstTile) * matrix.tileBytes,
                matrix.tileBytes};
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
    const int pieces = static_cast<int>(m_space.headPieces.size());
    if (!request.headSpans.empty()) // what is left out
        std::fill_n(
            pass.logits, request.logitRows.size() * vocab, -std::numeric_limits<float>::infinity());
    m_space.partials.resize(std::max(m_space.partials.size(), toSize(rows) * toSize(pieces)));
    const TileInput input = m_space.normed.input(matrix, m_used->head.forms(), rows);
    constexpr std::size_t kPieceLogits = std::size_t{kHeadTiles} * kTileRows;
    // A thread that had no memory could not tell of it.
    for (std::vector<float>& scratch : m_space.logitScratch)
        scratch.resize(std::max(scratch.size(), toSize(rows) * kPieceLogits));
    const auto runPiece = [&](int piece, int thread) {
        const auto [firstTile, tiles] = m_space.headPieces[toSize(piece)];
        const int first = firstTile * kTileRows;
        float* scratch = m_space.logitScratch[toSize(thread)].data();
        TileMatrix part = matrix;
        part.data += toSize(firstTile) * matrix.tileBytes;
        m_kernels.multiplyTiles(part, input, 0, tiles, {scratch, kPieceLogits});
        const int count = std::min(tiles * kTileRows, matrix.rows - first);
        for (int row = 0; row < rows; ++row) {
            float* values = scratch + toSize(row) * kPieceLogits;
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
    const int pieces = static_cast<int>(m_space.headPieces.size());
    int tokens = m_config.headSize();
    if (!request.headSpans.empty())
        tokens = std::accumulate(
            request.headSpans.begin(),
            request.headSpans.end(),
            0,
            [](int sum, const TokenSpan& span) { return sum + span.end - span.first; });
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
                pass.result.summaries[i] = summaryOf(total, tokens);
    }
}

} // namespace engine::cpu
