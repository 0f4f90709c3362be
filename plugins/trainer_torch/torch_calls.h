// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <new>
#include <string_view>

namespace trainer_torch {

/// LibTorch's settings while the trainer computes: so many threads, and deterministic algorithms
/// alone. They belong to the process, so the old ones come back at the end. Gradients are recorded
/// unless somebody says otherwise.
class TorchScope {
public:
    explicit TorchScope(int threads);
    ~TorchScope();
    TorchScope(const TorchScope&) = delete;
    TorchScope& operator=(const TorchScope&) = delete;
    TorchScope(TorchScope&&) = delete;
    TorchScope& operator=(TorchScope&&) = delete;

private:
    c10::AutoGradMode m_gradients{true};
    int m_threads;
    bool m_wasDeterministic;
    bool m_didFill;
};

engine::Error noMemoryForTraining();

/// Numeric: the loss or the gradient is not finite.
engine::Error notFinite(std::string_view what);

/// Cancelled: the stop was asked for in the middle of a step.
engine::Error stoppedStep();

/// NoMemory for an allocation that failed; otherwise Internal.
engine::Error torchFailure(const c10::Error& failure);

/// Runs the work of the module's border: no exception of LibTorch gets past it. EngineBug does.
template <typename Work> auto guarded(const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return noMemoryForTraining();
    } catch (const c10::Error& failure) {
        return torchFailure(failure);
    }
}

} // namespace trainer_torch
