// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/plots/line_points.h"

#include "engine/experiments/report/figures/axis_scale.h"
#include "engine/metrics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kManyPoints = 24; ///< noise of more is smoothed
constexpr std::size_t kMostPoints = 1200;

} // namespace

PlotPoints drawable(const PlotPoints& points) {
    PlotPoints kept;
    const std::size_t stride =
        (points.size() + kMostPoints - 1) / std::max<std::size_t>(kMostPoints, 1);
    bool isBehindGap = false; // also of the points that are left out
    for (std::size_t i = 0; i < points.size(); ++i) {
        isBehindGap = isBehindGap || points[i].isBehindGap;
        const bool isKept = stride <= 1 || i % stride == 0 || i + 1 == points.size();
        if (!isKept || !isDrawable(points[i].x) || !isDrawable(points[i].y.value))
            continue;
        kept.push_back(points[i]);
        kept.back().isBehindGap = std::exchange(isBehindGap, false);
    }
    std::stable_sort(
        kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    return kept;
}

bool isNoisy(const PlotPoints& points) {
    if (points.size() <= kManyPoints)
        return false;
    double way = 0.0;
    double low = points[0].y.value;
    double high = low;
    for (std::size_t i = 1; i < points.size(); ++i) {
        way += std::abs(points[i].y.value - points[i - 1].y.value);
        low = std::min(low, points[i].y.value);
        high = std::max(high, points[i].y.value);
    }
    return way > 4.0 * (high - low);
}

PlotPoints smoothed(const PlotPoints& points) {
    const std::size_t reach = std::clamp<std::size_t>(points.size() / 24, 3, 20);
    PlotPoints made = points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::size_t from = i > reach ? i - reach : 0;
        const std::size_t to = std::min(i + reach + 1, points.size());
        std::vector<double> values;
        for (std::size_t k = from; k < to; ++k)
            values.push_back(points[k].y.value);
        made[i].y = {medianOf(values), {}, {}, 0};
    }
    return made;
}

} // namespace engine
