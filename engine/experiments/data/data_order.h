// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The order in which the prompts of a run come. It depends on nothing but their tasks, their order
/// in the files and the seed: it is the same on every machine.
enum class DataOrder : std::uint8_t {
    AsIs,     ///< as in the files
    ByTask,   ///< one task after another, in the order in which they first appear
    Shuffled, ///< at random
    /// The tasks come one after another as in ByTask, but fade into each other. Of N prompts of T
    /// tasks, prompt p of ByTask (from 0) is moved to the position p + u - v, with u and v drawn
    /// uniformly from 0 to W = N / (2 T), half of the mean length of a task; the tasks then come in
    /// the order of these positions. So around the place where ByTask changes from one task to the
    /// next, the share of the new one rises gradually from 0 at W before that place over one half
    /// at it to 1 at W behind it; with equally long tasks, only the middle of each is free of
    /// others. The prompts of one task keep their order.
    Drift,
};

/// Of "as-is", "by-task", "shuffled" and "drift"; none for another name.
std::optional<DataOrder> dataOrderOf(std::string_view name);

/// The indexes of the prompts in the order in which they come; `tasks` has each prompt's task.
/// `seed` decides about Shuffled and Drift.
std::vector<std::size_t>
orderedIndexes(const std::vector<std::string>& tasks, DataOrder order, std::uint64_t seed);

} // namespace engine
