// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/sampling_options.h"

#include <algorithm>
#include <string_view>

namespace engine {

namespace {

constexpr double kMostRepetition = 10.0;
constexpr double kMostPenalty = 2.0;
constexpr double kMostBias = 100.0;

Error outOfRange(std::string_view name, double value, std::string_view range, const char* hint) {
    return {ErrorCode::InvalidInput,
            fmt::format("{} is {:.6g}, but must {}.", name, value, range),
            hint};
}

/// False for NaN.
bool isWithin(double value, double least, double most) { return value >= least && value <= most; }

Result<void> validateChoice(const SamplingOptions& options) {
    if (!isWithin(options.temperature, 0.0, 100.0))
        return outOfRange("The temperature",
                          options.temperature,
                          "be between 0 and 100",
                          "0 always takes the most probable token; .7 to 1 is usual for variety.");
    if (options.topK < 0)
        return outOfRange("Top-k", options.topK, "not be negative", "0 switches it off.");
    if (!(options.topP > 0.0 && options.topP <= 1.0))
        return outOfRange("Top-p",
                          options.topP,
                          "be above 0 and at most 1",
                          "1 switches it off; .9 to .95 is usual.");
    if (!(options.minP >= 0.0 && options.minP < 1.0))
        return outOfRange("Min-p",
                          options.minP,
                          "be at least 0 and below 1",
                          "0 switches it off; .02 to .1 is usual.");
    if (!(options.typicalP > 0.0 && options.typicalP <= 1.0))
        return outOfRange("Typical-p",
                          options.typicalP,
                          "be above 0 and at most 1",
                          "1 switches it off; .9 to .95 is usual.");
    return {};
}

Result<void> validatePenalties(const SamplingOptions& options) {
    if (!(options.repetitionPenalty > 0.0 && options.repetitionPenalty <= kMostRepetition))
        return outOfRange("The repetition penalty",
                          options.repetitionPenalty,
                          "be above 0 and at most 10",
                          "1 switches it off; 1.05 to 1.2 is usual.");
    if (options.repetitionWindow < 0)
        return outOfRange("The repetition window",
                          options.repetitionWindow,
                          "not be negative",
                          "0 covers the whole prompt and answer.");
    for (const auto& [name, value] : {std::pair("The presence penalty", options.presencePenalty),
                                      std::pair("The frequency penalty", options.frequencyPenalty)})
        if (!isWithin(value, -kMostPenalty, kMostPenalty))
            return outOfRange(
                name,
                value,
                "be between -2 and 2",
                "0 switches it off; a value below 0 favours tokens that are already there.");
    return {};
}

Result<void> validateBias(const std::vector<LogitBias>& biases) {
    std::vector<TokenId> tokens;
    for (const LogitBias& bias : biases) {
        if (!isWithin(bias.value, -kMostBias, kMostBias))
            return outOfRange(fmt::format("The logit bias of token {}", bias.token),
                              bias.value,
                              "be between -100 and 100",
                              "-100 practically forbids a token, 100 practically forces it.");
        tokens.push_back(bias.token);
    }
    std::sort(tokens.begin(), tokens.end());
    const auto twice = std::adjacent_find(tokens.begin(), tokens.end());
    if (twice != tokens.end())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Token {} has two logit biases.", *twice),
                     "Give each token one value."};
    return {};
}

} // namespace

Result<void> SamplingOptions::validate() const {
    ENGINE_TRY_DO(validateChoice(*this));
    ENGINE_TRY_DO(validatePenalties(*this));
    ENGINE_TRY_DO(validateBias(logitBias));
    ENGINE_TRY_DO(makeGrammarGraph(grammar));
    return {};
}

Result<void> SamplingOptions::validateFor(int vocabSize) const {
    ENGINE_TRY_DO(validate());
    for (const LogitBias& bias : logitBias)
        if (bias.token < 0 || bias.token >= vocabSize)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("The logit bias names token {}, but the model's vocabulary "
                                     "has the ids 0 to {}.",
                                     bias.token,
                                     vocabSize - 1),
                         "swift-run tokenize shows the ids of a text."};
    return {};
}

} // namespace engine
