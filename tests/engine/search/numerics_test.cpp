// SPDX-License-Identifier: Apache-2.0
#include "engine/search/numerics/box_maximiser.h"
#include "engine/search/numerics/cholesky_factor.h"
#include "engine/search/numerics/search_random.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace engine;

namespace {

/// A symmetric positive definite matrix, row by row.
std::vector<std::vector<double>> randomMatrix(int size, std::uint64_t seed) {
    SearchRandom random(seed);
    std::vector<std::vector<double>> parts;
    for (int i = 0; i < size; ++i)
        parts.push_back(random.uniformPoint(size));
    std::vector<std::vector<double>> matrix(parts.size(), std::vector<double>(parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i)
        for (std::size_t j = 0; j < parts.size(); ++j) {
            matrix[i][j] = i == j ? 0.5 : 0.0;
            for (std::size_t k = 0; k < parts.size(); ++k)
                matrix[i][j] += parts[i][k] * parts[j][k];
        }
    return matrix;
}

CholeskyFactor factorOf(const std::vector<std::vector<double>>& matrix) {
    CholeskyFactor factor;
    for (std::size_t i = 0; i < matrix.size(); ++i)
        if (!factor.append(std::span(matrix[i]).first(i + 1)))
            qFatal("the matrix is not positive definite");
    return factor;
}

double product(const std::vector<double>& row, const std::vector<double>& column) {
    double sum = 0.0;
    for (std::size_t i = 0; i < row.size(); ++i)
        sum += row[i] * column[i];
    return sum;
}

/// -sum of c_i (x_i - m_i)^2 and a cross term.
double valley(std::span<const double> point, std::span<double> gradient) {
    const double a = point[0] - 0.3;
    const double b = point[1] - 1.4;
    gradient[0] = -2.0 * a - 8.0 * (a + b);
    gradient[1] = -200.0 * b - 8.0 * (a + b);
    return -a * a - 100.0 * b * b - 4.0 * (a + b) * (a + b);
}

} // namespace

class NumericsTest : public QObject {
    Q_OBJECT

private slots:
    void factorsSolveTheirMatrix();
    void determinantsAndInversesMatchByHand();
    void indefiniteMatricesAreRefused();
    void climbsEndAtTheMaximumInside();
    void climbsEndAtTheMaximumOnTheEdge();
    void climbsFollowACurvedRidge();
    void stoppedClimbsAreCancelled();
    void weightedOrdersFollowTheWeights();
    void equalValuesComeInSeededOrder();
};

void NumericsTest::factorsSolveTheirMatrix() {
    for (const int size : {1, 2, 5, 23}) {
        const auto matrix = randomMatrix(size, 5);
        const CholeskyFactor factor = factorOf(matrix);
        const std::vector<double> wanted = SearchRandom(7).uniformPoint(size);
        std::vector<double> solved = wanted;
        factor.solveLower(solved);
        factor.solveUpper(solved);
        const std::vector<double> inverse = factor.inverse();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            QVERIFY(std::abs(product(matrix[i], solved) - wanted[i]) < 1e-10);
            double again = 0.0; // row i of the inverse times what was wanted
            for (std::size_t j = 0; j < wanted.size(); ++j)
                again += inverse[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * wanted[j];
            QVERIFY(std::abs(again - solved[i]) < 1e-10);
        }
    }
}

void NumericsTest::determinantsAndInversesMatchByHand() {
    const CholeskyFactor factor = factorOf({{4.0, 2.0}, {2.0, 3.0}});
    QVERIFY(std::abs(factor.logDeterminant() - std::log(8.0)) < 1e-14);
    const std::vector<double> inverse = factor.inverse(); // [[3, -2], [-2, 4]] / 8
    QVERIFY(std::abs(inverse[0] - 0.375) < 1e-15);
    QVERIFY(std::abs(inverse[1] + 0.25) < 1e-15);
    QVERIFY(std::abs(inverse[2] - 0.5) < 1e-15);
}

void NumericsTest::indefiniteMatricesAreRefused() {
    CholeskyFactor factor;
    QVERIFY(factor.append(std::vector<double>{1.0}));
    QVERIFY(!factor.append(std::vector<double>{2.0, 1.0}));
    QVERIFY(!factor.append(std::vector<double>{1.0, 1.0})); // singular
    QVERIFY(!factor.append(std::vector<double>{std::nan(""), 1.0}));
    QCOMPARE(factor.size(), 1);
    QVERIFY(factor.append(std::vector<double>{0.5, 1.0}));
}

void NumericsTest::climbsEndAtTheMaximumInside() {
    const auto found = maximiseInBox(valley, {0.9, 0.1}, {.lower = -5.0, .upper = 5.0});
    QVERIFY(found.hasValue());
    QVERIFY(std::abs(found.value().point[0] - 0.3) < 1e-4);
    QVERIFY(std::abs(found.value().point[1] - 1.4) < 1e-4);
}

void NumericsTest::climbsEndAtTheMaximumOnTheEdge() {
    // In the unit box the second coordinate sticks at 1: b = -.4, and a = 4 * .4 / 5 = .32.
    const auto found = maximiseInBox(valley, {7.0, -3.0}, {});
    QVERIFY(found.hasValue());
    QCOMPARE(found.value().point[1], 1.0);
    QVERIFY(std::abs(found.value().point[0] - 0.62) < 1e-4);
}

void NumericsTest::climbsFollowACurvedRidge() {
    // Rosenbrock's function turned upside down; its only maximum is 0 at (1, 1).
    const BoxFunction ridge = [](std::span<const double> at, std::span<double> gradient) {
        const double bend = at[1] - at[0] * at[0];
        gradient[0] = 400.0 * at[0] * bend + 2.0 * (1.0 - at[0]);
        gradient[1] = -200.0 * bend;
        return -100.0 * bend * bend - (1.0 - at[0]) * (1.0 - at[0]);
    };
    const BoxClimb climb{.lower = -2.0, .upper = 2.0, .iterations = 300};
    const auto found = maximiseInBox(ridge, {-1.2, 1.0}, climb);
    QVERIFY(found.hasValue());
    QVERIFY2(found.value().value > -1e-8, qPrintable(QString::number(found.value().value)));
}

void NumericsTest::stoppedClimbsAreCancelled() {
    std::stop_source source;
    int calls = 0;
    const BoxFunction stopping = [&](std::span<const double> at, std::span<double> gradient) {
        if (++calls == 3)
            source.request_stop();
        return valley(at, gradient);
    };
    const auto found = maximiseInBox(stopping, {0.9, 0.1}, {.stop = source.get_token()});
    QVERIFY(!found.hasValue());
    QCOMPARE(found.error().code, ErrorCode::Cancelled);
    QCOMPARE(calls, 3);
}

void NumericsTest::weightedOrdersFollowTheWeights() {
    SearchRandom random(11);
    const std::vector<double> weights = {0.0, 1.0, 3.0};
    int heavyFirst = 0;
    constexpr int kDraws = 4000;
    for (int i = 0; i < kDraws; ++i) {
        const std::vector<int> order = random.order(3, weights);
        QCOMPARE(order.back(), 0);
        heavyFirst += order.front() == 2 ? 1 : 0;
    }
    // Three in four; five standard deviations are .034.
    QVERIFY(std::abs(heavyFirst / double(kDraws) - 0.75) < 0.034);
}

void NumericsTest::equalValuesComeInSeededOrder() {
    const std::vector<double> values = {0.0, 1.0, 0.0, 1.0, 0.5, 0.0};
    std::set<std::vector<int>> seen;
    SearchRandom random(3);
    for (int i = 0; i < 400; ++i) {
        const std::vector<int> order = random.descending(values);
        QCOMPARE(order[2], 4);
        seen.insert(order);
    }
    QCOMPARE(seen.size(), std::size_t{12}); // 2 orders of the ones, 6 of the zeros
    QCOMPARE(SearchRandom(3).descending(values), SearchRandom(3).descending(values));
}

QTEST_APPLESS_MAIN(NumericsTest)
#include "numerics_test.moc"
