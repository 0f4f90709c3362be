// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/torch_calls.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace trainer_torch {

TorchScope::TorchScope(int threads)
    : m_threads(at::get_num_threads())
    , m_wasDeterministic(at::globalContext().deterministicAlgorithms())
    , m_didFill(at::globalContext().deterministicFillUninitializedMemory()) {
    at::set_num_threads(threads);
    at::globalContext().setDeterministicAlgorithms(true, false);
    // Nobody reads memory before it is written, so it need not be filled.
    at::globalContext().setDeterministicFillUninitializedMemory(false);
}

TorchScope::~TorchScope() {
    at::globalContext().setDeterministicFillUninitializedMemory(m_didFill);
    at::globalContext().setDeterministicAlgorithms(m_wasDeterministic, false);
    at::set_num_threads(m_threads);
}

engine::Error noMemoryForTraining() {
    return {engine::ErrorCode::NoMemory,
            "There is not enough memory for training.",
            "Close other programs, or choose a smaller model."};
}

engine::Error notFinite(std::string_view what) {
    return {engine::ErrorCode::Numeric,
            fmt::format("The training left the finite numbers: {} is not finite.", what),
            "Go on from an earlier state with a lower rate."};
}

engine::Error stoppedStep() {
    return {
        engine::ErrorCode::Cancelled, "The step was stopped.", "The weights are those before it."};
}

engine::Error torchFailure(const c10::Error& failure) {
    const std::string_view message = failure.what_without_backtrace();
    if (message.find("DefaultCPUAllocator") != std::string_view::npos)
        return noMemoryForTraining();
    return {engine::ErrorCode::Internal,
            fmt::format("LibTorch failed in training: {}", message.substr(0, message.find('\n'))),
            "Please report this sentence."};
}

} // namespace trainer_torch
