// SPDX-License-Identifier: Apache-2.0
#include "engine/search/stream/stream_path.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

double lengthOf(std::span<const double> values) {
    double sum = 0.0;
    for (const double value : values)
        sum += value * value;
    return std::sqrt(sum);
}

/// Half of the squared distance between the unit vectors, which is 1 - cosine.
double rowLoss(std::span<const double> full, std::span<const double> other) {
    const double fullLength = lengthOf(full);
    const double otherLength = lengthOf(other);
    if (fullLength == 0.0 || otherLength == 0.0)
        return fullLength == otherLength ? 0.0 : 1.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < full.size(); ++i) {
        const double difference = full[i] / fullLength - other[i] / otherLength;
        sum += difference * difference;
    }
    return sum / 2.0;
}

} // namespace

double streamLoss(std::span<const double> full, std::span<const double> other, int rows) {
    const std::size_t width = full.size() / static_cast<std::size_t>(rows);
    double sum = 0.0;
    for (std::size_t at = 0; at < full.size(); at += width)
        sum += rowLoss(full.subspan(at, width), other.subspan(at, width));
    return sum;
}

StreamPath::StreamPath(const StreamPathOptions& options)
    : m_options(options)
    , m_width(static_cast<std::size_t>(options.width))
    , m_after(options.weights.size(), 0)
    , m_isFilled(index(options.most) + 1, 0)
    , m_losses(m_isFilled.size(), 0.0) {
    for (std::size_t item = m_after.size(); item-- > 1;)
        m_after[item - 1] = m_after[item] + options.weights[item];
    m_streams.resize(m_isFilled.size() * m_width);
}

Result<StreamPath> StreamPath::find(std::span<const double> start,
                                    const StreamPathOptions& options,
                                    const RunItem& run) {
    const bool hasWeights = std::all_of(
        options.weights.begin(), options.weights.end(), [](int weight) { return weight >= 0; });
    ENGINE_CHECK(hasWeights && options.least >= 0 && options.most >= options.least,
                 "a path that leaves out {} to {}",
                 options.least,
                 options.most);
    ENGINE_CHECK(options.width > 0 && options.rows > 0 && options.width % options.rows == 0 &&
                     start.size() == static_cast<std::size_t>(options.width),
                 "a stream of {} numbers for a width of {} in {} rows",
                 start.size(),
                 options.width,
                 options.rows);
    StreamPath path(options);
    std::copy(start.begin(), start.end(), path.m_streams.begin());
    path.m_isFilled.front() = 1;
    for (std::size_t item = 0; item < options.weights.size(); ++item)
        ENGINE_TRY_DO(path.step(static_cast<int>(item), run));
    path.m_before = {};
    path.m_ran = {};
    return path;
}

/// Cell 0 is the full model, which all others are compared with; of the others those that can
/// still reach the least weight.
bool StreamPath::isWanted(int item, int weight) const {
    return weight == 0 || weight + m_after[index(item)] >= m_options.least;
}

Result<void> StreamPath::step(int item, const RunItem& run) {
    m_ran.clear();
    std::vector<std::size_t> places(m_isFilled.size(), 0); // of a filled cell in m_ran
    for (int weight = 0; weight <= most(); ++weight) {
        if (!isFilled(weight))
            continue;
        places[index(weight)] = m_ran.size();
        const std::span<const double> stream = cell(m_streams, weight);
        m_ran.insert(m_ran.end(), stream.begin(), stream.end());
    }
    ENGINE_TRY_DO(run(item, m_ran));

    const int saved = m_options.weights[index(item)];
    const std::vector<std::uint8_t> wasFilled = m_isFilled;
    std::swap(m_before, m_streams);
    m_streams.resize(m_before.size());
    const std::span<const double> ran(m_ran);
    const std::span<const double> full = ran.first(m_width);
    std::vector<std::uint8_t>& skips =
        m_skips.emplace_back(std::vector<std::uint8_t>(m_isFilled.size(), 0));
    for (int weight = 0; weight <= most(); ++weight) {
        const std::size_t at = index(weight);
        const bool canRun = wasFilled[at] != 0;
        const bool canSkip = saved > 0 && weight >= saved && wasFilled[index(weight - saved)] != 0;
        m_isFilled[at] = isWanted(item, weight) && (canRun || canSkip) ? 1 : 0;
        if (m_isFilled[at] == 0)
            continue;
        std::span<const double> best;
        double loss = 0.0;
        if (canRun) {
            best = ran.subspan(places[at], m_width);
            loss = weight == 0 ? 0.0 : streamLoss(full, best, m_options.rows);
        }
        if (canSkip) {
            const std::span<const double> left = cell(m_before, weight - saved);
            const double leftLoss = streamLoss(full, left, m_options.rows);
            if (!canRun || leftLoss < loss) {
                best = left;
                loss = leftLoss;
                skips[at] = 1;
            }
        }
        m_losses[at] = loss;
        std::copy(best.begin(), best.end(), cell(m_streams, weight).begin());
    }
    return {};
}

std::vector<std::uint8_t> StreamPath::skipped(int weight) const {
    ENGINE_CHECK(weight >= 0 && weight <= most() && isFilled(weight),
                 "no path leaves out a weight of {}",
                 weight);
    std::vector<std::uint8_t> found(m_skips.size(), 0);
    for (std::size_t item = m_skips.size(); item-- > 0;) {
        found[item] = m_skips[item][index(weight)];
        if (found[item] != 0)
            weight -= m_options.weights[item];
    }
    return found;
}

} // namespace engine
