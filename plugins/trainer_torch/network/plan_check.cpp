// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/network/plan_check.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <string_view>

namespace trainer_torch {

using namespace engine;

namespace {

constexpr int kMostLayers = 4; // as in adapter files

bool fitTogether(const DraftSizes& sizes) {
    return sizes.hiddenSize > 0 && sizes.headCount > 0 && sizes.kvHeadCount > 0 &&
           sizes.headCount % sizes.kvHeadCount == 0 && sizes.headDim > 0 &&
           sizes.headDim % 2 == 0 && sizes.mlpSize > 0 && sizes.layerCount > 0 &&
           sizes.layerCount <= kMostLayers && sizes.window >= 0 && sizes.normEpsilon > 0.0 &&
           sizes.ropeTheta > 0.0;
}

bool areTokensOf(std::span<const TokenId> ids, int vocabSize) {
    return !ids.empty() && ids.front() >= 0 && ids.back() < vocabSize &&
           std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
}

/// All tensors of a network of these sizes, or none.
bool isStart(const NamedArrays& start, const DraftSizes& sizes) {
    const auto tensors = adapterTensors(sizes);
    return start.empty() ||
           (start.size() == tensors.size() &&
            std::all_of(tensors.begin(), tensors.end(), [&start](const auto& each) {
                const auto found = start.find(each.second.name);
                return found != start.end() && found->second.size() == each.second.count();
            }));
}

} // namespace

Result<void> checkPlan(const TrainerPlan& plan, const TrainerModel& model) {
    const auto refused = [](std::string_view why) {
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The draft network cannot be trained: {}.", why),
                     "Choose other sizes, or another model."};
    };
    if (!fitTogether(plan.sizes))
        return refused("its sizes do not fit together");
    const std::size_t width = toSize(plan.sizes.hiddenSize);
    const std::size_t numbers = toSize(std::max(0, model.vocabSize)) * width;
    if (numbers == 0 || model.embedding.size() != numbers || model.finalNorm.size() != width ||
        (!model.head.empty() && model.head.size() != numbers))
        return refused("it is not as wide as the model");
    if (!areTokensOf(plan.headIds, model.vocabSize))
        return refused("the tokens that it may draft are not ascending tokens of the model");
    if (plan.unroll < 1 || plan.unroll > kDepths || !(plan.depthDecay > 0.0))
        return refused("the depths of its loss are out of range");
    if (!(plan.averaging >= 0.0 && plan.averaging < 1.0) || plan.threads < 1)
        return refused("its averaging or its number of threads is out of range");
    if (!isStart(plan.start, plan.sizes))
        return refused("the weights that it is to start from are those of other sizes");
    return {};
}

void checkTexts(std::span<const TrainingText> texts, int hiddenSize, int vocabSize) {
    for (const TrainingText& text : texts) {
        const std::size_t rows = text.tokens.size();
        ENGINE_CHECK(text.streams.size() == rows * toSize(hiddenSize) &&
                         text.answers.size() == rows && text.teacher.size() == rows,
                     "a text of {} rows with {} numbers, {} marks and {} rows of the teacher",
                     rows,
                     text.streams.size(),
                     text.answers.size(),
                     text.teacher.size());
        for (const TokenId token : text.tokens)
            ENGINE_CHECK(token >= 0 && token < vocabSize, "token {} of {}", token, vocabSize);
    }
}

} // namespace trainer_torch
