// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/adamw.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>

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

/// Copies of the arrays PREFIX + name, of the shapes of `like`.
Result<TensorMap>
readTensors(const NamedArrays& state, std::string_view prefix, const TensorMap& like) {
    TensorMap made;
    for (const auto& [name, tensor] : like) {
        const std::string full = std::string(prefix) + name;
        const auto found = state.find(full);
        if (found == state.end())
            return foreignState(fmt::format("{} is missing", full));
        const std::vector<float>& values = found->second;
        if (values.size() != static_cast<std::size_t>(tensor.numel()))
            return foreignState(fmt::format(
                "{} has {} numbers instead of {}", full, values.size(), tensor.numel()));
        if (!areFinite(values))
            return foreignState(fmt::format("{} holds numbers that are not finite", full));
        at::Tensor copy = at::empty_like(tensor);
        std::copy(values.begin(), values.end(), copy.mutable_data_ptr<float>());
        made.emplace(name, std::move(copy));
    }
    return made;
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

void recordGradients(TensorMap& weights) {
    for (auto& [name, weight] : weights)
        weight.set_requires_grad(true);
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
    recordGradients(m_weights);
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

NamedArrays AdamW::state() const {
    NamedArrays state;
    const std::array<std::pair<std::string_view, const TensorMap*>, 4> kinds = {
        {{kWeight, &m_weights}, {kFirst, &m_first}, {kSecond, &m_second}, {kAverage, &m_average}}};
    for (const auto& [prefix, tensors] : kinds)
        for (const auto& [name, tensor] : *tensors)
            state.emplace(std::string(prefix) + name, arrayOf(tensor));
    state.emplace(kSteps, std::vector<float>{static_cast<float>(m_steps)});
    return state;
}

Result<void> AdamW::restore(const NamedArrays& state) {
    const c10::NoGradGuard plainly;
    if (state.size() != 4 * m_weights.size() + 1)
        return foreignState("it holds other arrays");
    ENGINE_TRY(const std::int64_t steps, readSteps(state));
    ENGINE_TRY(TensorMap weights, readTensors(state, kWeight, m_weights));
    ENGINE_TRY(TensorMap first, readTensors(state, kFirst, m_first));
    ENGINE_TRY(TensorMap second, readTensors(state, kSecond, m_second));
    for (const auto& [name, tensor] : second)
        if (tensor.numel() > 0 && tensor.min().item<double>() < 0.0)
            return foreignState(fmt::format("{}{} holds negative numbers", kSecond, name));
    ENGINE_TRY(TensorMap average, readTensors(state, kAverage, m_average));
    m_steps = steps;
    m_weights = std::move(weights);
    m_first = std::move(first);
    m_second = std::move(second);
    m_average = std::move(average);
    recordGradients(m_weights);
    return {};
}

NamedArrays AdamW::averageArrays() const {
    NamedArrays arrays;
    for (const auto& [name, tensor] : m_average)
        arrays.emplace(name, arrayOf(tensor));
    return arrays;
}

} // namespace trainer_torch
