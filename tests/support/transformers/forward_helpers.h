// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <cmath>
#include <numeric>
#include <vector>

namespace support {

/// One row of logits. Fails by exception.
inline std::vector<double> rowOf(engine::ForwardResult& result, int index) {
    const auto row = result.logits.row(index);
    ENGINE_CHECK(row.hasValue(), "row {} failed: {}", index, row.error().message);
    return {row.value().begin(), row.value().end()};
}

/// All rows of logits, one behind the other. Fails by exception.
inline std::vector<double> allLogits(engine::ForwardResult& result) {
    std::vector<double> logits;
    for (int index = 0; index < result.logits.count(); ++index) {
        const std::vector<double> row = rowOf(result, index);
        logits.insert(logits.end(), row.begin(), row.end());
    }
    return logits;
}

/// All numbers of these rows, [rows, hidden size]. Fails by exception.
inline std::vector<double> numbersOf(const engine::HiddenRows& states, int hiddenSize) {
    std::vector<double> numbers(static_cast<std::size_t>(states.count()) *
                                static_cast<std::size_t>(hiddenSize));
    if (!numbers.empty())
        ENGINE_CHECK(states.read(0, numbers).hasValue(), "hidden states could not be read");
    return numbers;
}

/// Runs a layout and commits nothing; logits of all rows, one vector a row. Fails by exception.
inline std::vector<std::vector<double>> logitsOf(engine::Transformer& transformer,
                                                 engine::KvCache& cache,
                                                 const engine::LayerPlan& plan,
                                                 const engine::AttentionLayout& layout,
                                                 std::span<const engine::TokenId> tokens) {
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    auto result = transformer.forward(
        {.plan = plan, .layout = layout, .tokens = tokens, .logitRows = rows}, cache);
    ENGINE_CHECK(result.hasValue(), "a pass failed: {}", result.error().message);
    std::vector<std::vector<double>> logits;
    for (const int row : rows)
        logits.push_back(rowOf(result.value(), row));
    return logits;
}

/// Runs `tokens` after the cached ones in passes of `rowsAtOnce`, commits them and returns the
/// logits of every row.
inline std::vector<std::vector<double>> runChain(engine::Transformer& transformer,
                                                 engine::KvCache& cache,
                                                 const engine::LayerPlan& plan,
                                                 std::span<const engine::TokenId> tokens,
                                                 std::size_t rowsAtOnce) {
    std::vector<std::vector<double>> logits;
    while (!tokens.empty()) {
        const auto piece = tokens.first(std::min(rowsAtOnce, tokens.size()));
        const int rows = static_cast<int>(piece.size());
        auto more = logitsOf(
            transformer, cache, plan, engine::AttentionLayout::chain(cache.length(), rows), piece);
        cache.commit(rows);
        std::move(more.begin(), more.end(), std::back_inserter(logits));
        tokens = tokens.subspan(piece.size());
    }
    return logits;
}

/// The root of the mean square of the difference, over that of the numbers.
inline double relativeError(const std::vector<std::vector<double>>& found,
                            const std::vector<std::vector<double>>& expected) {
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t row = 0; row < expected.size(); ++row)
        for (std::size_t i = 0; i < expected[row].size(); ++i) {
            difference += std::pow(found[row][i] - expected[row][i], 2);
            size += std::pow(expected[row][i], 2);
        }
    return std::sqrt(difference / size);
}

inline engine::KvCache emptyCache(const engine::Transformer& transformer,
                                  engine::Position capacity) {
    return transformer.makeCache(capacity).value();
}

} // namespace support
