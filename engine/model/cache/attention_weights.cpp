// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cache/attention_weights.h"

#include "engine/base/to_size.h"
#include "engine/kernels/rows/narrow_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

/// Number `i` of a head's key.
double numberAt(const std::byte* row, const KvShape& shape, int i) {
    if (const auto element = kvElement(shape.type))
        return static_cast<double>(kvNumber(row, *element, shape.headDim, i));
    double number = 0.0;
    std::memcpy(&number, row + toSize(i) * sizeof number, sizeof number);
    return number;
}

/// Scores become weights that add up to 1.
void softmax(std::span<double> scores) {
    const double highest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    for (double& score : scores)
        total += score = std::exp(score - highest);
    for (double& score : scores)
        score /= total;
}

} // namespace

std::vector<double> attentionWeights(const ModelConfig& config,
                                     HostKvStorage& storage,
                                     const AttentionLayout& layout,
                                     const AttentionPlace& place,
                                     std::span<const double> query) {
    const std::size_t dim = toSize(config.headDim);
    const std::size_t heads = toSize(config.headCount);
    ENGINE_CHECK(query.size() == heads * dim, "a query of {} numbers", query.size());
    std::vector<std::size_t> slots;
    layout.forEachKey(place.row, config.layerWindows[toSize(place.layer)], [&slots](Position slot) {
        slots.push_back(toSize(slot));
    });
    const std::size_t groupSize = heads / toSize(config.kvHeadCount);
    const KvShape& shape = storage.shape();
    const std::size_t capacity = toSize(shape.capacity);
    const std::size_t rowBytes = kvRowBytes(shape.type, shape.headDim);
    const std::byte* const keys = storage.keys(place.layer);
    std::vector<double> weights(heads * slots.size());
    for (std::size_t head = 0; head < heads; ++head) {
        const auto scores = std::span(weights).subspan(head * slots.size(), slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const std::byte* key = keys + (head / groupSize * capacity + slots[i]) * rowBytes;
            for (std::size_t d = 0; d < dim; ++d)
                scores[i] += query[head * dim + d] * numberAt(key, shape, static_cast<int>(d));
            if (config.attentionSoftCap > 0.0)
                scores[i] =
                    config.attentionSoftCap * std::tanh(scores[i] / config.attentionSoftCap);
        }
        softmax(scores);
    }
    return weights;
}

} // namespace engine
