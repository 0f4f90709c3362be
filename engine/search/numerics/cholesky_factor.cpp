// SPDX-License-Identifier: Apache-2.0
#include "engine/search/numerics/cholesky_factor.h"

#include "engine/base/result.h"
#include "engine/search/numerics/vector_math.h"

#include <cmath>

namespace engine {

namespace {

/// A pivot below this share of its diagonal is rounding noise, whatever its sign.
constexpr double kLeastPivotPart = 1e-14;

} // namespace

bool CholeskyFactor::append(std::span<const double> values) {
    const auto count = static_cast<std::size_t>(m_size);
    ENGINE_CHECK(
        values.size() == count + 1, "a row of {} numbers behind {}", values.size(), m_size);
    std::vector<double> added(values.begin(), values.end());
    const std::span<double> head = std::span(added).first(count);
    solveLower(head);
    const double pivot = values.back() - dot(head, head);
    if (!(pivot > kLeastPivotPart * values.back()))
        return false;
    added.back() = std::sqrt(pivot);
    m_rows.insert(m_rows.end(), added.begin(), added.end());
    ++m_size;
    return true;
}

void CholeskyFactor::solveLower(std::span<double> values) const {
    for (int i = 0; i < m_size; ++i) {
        const auto count = static_cast<std::size_t>(i);
        const std::span<const double> factors = row(i);
        const double known = dot(values.first(count), factors.first(count));
        values[count] = (values[count] - known) / factors[count];
    }
}

void CholeskyFactor::solveUpper(std::span<double> values) const {
    for (int i = m_size - 1; i >= 0; --i) {
        const auto count = static_cast<std::size_t>(i);
        const std::span<const double> factors = row(i);
        values[count] /= factors[count];
        addScaled(values.first(count), -values[count], factors.first(count));
    }
}

double CholeskyFactor::logDeterminant() const {
    double sum = 0.0;
    for (int i = 0; i < m_size; ++i)
        sum += std::log(row(i).back());
    return 2.0 * sum;
}

std::vector<double> CholeskyFactor::inverse() const {
    const auto count = static_cast<std::size_t>(m_size);
    // Columns of the inverse of L, each in a row of its own: column j is 0 above j.
    std::vector<double> columns(count * count, 0.0);
    for (std::size_t j = 0; j < count; ++j) {
        const std::span<double> column = std::span(columns).subspan(j * count, count);
        column[j] = 1.0 / row(static_cast<int>(j))[j];
        for (std::size_t i = j + 1; i < count; ++i) {
            const std::span<const double> factors = row(static_cast<int>(i));
            column[i] = -dot(factors.subspan(j, i - j), column.subspan(j, i - j)) / factors[i];
        }
    }
    std::vector<double> result;
    result.reserve(count * (count + 1) / 2);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            result.push_back(dot(std::span(columns).subspan(i * count + i, count - i),
                                 std::span(columns).subspan(j * count + i, count - i)));
    return result;
}

} // namespace engine
