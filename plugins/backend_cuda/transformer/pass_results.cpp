// SPDX-License-Identifier: Apache-2.0
// What a pass brings back from the GPU.
#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/model/cache/attention_weights.h"
#include "plugins/backend_cuda/transformer/cuda_transformer.h"
#include "plugins/backend_cuda/transformer/operation_list.h"

#include <algorithm>
#include <cmath>

namespace backend_cuda {

using namespace engine;

namespace {

/// A number of the cache's type.
double numberAt(const std::byte* numbers, std::size_t index, KvType type) {
    if (type == KvType::F32) {
        float value;
        std::memcpy(&value, numbers + index * 4, 4);
        return static_cast<double>(value);
    }
    std::uint16_t bits;
    std::memcpy(&bits, numbers + index * 2, 2);
    return static_cast<double>(type == KvType::BF16 ? floatFromBfloat16(bits)
                                                    : floatFromHalf(bits));
}

HeadSummary summaryOf(const HeadResult& result, int vocabSize) {
    HeadSummary summary;
    summary.count = std::min(HeadSummary::kMost, vocabSize);
    for (std::size_t i = 0; i < toSize(summary.count); ++i) {
        summary.ids[i] = result.ids[i];
        summary.logits[i] = static_cast<double>(result.logits[i]);
    }
    summary.logSumExp = static_cast<double>(result.highest) + std::log(result.sum);
    return summary;
}

static_assert(HeadSummary::kMost == kTop);

} // namespace

/// Brings all that a piece has found out at once: the only wait of a pass. What has gone straight
/// to the next GPU lies in front and does not come.
Result<void> CudaTransformer::takeResults(Piece& piece, const PassArguments& arguments) {
    m_found.resize(piece.found.flagAt + sizeof(unsigned));
    const auto* from = reinterpret_cast<const std::byte*>(arguments.flag) - piece.found.flagAt;
    const std::size_t gone =
        piece.borders.toPeer == nullptr
            ? 0
            : toSize(piece.count) * toSize(m_config.hiddenSize) * sizeof(float);
    ENGINE_TRY_DO(m_device->download(std::span(m_found).subspan(gone), from + gone));
    unsigned flag = 0;
    std::memcpy(&flag, m_found.data() + piece.found.flagAt, sizeof flag);
    if (flag != kAllFinite) {
        const unsigned place = flag / kPlaceRows;
        const OperationPlace found = placeOf(m_config,
                                             piece.operations[place / kPlaceTensors],
                                             static_cast<int>(place % kPlaceTensors));
        const int row = piece.first + static_cast<int>(flag % kPlaceRows);
        return nonFiniteError(found.where, found.tensor, piece.request.layout.position(row));
    }
    for (std::size_t at = 0; at < piece.headRows.size(); ++at) {
        HeadResult result;
        std::memcpy(
            &result, m_found.data() + piece.found.resultsAt + at * sizeof result, sizeof result);
        for (std::size_t i = 0; i < piece.request.summaryRows.size(); ++i)
            if (piece.request.summaryRows[i] == piece.first + piece.headRows[at])
                piece.result.summaries[i] = summaryOf(result, m_config.vocabSize);
    }
    takeHandOuts(piece);
    takeInfluence(piece, arguments);
    return {};
}

void CudaTransformer::takeHandOuts(const Piece& piece) {
    std::vector<HiddenRows*> takers;
    if (piece.borders.goesOn())
        takers.push_back(piece.borders.toHost);
    for (const HandOut& handOut : piece.request.handOuts)
        takers.push_back(handOut.to);
    const std::size_t width = toSize(m_config.hiddenSize);
    std::vector<float> row(width);
    const std::byte* from = m_found.data();
    for (HiddenRows* taker : takers) {
        if (taker == nullptr) { // the next GPU has it
            from += toSize(piece.count) * width * sizeof(float);
            continue;
        }
        auto& states = taker->storageFor<HostHidden<float>>(m_key, m_config.hiddenSize);
        for (int i = 0; i < piece.count; ++i, from += width * sizeof(float)) {
            std::memcpy(row.data(), from, width * sizeof(float));
            states.append(row.data());
        }
    }
}

void CudaTransformer::takeInfluence(const Piece& piece, const PassArguments& arguments) {
    if (!piece.request.wantsInfluence)
        return;
    const std::size_t strips = toSize(arguments.hiddenStrips);
    const std::size_t perSublayer = toSize(piece.count) * strips * 2;
    std::vector<float> squares(2 * toSize(m_config.layerCount) * perSublayer);
    std::memcpy(
        squares.data(), m_found.data() + piece.found.influenceAt, squares.size() * sizeof(float));
    for (const Operation& operation : piece.operations) {
        const bool isLast =
            operation.kind == Kind::AddNormed ||
            (operation.kind == Kind::Linear && operation.output == Output::AddToStream);
        if (!isLast)
            continue;
        const auto sublayer = toSize(operation.sublayer);
        const float* from = squares.data() + sublayer * perSublayer;
        for (int row = 0; row < piece.count; ++row) {
            double added = 0.0;
            double before = 0.0;
            for (std::size_t strip = 0; strip < strips; ++strip, from += 2) {
                added += static_cast<double>(from[0]);
                before += static_cast<double>(from[1]);
            }
            if (before > 0.0)
                piece.result.influence[sublayer] += std::sqrt(added / before);
        }
    }
}

/// The weights of attention of the row that was asked for, made on the host from its query and the
/// layer's keys as the GPU has them.
Result<void> CudaTransformer::tellAttention(const Piece& piece, const PassArguments& arguments) {
    const AttentionPlace place = *piece.request.attention;
    const std::size_t width = toSize(arguments.headWidth);
    const std::size_t dim = toSize(m_config.headDim);
    const std::size_t bytes = kvRowBytes(m_kvType, 1);
    std::vector<std::byte> stored(toSize(arguments.heads) * width * bytes);
    ENGINE_TRY_DO(m_device->download(stored,
                                     reinterpret_cast<const std::byte*>(arguments.queries) +
                                         toSize(place.row - piece.first) * stored.size()));
    std::vector<double> query;
    for (std::size_t head = 0; head < toSize(arguments.heads); ++head)
        for (std::size_t d = 0; d < dim; ++d)
            query.push_back(numberAt(stored.data(), head * width + d, m_kvType));
    KvShape shape = kvShape(piece.cache.capacity());
    shape.layerCount = m_config.layerCount;
    ENGINE_TRY(const auto host, HostKvStorage::make(shape));
    const std::size_t plane = piece.cache.planeBytes();
    stored.resize(plane * toSize(arguments.kvHeads));
    ENGINE_TRY_DO(m_device->download(
        stored, piece.cache.data() + 2 * toSize(place.layer - span().first) * stored.size()));
    std::byte* to = host->keys(place.layer);
    for (std::size_t row = 0; row * width * bytes < stored.size(); ++row, to += dim * bytes)
        std::memcpy(to, stored.data() + row * width * bytes, dim * bytes);
    piece.result.attention = attentionWeights(m_config, *host, piece.request.layout, place, query);
    return {};
}

} // namespace backend_cuda
