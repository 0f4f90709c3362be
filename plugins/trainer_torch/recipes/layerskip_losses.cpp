// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/layerskip_losses.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"
#include "plugins/trainer_torch/recipes/head_losses.h"
#include "plugins/trainer_torch/recipes/layerskip_terms.h"
#include "plugins/trainer_torch/recipes/space_rows.h"

#include <algorithm>

namespace trainer_torch {

using namespace engine;

namespace {

std::vector<std::int64_t> wide(const std::vector<int>& rows) { return {rows.begin(), rows.end()}; }

/// Adds the drafts that begin at each of the rows and go on with the row behind.
void addChains(std::span<const std::int64_t> rows,
               const std::vector<bool>& right,
               DraftHits& hits) {
    for (std::size_t start = 0; start < rows.size(); ++start)
        for (std::size_t depth = 0; depth < toSize(kDepths); ++depth) {
            const std::size_t place = start + depth;
            if (place >= rows.size() ||
                rows[place] != rows[start] + static_cast<std::int64_t>(depth))
                break;
            ++hits.tried[depth];
            if (!right[place])
                break;
            ++hits.hits[depth];
        }
}

} // namespace

RecipeLosses runLayerSkip(const RecipeWork& work,
                          std::span<const TrainingText> texts,
                          std::int64_t step,
                          bool hasGradients) {
    const int layers = work.network.config().layerCount;
    const int exit = exitOfStep(step, layers, work.plan.rotation);
    const ExitShares shares = exitShares(exit, layers, work.plan.exitScale);
    RecipeLosses losses;
    for (const TrainingText& text : texts)
        losses.rows += static_cast<std::int64_t>(answerRows(text).size());
    const double each = 1.0 / static_cast<double>(std::max<std::int64_t>(1, losses.rows));
    for (std::size_t i = 0; i < texts.size() && isGoingOn(work, losses); ++i) {
        const TrainingText& text = texts[i];
        const std::vector<std::int64_t> rows = wide(answerRows(text));
        if (rows.empty())
            continue;
        std::vector<bool> dropped;
        const std::uint64_t key = textKey(work.plan, step, i);
        for (int layer = 0; layer < layers; ++layer)
            dropped.push_back(uniformOf(counterBits(key, layer)) <
                              work.plan.dropout * layerDropout(layer, layers));
        const ModelRows made = work.rows.make(RowPlan(text.tokens));
        ModelPass pass(
            work.network, work.trained, made, std::move(dropped), hasGradients, work.mostKept);
        const TeacherTensors teacher = teacherOf(text, rows, pass.type());
        const double last =
            headLoss(pass,
                     layers,
                     rows,
                     shares.last * each,
                     [&](const at::Tensor& logits, std::size_t first, std::size_t count) {
                         return teacherDivergence(logits, teacher, first, count);
                     });
        std::vector<std::int64_t> targets;
        for (const std::int64_t row : rows)
            targets.push_back(text.tokens[toSize(row) + 1]);
        const double early =
            exit < 0
                ? 0.0
                : headLoss(pass,
                           exit + 1,
                           rows,
                           shares.exit * each,
                           [&](const at::Tensor& logits, std::size_t first, std::size_t count) {
                               return crossEntropy(logits,
                                                   std::span(targets).subspan(first, count));
                           });
        losses.likelihood += last * each;
        losses.drafting += early * each;
        losses.total += (shares.last * last + shares.exit * early) * each;
        if (hasGradients)
            pass.backward();
    }
    return losses;
}

DraftHits judgeLayerSkip(const RecipeWork& work, const TrainingText& text) {
    const std::vector<std::int64_t> rows = wide(answerRows(text));
    const int layers = work.network.config().layerCount;
    DraftHits hits;
    hits.exits.resize(toSize(layers - 1));
    if (rows.empty())
        return hits;
    const ModelRows made = work.rows.make(RowPlan(text.tokens));
    const ModelPass pass(work.network, work.trained, made, {}, false);
    for (int exit = 1; exit < layers; ++exit) {
        const auto best = bestTokens(pass, exit, rows, kNoToken);
        std::vector<bool> right;
        for (std::size_t i = 0; i < rows.size(); ++i)
            right.push_back(best[i] == text.tokens[toSize(rows[i]) + 1]);
        hits.exits[toSize(exit - 1)] = std::ranges::count(right, true);
        if (exit == work.plan.judgedExit)
            addChains(rows, right, hits);
    }
    return hits;
}

} // namespace trainer_torch
