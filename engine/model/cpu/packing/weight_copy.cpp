// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/packing/weight_copy.h"

#include "engine/base/to_size.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/model/cpu/layer_cut.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace engine::cpu {

namespace {

constexpr std::string_view kCopyName = "the 4-bit copy of the weights";

/// Weights that a thread rounds at once, and those of a piece: as many whatever the threads, so
/// that a decoder's steps do not depend on these.
constexpr int kSlabWeights = 1 << 18;
constexpr std::size_t kPieceWeights = std::size_t{1} << 21U;

/// Of a copy that was kept a piece has so many chunks, each of 4 MiB.
constexpr std::size_t kPieceChunks = 2;

/// Of the copy's bytes so many times must be free: a model that decodes must not bring the system
/// to swapping.
constexpr double kFreePart = 2.0;

constexpr std::size_t kGroup = 32;
constexpr std::size_t kGroupBytes = 20; // of Q4_1

bool isPlain(const TileMatrix& matrix) { return !holdsQuants(matrix.form); }

bool isWorthACopy(const Weights& weights) { return isPlain({.form = weights.mainFormat().form}); }

TileFormat copyFormat() { return tileFormat(TensorType::Q4_1, WeightForm::File); }

} // namespace

void WeightCopy::Slabs::add(const Linear& linear, int firstRow, int rowCount) {
    const TileMatrix& matrix = linear.matrix;
    TensorInfo info;
    // The name is part of the packed cache's key: it says what is rounded.
    info.name = fmt::format("{} from row {}, copied from {}",
                            linear.name,
                            firstRow,
                            tileFormatName({.form = matrix.form}));
    info.type = TensorType::Q4_1;
    info.shape = {toSize(rowCount), toSize(matrix.columns)};
    info.byteSize = toSize(rowCount) * toSize(matrix.columns) / kGroup * kGroupBytes;
    m_tensors.push_back(std::move(info));
    m_places.push_back({&linear, firstRow});
}

const TensorInfo* WeightCopy::Slabs::find(std::string_view name) const {
    const auto found = std::find_if(
        m_tensors.begin(), m_tensors.end(), [&](const auto& each) { return each.name == name; });
    return found == m_tensors.end() ? nullptr : &*found;
}

Result<void> WeightCopy::Slabs::readRows(const TensorInfo& tensor,
                                         std::uint64_t firstRow,
                                         std::uint64_t rowCount,
                                         std::span<float> out) const {
    const auto [linear, first] = placeOf(tensor);
    const std::size_t columns = toSize(linear->matrix.columns);
    for (std::uint64_t row = 0; row < rowCount; ++row)
        readPackedRow(linear->matrix,
                      first + static_cast<int>(firstRow + row),
                      out.subspan(static_cast<std::size_t>(row) * columns, columns));
    return {};
}

Result<void> WeightCopy::Slabs::readRawRows(const TensorInfo& tensor,
                                            std::uint64_t firstRow,
                                            std::uint64_t rowCount,
                                            std::span<std::byte> out) const {
    std::vector<float> values(static_cast<std::size_t>(rowCount * tensor.columns()));
    ENGINE_TRY_DO(readRows(tensor, firstRow, rowCount, values));
    for (std::size_t group = 0; group < values.size() / kGroup; ++group)
        if (!roundToQ4_1(values.data() + group * kGroup, out.data() + group * kGroupBytes))
            return Error{ErrorCode::Numeric,
                         fmt::format("Numbers in tensor {} are too large to be rounded to 4 bits, "
                                     "so no copy of the weights drafts.",
                                     readable(placeOf(tensor).linear->name)),
                         "Choose another decoder."};
    return {};
}

WeightCopy::WeightCopy(const Weights& weights, const PackedCacheOptions& cache)
    : m_cacheOptions(cache)
    , m_slabs(weights.fileState) {
    // Without a fingerprint one would be made, from tensors that are not these.
    if (m_cacheOptions.fingerprint.empty())
        m_cacheOptions.folder.clear();
}

Result<std::unique_ptr<WeightCopy>> WeightCopy::begin(const Weights& weights,
                                                      const ModelConfig& config,
                                                      const PackedCacheOptions& cache,
                                                      double freeBytes) {
    if (!isWorthACopy(weights))
        return Error{ErrorCode::Unsupported,
                     fmt::format("The weights are held as {} already, beside which a copy in 4 "
                                 "bits saves too little to draft with.",
                                 shortArithmetic(tileFormatName(weights.mainFormat()))),
                     "Open the model as bfloat16 or float16 (--weights bf16), or choose another "
                     "decoder."};
    std::unique_ptr<WeightCopy> made(new WeightCopy(weights, cache));
    made->outline(weights);
    ENGINE_TRY_DO(made->reserve(freeBytes));
    made->listJobs();
    made->m_cache.emplace(made->m_cacheOptions, config, made->m_slabs, made->m_jobs);
    made->m_kept = made->m_cache->open(made->m_bytes);
    return made;
}

std::size_t WeightCopy::bytesFor(const Weights& weights) {
    if (!isWorthACopy(weights))
        return 0;
    WeightCopy outlined(weights, {});
    outlined.outline(weights);
    return outlined.m_bytes;
}

void WeightCopy::outline(const Weights& weights) {
    m_copy.layers = weights.layers;
    m_copy.finalNorm = weights.finalNorm;
    m_copy.embedding = weights.embedding;
    m_copy.head = weights.outputHead();
    for (std::size_t i = 0; i < weights.layers.size(); ++i) {
        const LayerWeights& from = weights.layers[i];
        LayerWeights& to = m_copy.layers[i];
        outlineLinear(from.query, to.query);
        outlineLinear(from.key, to.key);
        outlineLinear(from.value, to.value);
        outlineLinear(from.output, to.output);
        for (std::size_t mlp = 0; mlp < from.mlps.size(); ++mlp) {
            outlineLinear(from.mlps[mlp].gate, to.mlps[mlp].gate);
            outlineLinear(from.mlps[mlp].up, to.mlps[mlp].up);
            outlineLinear(from.mlps[mlp].down, to.mlps[mlp].down);
        }
    }
    outlineLinear(weights.outputHead(), m_copy.head);
}

void WeightCopy::outlineLinear(const Linear& from, Linear& to) {
    if (from.matrix.rows == 0 || !isPlain(from.matrix))
        return;
    to.matrix = outlineMatrix(copyFormat(), from.matrix.rows, from.matrix.columns);
    m_rounded.emplace_back(&from, &to);
    m_offsets.push_back(m_bytes);
    m_bytes += matrixBytes(to.matrix);
    m_sourceBytes += matrixBytes(from.matrix);
}

Result<void> WeightCopy::reserve(double freeBytes) {
    const auto bytes = static_cast<double>(m_bytes);
    if (freeBytes < kFreePart * bytes)
        return Error{ErrorCode::NoMemory,
                     fmt::format("There is too little free memory for a 4-bit copy of the weights: "
                                 "it takes {:.2f} GB, and twice as much must be free. So no copy "
                                 "drafts.",
                                 bytes / 1e9),
                     "Close other programs, or choose a smaller model or a shorter --context."};
    return renewMemory();
}

/// Memory for all matrices, each in its place, which nobody has touched yet.
Result<void> WeightCopy::renewMemory() {
    m_copy.memory = HugeMemory();
    ENGINE_TRY(m_copy.memory, HugeMemory::make(m_bytes, kCopyName));
    for (std::size_t i = 0; i < m_rounded.size(); ++i)
        m_rounded[i].second->matrix.data = m_copy.memory.data() + m_offsets[i];
    m_isPlaced = false;
    return {};
}

/// Every slab begins with a tile, so it can be packed as a matrix of its own.
void WeightCopy::listJobs() {
    for (std::size_t i = 0; i < m_rounded.size(); ++i) {
        const TileMatrix& matrix = m_rounded[i].second->matrix;
        const int step = std::max(1, kSlabWeights / (matrix.columns * kTileRows)) * kTileRows;
        for (int first = 0; first < matrix.rows; first += step) {
            const int rows = std::min(step, matrix.rows - first);
            m_slabs.add(*m_rounded[i].first, first, rows);
            m_outlines.push_back(outlineMatrix(copyFormat(), rows, matrix.columns));
            const std::size_t offset = m_offsets[i] + toSize(first / kTileRows) * matrix.tileBytes;
            m_jobs.push_back({nullptr, copyFormat(), nullptr, offset});
        }
    }
    for (std::size_t i = 0; i < m_jobs.size(); ++i) {
        m_jobs[i].tensor = &m_slabs.tensors()[i];
        m_jobs[i].matrix = &m_outlines[i];
    }
}

Result<bool> WeightCopy::makePiece(WorkerPool& pool) {
    if (!std::exchange(m_isPlaced, true))
        placeWeights(m_copy, {m_copy.memory.data(), m_bytes}, pool.nodes());
    ENGINE_TRY_DO(m_kept ? readPiece(pool) : roundPiece(pool));
    return m_done == m_jobs.size();
}

Result<void> WeightCopy::readPiece(WorkerPool& pool) {
    const std::span memory(m_copy.memory.data(), m_bytes);
    const std::size_t count = std::min(kPieceChunks, m_kept->chunkCount() - m_read);
    std::atomic<bool> isWhole = true;
    pool.run(static_cast<int>(count), [&](int part, int) {
        if (!m_kept->readChunk(m_read + toSize(part), memory))
            isWhole = false;
    });
    m_read += count;
    if (isWhole && m_read < m_kept->chunkCount())
        return {};
    m_kept.reset();
    if (isWhole) {
        m_done = m_jobs.size();
        return {};
    }
    m_cache->remove();
    return renewMemory(); // what could be read of it is in the old one
}

Result<void> WeightCopy::roundPiece(WorkerPool& pool) {
    const std::span memory(m_copy.memory.data(), m_bytes);
    std::size_t count = 0;
    for (std::size_t weights = 0; m_done + count < m_jobs.size() && weights < kPieceWeights;
         ++count) {
        const TileMatrix& matrix = m_outlines[m_done + count];
        weights += toSize(matrix.rows) * toSize(matrix.columns);
    }
    const auto jobs = std::span(m_jobs).subspan(m_done, count);
    ENGINE_TRY(const double workMs, packAllMatrices(m_slabs, jobs, memory, {}, pool));
    m_workMs += workMs;
    m_done += count;
    if (m_done == m_jobs.size())
        m_copy.keeper = m_cache->keep(memory, {m_workMs, pool.threads(), m_sourceBytes, m_bytes});
    return {};
}

} // namespace engine::cpu
