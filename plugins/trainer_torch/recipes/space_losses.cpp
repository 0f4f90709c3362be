// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/space_losses.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/recipes/head_losses.h"
#include "plugins/trainer_torch/recipes/space_rows.h"

#include <algorithm>

namespace trainer_torch {

using namespace engine;

namespace {

/// Groups of masks with which a text is judged.
constexpr int kJudgedPlaces = 64;

} // namespace

RecipeLosses runSpace(const RecipeWork& work,
                      std::span<const TrainingText> texts,
                      std::int64_t step,
                      bool hasGradients) {
    const int layers = work.network.config().layerCount;
    std::vector<SpaceRows> all;
    std::int64_t masks = 0;
    RecipeLosses losses;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        all.push_back(spaceRows(texts[i], work.plan, textKey(work.plan, step, i)));
        losses.rows += static_cast<std::int64_t>(all.back().labels.size());
        masks += std::ranges::count_if(all.back().labels, &RowLabel::isMask);
    }
    const auto shareOf = [](std::int64_t count) {
        return 1.0 / static_cast<double>(std::max<std::int64_t>(1, count));
    };
    for (std::size_t i = 0; i < all.size() && isGoingOn(work, losses); ++i) {
        const SpaceRows& text = all[i];
        if (text.labels.empty())
            continue;
        const ModelRows made = work.rows.make(text.plan);
        ModelPass pass(work.network, work.trained, made, {}, hasGradients, work.mostKept);
        for (const bool isMask : {false, true}) {
            std::vector<std::int64_t> rows;
            std::vector<std::int64_t> targets;
            for (const RowLabel& label : text.labels)
                if (label.isMask == isMask) {
                    rows.push_back(label.row);
                    targets.push_back(label.token);
                }
            if (rows.empty())
                continue;
            const bool isSoft = work.plan.isSoft && !isMask;
            TeacherTensors teacher =
                isSoft ? teacherOf(texts[i], rows, pass.type()) : TeacherTensors();
            if (isSoft) // the untouched model may think of the mask; what learns never says it
                teacher.parts =
                    teacher.parts.masked_fill(teacher.rows.eq(work.plan.maskToken), 0.0);
            const double sum = headLoss(
                pass,
                layers,
                rows,
                shareOf(losses.rows),
                [&](const at::Tensor& full, std::size_t first, std::size_t count) {
                    const at::Tensor logits = without(full, work.plan.maskToken);
                    return isSoft ? teacherDivergence(logits, teacher, first, count)
                                  : crossEntropy(logits, std::span(targets).subspan(first, count));
                });
            if (isMask)
                losses.drafting += sum * shareOf(masks);
            else
                losses.likelihood += sum * shareOf(losses.rows - masks);
            losses.total += sum * shareOf(losses.rows);
        }
        if (hasGradients)
            pass.backward();
    }
    return losses;
}

DraftHits judgeSpace(const RecipeWork& work, const TrainingText& text) {
    const SpaceRows judged = judgedRows(text, work.plan, kDepths, kJudgedPlaces);
    DraftHits hits;
    if (judged.labels.empty())
        return hits;
    std::vector<std::int64_t> rows;
    for (const RowLabel& label : judged.labels)
        rows.push_back(label.row);
    const ModelRows made = work.rows.make(judged.plan);
    const ModelPass pass(work.network, work.trained, made, {}, false);
    const auto best = bestTokens(pass, work.network.config().layerCount, rows, work.plan.maskToken);
    const auto masks = toSize(std::min(work.plan.masks, kDepths));
    for (std::size_t group = 0; group < rows.size(); group += masks)
        for (std::size_t depth = 0; depth < masks; ++depth) {
            ++hits.tried[depth];
            if (best[group + depth] != judged.labels[group + depth].token)
                break;
            ++hits.hits[depth];
        }
    return hits;
}

} // namespace trainer_torch
