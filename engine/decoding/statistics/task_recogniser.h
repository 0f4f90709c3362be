// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/cached_sequence.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

inline constexpr int kPromptVectorSize = 128;

/// What a prompt looks like to the model: its PromptRow, unit length, in fewer dimensions.
using PromptVector = std::array<double, kPromptVectorSize>;

/// A task whose prompts were met. A plain value.
struct KnownTask {
    static constexpr std::size_t kVectorsKept = 10;

    std::vector<PromptVector> vectors; ///< of the newest prompts, oldest first
    std::int64_t prompts = 0;          ///< all that were learnt
    std::int64_t metAt = 0;            ///< Unix seconds, when the last one was

    /// Adds a prompt; the oldest vector goes when there are too many.
    void learn(const PromptVector& vector, std::int64_t now);

    bool operator==(const KnownTask&) const = default;
};

using KnownTasks = std::map<std::string, KnownTask>; ///< by name

/// A task, and how near its nearest prompt is: a cosine, 1 = the same.
struct TaskLikeness {
    std::string task;
    double likeness = 0.0;
};

/// What a prompt is taken for. A plain value.
struct Recognition {
    std::optional<TaskLikeness> task;  ///< none = it is like no known task
    std::optional<TaskLikeness> other; ///< the nearest of the other tasks
};

/// The layer behind which prompts are looked at: the middle one.
constexpr int recognitionLayer(int layerCount) { return (layerCount - 1) / 2; }

/// The dimensions are reduced by a fixed matrix of random signs, which nearly keeps the angles, so
/// a known prompt takes as little room whatever the model.
PromptVector promptVector(std::span<const double> row);

/// The task for which the prompt's nearest three neighbours vote by their likeness, if they are
/// near enough. What all prompts of a model have in common is taken off first: the mean of the
/// known tasks. So at least two tasks must be known, unless a prompt comes a second time.
/// Source: nearest neighbours among hidden states, arXiv 2505.16162.
Recognition recogniseTask(const KnownTasks& known, const PromptVector& prompt);

/// A readable name for a task that begins with this question: its first words, unlike the names
/// that are there.
std::string nameOfNewTask(std::string_view question, const KnownTasks& known);

} // namespace engine
