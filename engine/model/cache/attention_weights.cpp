// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cache/attention_weights.h"

#include "engine/base/to_size.h"
#include "engine/kernels/rows/narrow_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

template <typename T> T loadNumber(const std::byte* from, std::size_t index) {
    T number;
    std::memcpy(&number, from + index * sizeof(T), sizeof(T));
    return number;
}

double numberAt(const std::byte* from, std::size_t index, KvType type) {
    switch (type) {
    case KvType::F32:
        return static_cast<double>(loadNumber<float>(from, index));
    case KvType::F64:
        return loadNumber<double>(from, index);
    case KvType::BF16:
        return static_cast<double>(floatOfBf16(loadNumber<std::uint16_t>(from, index)));
    case KvType::F16:
        return static_cast<double>(floatOfF16(loadNumber<std::uint16_t>(from, index)));
    }
    return 0.0;
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
    const std::size_t capacity = toSize(storage.capacity());
    const std::byte* const keys = storage.keys(place.layer);
    std::vector<double> weights(heads * slots.size());
    for (std::size_t head = 0; head < heads; ++head) {
        const auto scores = std::span(weights).subspan(head * slots.size(), slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const std::size_t first = (head / groupSize * capacity + slots[i]) * dim;
            for (std::size_t d = 0; d < dim; ++d)
                scores[i] +=
                    query[head * dim + d] * numberAt(keys, first + d, storage.shape().type);
            if (config.attentionSoftCap > 0.0)
                scores[i] =
                    config.attentionSoftCap * std::tanh(scores[i] / config.attentionSoftCap);
        }
        softmax(scores);
    }
    return weights;
}

} // namespace engine
