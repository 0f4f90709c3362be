// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace engine {

/// A place in the order of texts.
struct TextOrderPlace {
    std::int64_t epoch = 0;
    std::int64_t text = 0; ///< place in the epoch's order; the next one

    bool operator==(const TextOrderPlace&) const = default;
};

/// Deals out whole texts to steps, each epoch in an order of its own that depends on seed, epoch
/// and text alone. A step takes texts until the next one would exceed its rows; an epoch ends with
/// the step that takes its last text. Thread: one.
class TextOrder {
public:
    /// `rows`: [texts] of each; at least one text.
    TextOrder(std::vector<int> rows, int rowsPerStep, std::uint64_t seed);

    /// Indices of the texts of the next step.
    std::vector<int> next();

    TextOrderPlace place() const { return m_place; }

    void moveTo(TextOrderPlace place);

    /// Steps of so many epochs from the beginning.
    std::int64_t stepsOf(int epochs) const;

private:
    void sortEpoch();

    std::vector<int> m_rows;
    int m_rowsPerStep;
    std::uint64_t m_seed;
    TextOrderPlace m_place;
    std::vector<int> m_order; // [texts] of the epoch
};

} // namespace engine
