// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/network/network_tensors.h"
#include "tests/plugins/trainer_torch/trainer_support.h"
#include "tests/support/models/tiny_model.h"

#include <numeric>

/// What the tests of recipes that change the model share. Functions fail by exception.
namespace recipe_support {

inline engine::ModelNumbers numbersOf(const engine::ModelConfig& config,
                                      support::MemoryWeights& weights) {
    engine::ModelNumbers numbers;
    numbers.config = config;
    for (const engine::TensorInfo& tensor : weights.tensors())
        numbers.tensors[tensor.name] = weights.values(tensor.name);
    return numbers;
}

/// A network of few numbers with windows, biases and norms of heads.
inline engine::ModelConfig smallConfig(bool isTied) {
    engine::ModelConfig config = support::layeredConfig(4);
    config.architecture = "qwen3";
    config.hiddenSize = 8;
    config.mlpSize = 6;
    config.headCount = 2;
    config.kvHeadCount = 1;
    config.headDim = 4;
    config.vocabSize = 16;
    config.layerWindows = {0, 3, 0, 3};
    config.qkvBias = true;
    config.headNorm = engine::HeadNorm::EachHead;
    config.tiedHead = isTied;
    config.embeddingScale = 1.5;
    config.residualScale = 0.7;
    config.logitScale = 0.8;
    return config;
}

inline engine::Result<std::unique_ptr<engine::Trainer>>
openModelTrainer(const engine::ModelTrainerPlan& plan, engine::ModelNumbers numbers) {
    const auto maker = engine::findModelTrainer(SWIFT_STUDIO_MODULE_DIR);
    ENGINE_CHECK(maker.hasValue(), "no trainer: {}", maker.error().message);
    return maker.value()(plan, std::move(numbers));
}

/// A text of `rows` rows in which each token has one follower.
inline trainer_support::OwnedText sentence(const std::vector<engine::TokenId>& next,
                                           engine::TokenId first,
                                           int rows,
                                           int answer,
                                           int hiddenSize) {
    std::mt19937 random(1);
    const int vocabSize = static_cast<int>(next.size());
    trainer_support::OwnedText text =
        trainer_support::randomText(rows, answer, hiddenSize, vocabSize, random);
    for (std::size_t row = 0; row < text.tokens.size(); ++row) {
        text.tokens[row] = row == 0 ? first : next[engine::toSize(text.tokens[row - 1])];
        text.teacher[row] =
            trainer_support::teacherOf(next[engine::toSize(text.tokens[row])], vocabSize, 0.9);
    }
    return text;
}

/// A follower of each of the first `count` tokens, in one circle.
inline std::vector<engine::TokenId> followers(int count, int vocabSize) {
    std::vector<engine::TokenId> order(engine::toSize(count));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(5);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<engine::TokenId> next(engine::toSize(vocabSize), order.front());
    for (std::size_t i = 0; i < order.size(); ++i)
        next[engine::toSize(order[i])] = order[(i + 1) % order.size()];
    return next;
}

} // namespace recipe_support
