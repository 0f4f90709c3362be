// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace ui {

/// The points of a series in order of x, with the lowest and the highest point of every 16 and
/// every 256. So a view of a run of any length has few points and misses no peak. Thread: UI.
class PointPyramid {
public:
    static constexpr std::size_t kLargestKept = 2'000'000; ///< older points go

    /// A point that lies before the newest one is put at the newest one's x.
    void append(PlotPoint point);
    void removeBefore(double x);
    void clear();

    std::size_t size() const { return m_points.size(); }

    bool isEmpty() const { return m_points.empty(); }

    const PlotPoint& at(std::size_t index) const { return m_points[index]; }

    const PlotPoint& newest() const { return m_points.back(); }

    /// How many points were ever appended; removals do not reduce it, clear() resets it.
    std::int64_t appendedCount() const {
        return m_firstNumber + static_cast<std::int64_t>(m_points.size());
    }

    /// Index of the first point at or after x.
    std::size_t lowerIndex(double x) const;

    /// 0 = all points, 1 = two of each 16, 2 = two of each 256: the finest that gives no more than
    /// `largestCount` points for this range, else 2.
    int levelFor(PlotRange range, std::size_t largestCount) const;

    /// In order of x, with the nearest point on either side of the range.
    std::vector<PlotPoint> pointsIn(PlotRange range, int level) const;

private:
    struct Block {
        PlotPoint first; ///< of the lowest and the highest, in order of x
        PlotPoint second;
        bool hasValue = false;
    };

    struct Level {
        std::int64_t blockSize = 0;
        std::int64_t firstBlock = 0;
        std::deque<Block> blocks = {};
    };

    struct IndexRange {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    IndexRange indexesOf(PlotRange range) const;
    void dropFront(std::size_t count);
    static void widen(Block& block, PlotPoint point);

    std::deque<PlotPoint> m_points;
    std::int64_t m_firstNumber = 0; ///< of m_points.front(), counted from the first ever
    std::array<Level, 2> m_levels{{{16}, {256}}};
};

} // namespace ui
