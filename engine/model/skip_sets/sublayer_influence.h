// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace engine {

/// How much each sublayer changes the residual stream: the mean over rows of |f(x)| / |x|, where x
/// is the stream that enters the sublayer and f(x) what it adds. Gathered from full passes, where
/// it costs next to nothing. Index: attention of layers 0 .. L-1, then their MLPs.
class SublayerInfluence {
public:
    /// Shapes: sums [2 * layers], over `rows` rows, as in ForwardResult::influence.
    void add(std::span<const double> sums, int rows) {
        if (m_sums.size() != sums.size()) {
            m_sums.assign(sums.size(), 0.0);
            m_rows = 0;
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            m_sums[i] += sums[i];
        m_rows += rows;
    }

    /// Rows seen so far.
    long rows() const { return m_rows; }

    /// [2 * layers]; empty before the first row.
    std::vector<double> means() const {
        std::vector<double> means = m_sums;
        for (double& mean : means)
            mean /= static_cast<double>(m_rows);
        return means;
    }

private:
    std::vector<double> m_sums;
    long m_rows = 0;
};

} // namespace engine
