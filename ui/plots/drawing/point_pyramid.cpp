// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/point_pyramid.h"

#include <algorithm>
#include <cmath>

namespace ui {

void PointPyramid::widen(Block& block, PlotPoint point) {
    if (!std::isfinite(point.y))
        return;
    if (!block.hasValue) {
        block = {point, point, true};
        return;
    }
    const bool isFirstLower = block.first.y <= block.second.y;
    const PlotPoint low = isFirstLower ? block.first : block.second;
    const PlotPoint high = isFirstLower ? block.second : block.first;
    // The new point is the last in x: whichever it replaces, it comes second.
    if (point.y < low.y)
        block = {high, point, true};
    else if (point.y > high.y)
        block = {low, point, true};
}

void PointPyramid::append(PlotPoint point) {
    if (!m_points.empty())
        point.x = std::max(point.x, m_points.back().x);
    const std::int64_t number = appendedCount();
    m_points.push_back(point);
    for (Level& level : m_levels) {
        if (level.blocks.empty())
            level.firstBlock = number / level.blockSize;
        const auto block = static_cast<std::size_t>(number / level.blockSize - level.firstBlock);
        if (block == level.blocks.size())
            level.blocks.emplace_back();
        widen(level.blocks[block], point);
    }
    if (m_points.size() > kLargestKept)
        dropFront(1);
}

void PointPyramid::dropFront(std::size_t count) {
    m_points.erase(m_points.begin(), m_points.begin() + static_cast<std::ptrdiff_t>(count));
    m_firstNumber += static_cast<std::int64_t>(count);
    for (Level& level : m_levels) {
        while (!level.blocks.empty() && (level.firstBlock + 1) * level.blockSize <= m_firstNumber) {
            level.blocks.pop_front();
            ++level.firstBlock;
        }
    }
}

void PointPyramid::removeBefore(double x) { dropFront(lowerIndex(x)); }

void PointPyramid::clear() { *this = PointPyramid(); }

std::size_t PointPyramid::lowerIndex(double x) const {
    const auto found = std::lower_bound(
        m_points.begin(), m_points.end(), x, [](const PlotPoint& point, double value) {
            return point.x < value;
        });
    return static_cast<std::size_t>(found - m_points.begin());
}

PointPyramid::IndexRange PointPyramid::indexesOf(PlotRange range) const {
    const std::size_t begin = lowerIndex(range.from);
    const auto behind = std::upper_bound(
        m_points.begin(), m_points.end(), range.to, [](double value, const PlotPoint& point) {
            return value < point.x;
        });
    const auto end = static_cast<std::size_t>(behind - m_points.begin());
    return {begin == 0 ? 0 : begin - 1, std::min(end + 1, m_points.size())};
}

int PointPyramid::levelFor(PlotRange range, std::size_t largestCount) const {
    const IndexRange indexes = indexesOf(range);
    const std::size_t count = indexes.end - std::min(indexes.begin, indexes.end);
    if (count <= largestCount)
        return 0;
    return count / 8 + 4 <= largestCount ? 1 : 2;
}

std::vector<PlotPoint> PointPyramid::pointsIn(PlotRange range, int level) const {
    const IndexRange indexes = indexesOf(range);
    std::vector<PlotPoint> points;
    if (indexes.begin >= indexes.end)
        return points;
    const auto begin = m_points.begin() + static_cast<std::ptrdiff_t>(indexes.begin);
    if (level == 0) {
        points.assign(begin, m_points.begin() + static_cast<std::ptrdiff_t>(indexes.end));
        return points;
    }
    const Level& coarse = m_levels[static_cast<std::size_t>(level - 1)];
    const auto blockOf = [&](std::size_t index) {
        const std::int64_t number = m_firstNumber + static_cast<std::int64_t>(index);
        return static_cast<std::size_t>(number / coarse.blockSize - coarse.firstBlock);
    };
    for (std::size_t i = blockOf(indexes.begin); i <= blockOf(indexes.end - 1); ++i) {
        const Block& block = coarse.blocks[i];
        // The oldest block may still remember points that were removed.
        if (!block.hasValue || block.second.x < m_points.front().x)
            continue;
        if (block.first.x >= m_points.front().x)
            points.push_back(block.first);
        if (block.second != block.first)
            points.push_back(block.second);
    }
    return points;
}

} // namespace ui
