// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/head_list.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>

namespace engine {

Result<HeadList> makeHeadList(const RowStore& rows, int size, int vocabSize) {
    std::vector<std::int64_t> inAnswers(toSize(vocabSize));
    std::vector<std::int64_t> inPrompts(toSize(vocabSize));
    const auto count = [&](std::vector<std::int64_t>& counts, TokenId token) {
        if (token >= 0 && token < vocabSize)
            ++counts[toSize(token)];
    };
    for (const TextPlace place : rows.texts(RowSplit::Training)) {
        ENGINE_TRY(const std::vector<TokenId> tokens, rows.readTokens(place));
        const ShardText& facts = rows.facts(place);
        for (int row = 0; row < facts.rows; ++row)
            count(row < facts.promptRows ? inPrompts : inAnswers, tokens[toSize(row)]);
        count(inAnswers, facts.last);
    }
    std::vector<TokenId> order(toSize(vocabSize));
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [&](TokenId id) {
        return std::tuple(-inAnswers[toSize(id)], -inPrompts[toSize(id)], id);
    };
    std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) { return rank(a) < rank(b); });
    order.resize(toSize(std::min(size, vocabSize)));
    std::sort(order.begin(), order.end());
    HeadList list;
    const std::int64_t all = std::accumulate(inAnswers.begin(), inAnswers.end(), std::int64_t{0});
    std::int64_t covered = 0;
    for (const TokenId id : order)
        covered += inAnswers[toSize(id)];
    list.coverage = all > 0 ? static_cast<double>(covered) / static_cast<double>(all) : 0.0;
    list.ids = std::move(order);
    return list;
}

} // namespace engine
