// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace support {

/// Minus the logarithm of each token's probability given all tokens before it, from the second on.
/// Shapes: tokens [n], out [n - 1]. Errors: those of a pass.
inline engine::Result<std::vector<double>> surprises(engine::Transformer& transformer,
                                                     std::span<const engine::TokenId> tokens) {
    constexpr std::size_t kRows = 64;
    const auto plan = engine::LayerPlan::full(transformer.config().layerCount);
    ENGINE_TRY(engine::KvCache cache,
               transformer.makeCache(static_cast<engine::Position>(tokens.size())));
    engine::ForwardResult result;
    std::vector<double> found;
    for (std::size_t begin = 0; begin + 1 < tokens.size(); begin += kRows) {
        const std::size_t count = std::min(kRows, tokens.size() - 1 - begin);
        std::vector<int> rows(count);
        std::iota(rows.begin(), rows.end(), 0);
        ENGINE_TRY_DO(transformer.forwardInto(
            {.plan = plan,
             .layout = engine::AttentionLayout::chain(cache.length(), static_cast<int>(count)),
             .tokens = tokens.subspan(begin, count),
             .logitRows = rows},
            cache,
            result));
        cache.commit(static_cast<int>(count));
        for (const int row : rows) {
            ENGINE_TRY(const std::span<const double> logits, result.logits.row(row));
            const double largest = *std::max_element(logits.begin(), logits.end());
            double sum = 0.0;
            for (const double logit : logits)
                sum += std::exp(logit - largest);
            const auto next = tokens[begin + static_cast<std::size_t>(row) + 1];
            found.push_back(largest + std::log(sum) - logits[static_cast<std::size_t>(next)]);
        }
    }
    return found;
}

/// Source: perplexity is the exponential of the mean surprise.
inline double perplexityOf(std::span<const double> surprises) {
    return std::exp(std::accumulate(surprises.begin(), surprises.end(), 0.0) /
                    static_cast<double>(surprises.size()));
}

} // namespace support
