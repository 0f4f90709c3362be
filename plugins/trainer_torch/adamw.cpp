// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/adamw.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainer_torch {

using namespace engine;

namespace {

constexpr double kFirstKept = 0.9;
constexpr double kSecondKept = 0.95;
constexpr double kDecay = 0.01;
constexpr double kMostNorm = 1.0;
constexpr double kLeastRoot = 1e-8;
constexpr double kMostSteps = 16'777'216.0; // what float32 counts to

constexpr std::string_view kSteps = "steps";
constexpr std::string_view kWeight = "weight.";
constexpr std::string_view kFirst = "moment1.";
constexpr std::string_view kSecond = "moment2.";
constexpr std::string_view kAverage = "average.";

std::vector<float> arrayOf(const at::Tensor& tensor) {
    const auto* values = tensor.const_data_ptr<float>();
    return {values, values + tensor.numel()};
}

Error foreignState(std::string_view why) {
    return {ErrorCode::CorruptFile,
            fmt::format("The state of the training cannot be used: {}.", why),
            "Begin the training anew."};
}

bool areFinite(const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

bool isNegative(float value) { return value < 0.0F; }

/// An array of a state, and the tensor that takes its numbers.
struct FoundArray {
    const std::vector<float>* values;
    at::Tensor to;
};

/// Appends the arrays PREFIX + name for these tensors.
Result<void> findArrays(const NamedArrays& state,
                        std::string_view prefix,
                        const TensorMap& tensors,
                        std::vector<FoundArray>& found) {
    for (const auto& [name, tensor] : tensors) {
        const std::string full = std::string(prefix) + name;
        const auto place = state.find(full);
        if (place == state.end())
            return foreignState(fmt::format("{} is missing", full));
        const std::vector<float>& values = place->second;
        if (values.size() != static_cast<std::size_t>(tensor.numel()))
            return foreignState(fmt::format(
                "{} has {} numbers instead of {}", full, values.size(), tensor.numel()));
        if (!areFinite(values))
            return foreignState(fmt::format("{} holds numbers that are not finite", full));
        if (prefix == kSecond && std::any_of(values.begin(), values.end(), isNegative))
            return foreignState(fmt::format("{} holds negative numbers", full));
        found.push_back({&values, tensor});
    }
    return {};
}

Result<std::int64_t> readSteps(const NamedArrays& state) {
    const auto found = state.find(kSteps);
    if (found == state.end() || found->second.size() != 1)
        return foreignState("the number of steps is missing");
    const double steps = static_cast<double>(found->second.front());
    if (!(steps >= 0.0 && steps <= kMostSteps) || steps != std::floor(steps))
        return foreignState("the number of steps is none");
    return static_cast<std::int64_t>(steps);
}

} // namespace

AdamW::AdamW(TensorMap start, double averaging)
    : m_averaging(averaging)
    , m_weights(std::move(start)) {
    for (const auto& [name, weight] : m_weights) {
        m_first.emplace(name, at::zeros_like(weight));
        m_second.emplace(name, at::zeros_like(weight));
        m_average.emplace(name, weight.clone());
    }
    for (auto& [name, weight] : m_weights)
        weight.set_requires_grad(true);
}

void AdamW::clearGradients() {
    for (auto& [name, weight] : m_weights)
        weight.mutable_grad() = at::Tensor();
}

double AdamW::gradientNorm() const {
    const c10::NoGradGuard plainly;
    double sum = 0.0;
    for (const auto& [name, weight] : m_weights)
        if (weight.grad().defined())
            sum += weight.grad().to(at::kDouble).square().sum().item<double>();
    return std::sqrt(sum);
}

void AdamW::step(double rate, double norm) {
    const c10::NoGradGuard plainly;
    const auto number = static_cast<double>(m_steps + 1);
    const double clipped = norm > kMostNorm ? kMostNorm / norm : 1.0;
    const double firstScale = 1.0 - std::pow(kFirstKept, number);
    const double secondRoot = std::sqrt(1.0 - std::pow(kSecondKept, number));
    const double kept = std::min(m_averaging, (1.0 + number) / (10.0 + number));
    for (auto& [name, weight] : m_weights) {
        const at::Tensor gradient =
            weight.grad().defined() ? weight.grad() * clipped : at::zeros_like(weight);
        at::Tensor& first = m_first.find(name)->second;
        at::Tensor& second = m_second.find(name)->second;
        first.mul_(kFirstKept).add_(gradient, 1.0 - kFirstKept);
        second.mul_(kSecondKept).addcmul_(gradient, gradient, 1.0 - kSecondKept);
        if (weight.dim() > 1) // norms and biases are not drawn to 0
            weight.mul_(1.0 - rate * kDecay);
        const at::Tensor root = second.sqrt().div_(secondRoot).add_(kLeastRoot);
        weight.addcdiv_(first, root, -rate / firstScale);
        m_average.find(name)->second.mul_(kept).add_(weight, 1.0 - kept);
    }
    ++m_steps;
}

std::array<AdamW::Kind, 4> AdamW::kinds() const {
    return {
        {{kWeight, &m_weights}, {kFirst, &m_first}, {kSecond, &m_second}, {kAverage, &m_average}}};
}

NamedArrays AdamW::state() const {
    NamedArrays state;
    for (const auto& [prefix, tensors] : kinds())
        for (const auto& [name, tensor] : *tensors)
            state.emplace(std::string(prefix) + name, arrayOf(tensor));
    state.emplace(kSteps, std::vector<float>{static_cast<float>(m_steps)});
    return state;
}

Result<void> AdamW::restore(const NamedArrays& state) {
    if (state.size() != 4 * m_weights.size() + 1)
        return foreignState("it holds other arrays");
    ENGINE_TRY(const std::int64_t steps, readSteps(state));
    std::vector<FoundArray> found;
    for (const auto& [prefix, tensors] : kinds())
        ENGINE_TRY_DO(findArrays(state, prefix, *tensors, found));
    // In place: a second set of tensors might not fit into memory.
    for (const auto& [values, to] : found)
        std::copy(values->begin(), values->end(), to.mutable_data_ptr<float>());
    m_steps = steps;
    return {};
}

NamedArrays AdamW::averageArrays() const {
    NamedArrays arrays;
    for (const auto& [name, tensor] : m_average)
        arrays.emplace(name, arrayOf(tensor));
    return arrays;
}

} // namespace trainer_torch
