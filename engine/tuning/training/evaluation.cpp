// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/evaluation.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"

#include <algorithm>
#include <numeric>

namespace engine {

namespace {

void addHits(DraftHits& sum, const DraftHits& hits) {
    for (std::size_t depth = 0; depth < kDepths; ++depth) {
        sum.tried[depth] += hits.tried[depth];
        sum.hits[depth] += hits.hits[depth];
    }
    sum.exits.resize(std::max(sum.exits.size(), hits.exits.size()));
    for (std::size_t exit = 0; exit < hits.exits.size(); ++exit)
        sum.exits[exit] += hits.exits[exit];
}

} // namespace

std::array<double, kDepths> acceptanceOf(const DraftHits& hits) {
    std::array<double, kDepths> shares{};
    for (std::size_t depth = 0; depth < kDepths; ++depth)
        if (hits.tried[depth] > 0)
            shares[depth] =
                static_cast<double>(hits.hits[depth]) / static_cast<double>(hits.tried[depth]);
    return shares;
}

std::vector<double> exitShares(const DraftHits& hits) {
    std::vector<double> shares;
    for (const std::int64_t right : hits.exits)
        shares.push_back(hits.tried[0] > 0
                             ? static_cast<double>(right) / static_cast<double>(hits.tried[0])
                             : 0.0);
    return shares;
}

double tokensPerRound(const DraftHits& hits, int depth) {
    const auto shares = acceptanceOf(hits);
    double tokens = 1.0;
    double path = 1.0;
    for (int i = 0; i < depth; ++i) {
        path *= shares[toSize(i)];
        tokens += path;
    }
    return tokens;
}

std::vector<TextPlace>
textsToEvaluate(const RowStore& rows, RowSplit split, int mostRows, std::uint64_t seed) {
    const std::vector<TextPlace> all = rows.texts(split);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [seed](std::size_t index) { return counterKey(seed, index); };
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<TextPlace> chosen;
    int count = 0;
    for (const std::size_t index : order) {
        if (count >= mostRows)
            break;
        count += rows.facts(all[index]).rows;
        chosen.push_back(all[index]);
    }
    return chosen;
}

Result<Evaluation> evaluateDrafts(Trainer& trainer,
                                  const RowStore& rows,
                                  std::span<const TextPlace> texts,
                                  const std::stop_token& stop) {
    Evaluation evaluation;
    for (const TextPlace place : texts) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, "The evaluation was cancelled.", ""};
        ENGINE_TRY(const AnswerRows stored, rows.read(place));
        const TrainingRows text(stored, rows.hiddenSize());
        ENGINE_TRY(const DraftHits hits, trainer.evaluate(text.view()));
        evaluation.rows += stored.answerRows();
        addHits(evaluation.all, hits);
        addHits(evaluation.byTask[rows.facts(place).task], hits);
    }
    return evaluation;
}

} // namespace engine
