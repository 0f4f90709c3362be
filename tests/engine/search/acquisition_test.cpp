// SPDX-License-Identifier: Apache-2.0
#include "engine/search/bayesian/acquisition.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace engine;

namespace {

using Point = std::vector<double>;

/// A process that has learned an additive score, a little bent, at random sets of `skipped`.
GaussianProcess learnedProcess(int dims, int skipped, int points, std::uint64_t seed) {
    SearchRandom random(seed);
    const Point gains = random.uniformPoint(dims);
    const SkipBudget budget = SkipBudget::unit(dims, skipped);
    GaussianProcess process;
    for (int i = 0; i < points; ++i) {
        const auto bits = budget.select(random.order(dims));
        double score = 0.0;
        for (std::size_t j = 0; j < bits.size(); ++j)
            score += bits[j] != 0 ? gains[j] : 0.0;
        process.add(Point(bits.begin(), bits.end()), std::tanh(score / skipped));
    }
    if (!process.fitLengthScale(seed, {}))
        qFatal("the length scale was not fitted");
    return process;
}

double boundAt(const Acquisition& acquisition, const Point& point) {
    const Posterior posterior = acquisition.process.posterior(point);
    return posterior.mean + acquisition.kappa * posterior.std;
}

/// The highest bound over all sets of `dims` that `isAllowed` lets pass.
template <typename Allowed>
double bestOfAllSets(const Acquisition& acquisition, int dims, Allowed isAllowed) {
    double best = -1e300;
    for (unsigned number = 0; number < (1U << static_cast<unsigned>(dims)); ++number) {
        Point point;
        for (unsigned i = 0; i < static_cast<unsigned>(dims); ++i)
            point.push_back((number >> i) & 1U);
        if (isAllowed(point))
            best = std::max(best, boundAt(acquisition, point));
    }
    return best;
}

double spentAt(const SkipBudget& budget, const Point& point) {
    double spent = 0.0;
    for (std::size_t i = 0; i < point.size(); ++i)
        spent += point[i] * budget.costs[i];
    return spent;
}

} // namespace

class AcquisitionTest : public QObject {
    Q_OBJECT

private slots:
    void theBoxMaximumBeatsRandomPoints();
    void theSetMaximumBeatsRandomSets();
    void theSetMaximumIsTheBestOfAllSets();
    void swapsKeepABudgetOfBytes();
    void flipsFindTheBestOfAllSubsets();
    void aStopCancelsBothMaximisers();
};

void AcquisitionTest::theBoxMaximumBeatsRandomPoints() {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const GaussianProcess process = learnedProcess(40, 18, 30, seed);
        const SkipBudget budget = SkipBudget::unit(40, 18);
        const Acquisition acquisition{.process = process, .budget = budget};
        SearchRandom random(seed);
        const auto found = maximiseInTheBox(acquisition, random);
        QVERIFY(found.hasValue());
        const Point& point = found.value().point;
        QVERIFY(std::abs(found.value().value - boundAt(acquisition, point)) < 1e-12);
        for (const double coordinate : point)
            QVERIFY(coordinate >= 0.0 && coordinate <= 1.0);
        SearchRandom others(seed + 100);
        for (int i = 0; i < 5000; ++i)
            QVERIFY(boundAt(acquisition, others.uniformPoint(40)) <= found.value().value);
        for (int i = 0; i < process.size(); ++i)
            QVERIFY(boundAt(acquisition, {process.point(i).begin(), process.point(i).end()}) <=
                    found.value().value);
    }
}

void AcquisitionTest::theSetMaximumBeatsRandomSets() {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const GaussianProcess process = learnedProcess(40, 18, 30, seed);
        const SkipBudget budget = SkipBudget::unit(40, 18);
        const Acquisition acquisition{.process = process, .budget = budget};
        SearchRandom random(seed);
        const auto found = maximiseOverSets(acquisition, random);
        QVERIFY(found.hasValue());
        const Point& point = found.value().point;
        QVERIFY(std::abs(found.value().value - boundAt(acquisition, point)) < 1e-9);
        QCOMPARE(std::count(point.begin(), point.end(), 1.0), 18);
        QCOMPARE(std::count(point.begin(), point.end(), 0.0), 22);
        SearchRandom others(seed + 100);
        for (int i = 0; i < 5000; ++i) {
            const auto bits = budget.select(others.order(40));
            QVERIFY(boundAt(acquisition, {bits.begin(), bits.end()}) <= found.value().value);
        }
    }
}

void AcquisitionTest::theSetMaximumIsTheBestOfAllSets() {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const GaussianProcess process = learnedProcess(14, 6, 12, seed);
        const SkipBudget budget = SkipBudget::unit(14, 6);
        const Acquisition acquisition{.process = process, .budget = budget};
        SearchRandom random(seed);
        const auto found = maximiseOverSets(acquisition, random);
        const double best = bestOfAllSets(acquisition, 14, [](const Point& point) {
            return std::count(point.begin(), point.end(), 1.0) == 6;
        });
        QVERIFY(std::abs(found.value().value - best) < 1e-9);
    }
}

void AcquisitionTest::swapsKeepABudgetOfBytes() {
    // What costs most is worth most, so that every climb runs into the budget.
    SkipBudget budget{std::vector<double>(30, 37.0), 1000.0};
    std::fill(budget.costs.begin() + 15, budget.costs.end(), 113.0);
    SearchRandom random(1);
    GaussianProcess process;
    for (int i = 0; i < 40; ++i) {
        const auto bits = budget.select(random.order(30));
        process.add(Point(bits.begin(), bits.end()),
                    double(std::count(bits.begin() + 15, bits.end(), 1)));
    }
    QVERIFY(process.fitLengthScale(1, {}).hasValue());
    const Acquisition acquisition{.process = process, .budget = budget};
    const auto found = maximiseOverSets(acquisition, random);
    const Point& point = found.value().point;
    QVERIFY(spentAt(budget, point) <= 1000.0);
    QVERIFY(std::count(point.begin() + 15, point.end(), 1.0) >= 7); // 8 would be all that fit
}

void AcquisitionTest::flipsFindTheBestOfAllSubsets() {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const GaussianProcess process = learnedProcess(12, 5, 15, seed);
        const SkipBudget budget = SkipBudget::unit(12, 0);
        const Acquisition acquisition{.process = process, .budget = budget, .isRatioFree = true};
        SearchRandom random(seed);
        const auto found = maximiseOverSets(acquisition, random);
        const double best = bestOfAllSets(acquisition, 12, [](const Point&) { return true; });
        QVERIFY(std::abs(found.value().value - best) < 1e-9);
    }
}

void AcquisitionTest::aStopCancelsBothMaximisers() {
    const GaussianProcess process = learnedProcess(20, 8, 10, 1);
    const SkipBudget budget = SkipBudget::unit(20, 8);
    std::stop_source source;
    source.request_stop();
    const Acquisition acquisition{.process = process, .budget = budget, .stop = source.get_token()};
    SearchRandom random(1);
    for (const auto maximise : {maximiseInTheBox, maximiseOverSets}) {
        const auto found = maximise(acquisition, random);
        QVERIFY(!found.hasValue());
        QCOMPARE(found.error().code, ErrorCode::Cancelled);
    }
}

QTEST_APPLESS_MAIN(AcquisitionTest)
#include "acquisition_test.moc"
