// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/checks/load_check.h"

#include "engine/base/to_size.h"
#include "engine/loading/network/network_tensors.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace backend_cuda {

using namespace engine;

namespace {

constexpr int kFirstOfTree = 4;
constexpr std::size_t kCheckedLogits = 64;
constexpr double kFarOff = 0.3; // far more than any form of weights and rows loses
constexpr const char* kUntrustedHint =
    "Try another driver of NVIDIA, or compute with --backend cpu.";

/// What one way of computing the tokens gave.
struct CheckedNumbers {
    std::vector<double> streams; // [rows, hidden], behind the last layer
    std::vector<double> logits;  // of the last row
};

std::vector<TokenId> checkTokens(int vocabSize, int rows) {
    std::vector<TokenId> tokens;
    for (int i = 0; i < rows; ++i)
        tokens.push_back((i * 7919 + 1) % vocabSize);
    return tokens;
}

/// Runs the tokens in passes of these layouts.
Result<CheckedNumbers>
run(Transformer& transformer, int rows, const std::vector<AttentionLayout>& layouts) {
    const ModelConfig& config = transformer.config();
    ENGINE_TRY(KvCache cache, transformer.makeCache(rows));
    const std::vector<TokenId> tokens = checkTokens(config.vocabSize, rows);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    HiddenRows hidden;
    const HandOut handOut{config.layerCount - 1, &hidden};
    CheckedNumbers numbers;
    int first = 0;
    for (const AttentionLayout& layout : layouts) {
        const int count = layout.rowCount();
        const int last = count - 1;
        ENGINE_TRY(
            ForwardResult result,
            transformer.forward({.plan = plan,
                                 .layout = layout,
                                 .tokens = std::span(tokens).subspan(toSize(first), toSize(count)),
                                 .logitRows = std::span(&last, 1),
                                 .summaryRows = std::span(&last, 1),
                                 .handOuts = std::span(&handOut, 1)},
                                cache));
        ENGINE_TRY(const std::span<double> logits, result.logits.row(0));
        numbers.logits.assign(logits.begin(), logits.end());
        first += count;
    }
    numbers.streams.resize(toSize(rows) * toSize(config.hiddenSize));
    ENGINE_TRY_DO(hidden.read(0, numbers.streams));
    return numbers;
}

Error differenceOf(std::string_view device,
                   std::size_t width,
                   const CheckedNumbers& found,
                   const CheckedNumbers& expected) {
    std::size_t at = 0;
    while (at < expected.streams.size() && found.streams[at] == expected.streams[at])
        ++at;
    const std::string where = at == expected.streams.size()
                                  ? std::string("the output head")
                                  : fmt::format("row {} of the last layer", at / width);
    return Error{ErrorCode::Device,
                 fmt::format("The GPU {} computes {} differently beside other rows, so its answers "
                             "cannot be trusted.",
                             device,
                             where),
                 kUntrustedHint};
}

/// Compares logits of the last row with what the head gives in float64 of the stream behind the
/// last layer: as wide as the model is, and from its first token to its last one.
Result<void> checkHead(const ModelConfig& config,
                       const WeightSource& source,
                       std::string_view device,
                       const CheckedNumbers& found) {
    const std::size_t width = toSize(config.hiddenSize);
    const auto stream = std::span(found.streams).last(width);
    const TensorSpec normSpec = finalNormTensor(config);
    ENGINE_TRY(const std::vector<float> norm,
               readTensor(source, normSpec.weightName(), normSpec.shape()));
    std::vector<float> weights(width);
    const TensorInfo* const head =
        source.find((config.tiedHead ? embeddingTensor(config) : headTensor(config)).weightName());
    ENGINE_CHECK(head != nullptr, "a model without a head was loaded");
    const double squares = std::inner_product(stream.begin(), stream.end(), stream.begin(), 0.0);
    if (squares > static_cast<double>(std::numeric_limits<float>::max()))
        return {}; // more than float32 holds: proves nothing
    const double scale =
        config.logitScale / std::sqrt(squares / static_cast<double>(width) + config.normEpsilon);
    const std::size_t last = found.logits.size() - 1;
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < kCheckedLogits; ++i) {
        const std::size_t id = i * last / (kCheckedLogits - 1);
        ENGINE_TRY_DO(source.readRows(*head, id, 1, weights));
        double logit = 0.0;
        for (std::size_t at = 0; at < width; ++at)
            logit += stream[at] * static_cast<double>(norm[at]) * static_cast<double>(weights[at]);
        logit *= scale;
        if (config.logitSoftCap > 0.0)
            logit = config.logitSoftCap * std::tanh(logit / config.logitSoftCap);
        difference += (found.logits[id] - logit) * (found.logits[id] - logit);
        size += logit * logit;
    }
    if (difference <= kFarOff * kFarOff * size)
        return {};
    return Error{
        ErrorCode::Device,
        fmt::format("The GPU {} computes the output head wrongly, so its answers cannot be "
                    "trusted.",
                    device),
        kUntrustedHint};
}

} // namespace

Result<void> checkLoaded(Transformer& transformer,
                         const WeightSource& source,
                         std::string_view device,
                         int rows) {
    ENGINE_CHECK(rows > kFirstOfTree, "a check of {} rows", rows);
    // A chain whose second half is a tree without branches: the same keys, in the same slots.
    std::vector<int> parents(toSize(rows - kFirstOfTree));
    std::iota(parents.begin(), parents.end(), -1);
    const std::vector<std::vector<AttentionLayout>> ways = {
        {AttentionLayout::chain(0, rows)},
        {AttentionLayout::chain(0, 1), AttentionLayout::chain(1, rows - 1)},
        {AttentionLayout::chain(0, kFirstOfTree), AttentionLayout::tree(kFirstOfTree, parents)}};
    std::vector<CheckedNumbers> found;
    for (const std::vector<AttentionLayout>& way : ways) {
        auto numbers = run(transformer, rows, way);
        if (!numbers && numbers.error().code == ErrorCode::Numeric)
            return {};
        if (!numbers)
            return numbers.error();
        found.push_back(std::move(numbers).value());
        if (found.back().streams != found.front().streams ||
            found.back().logits != found.front().logits)
            return differenceOf(
                device, toSize(transformer.config().hiddenSize), found.back(), found.front());
    }
    return checkHead(transformer.config(), source, device, found.front());
}

} // namespace backend_cuda
