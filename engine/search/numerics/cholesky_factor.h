// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace engine {

/// The lower triangle L with L L^T = A of a symmetric positive definite matrix A that grows by a
/// row and a column at a time. A row depends only on the rows before it, so a factor that has grown
/// is bit for bit the same as one computed at once. A copy costs size^2 / 2 numbers.
class CholeskyFactor {
public:
    int size() const { return m_size; }

    /// Appends a row of A up to its diagonal, [size + 1] numbers. False, and nothing changed, when
    /// the matrix would no longer be positive definite in double arithmetic. O(size^2).
    [[nodiscard]] bool append(std::span<const double> row);

    /// Overwrites b with the x that solves L x = b. Shapes: [size].
    void solveLower(std::span<double> values) const;

    /// Overwrites b with the x that solves L^T x = b. Shapes: [size].
    void solveUpper(std::span<double> values) const;

    /// Natural logarithm of the determinant of A.
    double logDeterminant() const;

    /// The lower triangle of the inverse of A, row by row: (i, j), j <= i, at i (i + 1) / 2 + j.
    std::vector<double> inverse() const;

private:
    std::span<const double> row(int index) const {
        const auto i = static_cast<std::size_t>(index);
        return std::span(m_rows).subspan(i * (i + 1) / 2, i + 1);
    }

    int m_size = 0;
    std::vector<double> m_rows; // row i after row i - 1, i + 1 numbers
};

} // namespace engine
