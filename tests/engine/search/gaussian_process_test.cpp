// SPDX-License-Identifier: Apache-2.0
#include "engine/search/bayesian/gaussian_process.h"
#include "engine/search/numerics/search_random.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace engine;

namespace {

constexpr double kPi = 3.14159265358979323846;

double kernel(double distance, double length) {
    const double s = std::sqrt(5.0) * distance / length;
    return (1.0 + s + s * s / 3.0) * std::exp(-s);
}

bool isNear(double found, double wanted, double tolerance = 1e-12) {
    if (std::abs(found - wanted) <= tolerance)
        return true;
    qWarning("found %.17g instead of %.17g", found, wanted);
    return false;
}

GaussianProcess randomProcess(int points, int dims, std::uint64_t seed) {
    SearchRandom random(seed);
    GaussianProcess process;
    process.setLengthScale(1.7);
    for (int i = 0; i < points; ++i)
        process.add(random.uniformPoint(dims), random.uniform());
    return process;
}

using Point = std::vector<double>;

} // namespace

class GaussianProcessTest : public QObject {
    Q_OBJECT

private slots:
    void onePointMatchesTheClosedForm();
    void twoPointsMatchTheClosedForm();
    void equalTargetsCountAsDeviationOne();
    void repeatedPointsShareTheirNoise();
    void noiselessRepeatsAreBornByJitter();
    void theLikelihoodGradientMatchesDifferences();
    void theBoundGradientMatchesDifferences();
    void aGrownFactorEqualsOneFromScratch();
    void fittingFindsTheBestOfAGrid();
    void fittingStopsWhenAsked();
    void newestAndBestPointsAreKept();
    void forgettingLeavesAProcessOfTheRest();
    void numbersThatAreNotFiniteAreBugs();
};

void GaussianProcessTest::onePointMatchesTheClosedForm() {
    GaussianProcess process;
    process.add(Point{0.0, 0.0}, 0.75);
    const double k = kernel(5.0, 1.0);
    const Posterior far = process.posterior(Point{3.0, 4.0});
    QVERIFY(isNear(far.mean, 0.75)); // the normalised target is 0
    QVERIFY(isNear(far.std, std::sqrt(1.0 - k * k / 1.01)));
    QVERIFY(isNear(process.posterior(Point{0.0, 0.0}).std, std::sqrt(1.0 - 1.0 / 1.01)));
    const Likelihood likelihood = process.logMarginalLikelihood(1.0);
    QVERIFY(isNear(likelihood.value, -0.5 * std::log(2.0 * kPi * 1.01)));
    QCOMPARE(likelihood.gradientByLogLengthScale, 0.0);
}

void GaussianProcessTest::twoPointsMatchTheClosedForm() {
    // Targets 1 and 3: mean 2, deviation 1, normalised -1 and 1. The covariance [[a, k], [k, a]]
    // has the inverse [[a, -k], [-k, a]] / (a^2 - k^2), so the weights are -/+ 1 / (a - k).
    constexpr double kLength = 2.0;
    GaussianProcess process;
    process.setLengthScale(kLength);
    process.add(Point{0.0}, 1.0);
    process.add(Point{1.0}, 3.0);
    const double a = 1.01;
    const double k = kernel(1.0, kLength);
    const double toFirst = kernel(0.4, kLength);
    const double toSecond = kernel(0.6, kLength);
    const Posterior found = process.posterior(Point{0.4});
    QVERIFY(isNear(found.mean, 2.0 + (toSecond - toFirst) / (a - k)));
    const double explained =
        (a * (toFirst * toFirst + toSecond * toSecond) - 2.0 * k * toFirst * toSecond) /
        (a * a - k * k);
    QVERIFY(isNear(found.std, std::sqrt(1.0 - explained)));
    // y^T K^-1 y = 2 / (a - k).
    QVERIFY(isNear(process.logMarginalLikelihood(kLength).value,
                   -1.0 / (a - k) - 0.5 * std::log(a * a - k * k) - std::log(2.0 * kPi)));
}

void GaussianProcessTest::equalTargetsCountAsDeviationOne() {
    GaussianProcess process;
    for (const double at : {0.0, 1.0, 2.0})
        process.add(Point{at}, 0.1); // 3 times .1 is not .3 in doubles
    QVERIFY(isNear(process.posterior(Point{100.0}).std, 1.0));
    QVERIFY(isNear(process.posterior(Point{0.5}).mean, 0.1));
}

void GaussianProcessTest::repeatedPointsShareTheirNoise() {
    GaussianProcess process;
    for (int i = 0; i < 10; ++i)
        process.add(Point{1.0, 0.0}, i % 2 == 0 ? 0.4 : 0.6);
    // Ten observations of one number: variance noise / (10 + noise), deviation of the targets .1.
    QVERIFY(isNear(process.posterior(Point{1.0, 0.0}).std, 0.1 * std::sqrt(0.01 / 10.01), 1e-9));
    QVERIFY(isNear(process.posterior(Point{1.0, 0.0}).mean, 0.5));
}

void GaussianProcessTest::noiselessRepeatsAreBornByJitter() {
    GaussianProcessOptions options;
    options.noise = 0.0;
    GaussianProcess process(options);
    for (int i = 0; i < 4; ++i)
        process.add(Point{0.5}, 0.2);
    process.add(Point{0.9}, 0.7);
    QVERIFY(isNear(process.posterior(Point{0.5}).mean, 0.2, 1e-6));
    QVERIFY(isNear(process.posterior(Point{0.9}).mean, 0.7, 1e-6));
    QVERIFY(std::isfinite(process.logMarginalLikelihood(1.0).gradientByLogLengthScale));
}

void GaussianProcessTest::theLikelihoodGradientMatchesDifferences() {
    const GaussianProcess process = randomProcess(14, 6, 3);
    for (const double length : {0.1, 0.5, 1.0, 4.0, 30.0}) {
        constexpr double kStep = 1e-5;
        const double slope = (process.logMarginalLikelihood(length * std::exp(kStep)).value -
                              process.logMarginalLikelihood(length * std::exp(-kStep)).value) /
                             (2.0 * kStep);
        QVERIFY(
            isNear(process.logMarginalLikelihood(length).gradientByLogLengthScale, slope, 1e-6));
    }
}

void GaussianProcessTest::theBoundGradientMatchesDifferences() {
    const GaussianProcess process = randomProcess(14, 6, 4);
    SearchRandom random(9);
    std::vector<Point> places = {random.uniformPoint(6), random.uniformPoint(6)};
    places.emplace_back(process.point(3).begin(), process.point(3).end()); // the kernel's own top
    for (const Point& place : places) {
        Point gradient(6);
        Point ignored(6);
        const double value = process.ucb(place, 2.5, gradient);
        const Posterior posterior = process.posterior(place);
        QVERIFY(isNear(value, posterior.mean + 2.5 * posterior.std));
        for (std::size_t i = 0; i < 6; ++i) {
            constexpr double kStep = 1e-6;
            Point above = place;
            Point below = place;
            above[i] += kStep;
            below[i] -= kStep;
            const double slope =
                (process.ucb(above, 2.5, ignored) - process.ucb(below, 2.5, ignored)) /
                (2.0 * kStep);
            QVERIFY(isNear(gradient[i], slope, 1e-7));
        }
    }
}

void GaussianProcessTest::aGrownFactorEqualsOneFromScratch() {
    const GaussianProcess grown = randomProcess(40, 8, 6);
    GaussianProcess scratch = grown;
    scratch.setLengthScale(0.3);
    scratch.setLengthScale(1.7);
    const Point place = SearchRandom(1).uniformPoint(8);
    QCOMPARE(grown.posterior(place).mean, scratch.posterior(place).mean);
    QCOMPARE(grown.posterior(place).std, scratch.posterior(place).std);
}

void GaussianProcessTest::fittingFindsTheBestOfAGrid() {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SearchRandom random(seed);
        GaussianProcess process;
        for (int i = 0; i < 25; ++i) {
            const Point point = random.uniformPoint(3);
            process.add(point, std::sin(9.0 * point[0]) + point[1] * point[2]);
        }
        double best = -1e300;
        for (int i = 0; i <= 200; ++i)
            best = std::max(best,
                            process.logMarginalLikelihood(std::pow(10.0, -5.0 + i * 0.05)).value);
        QVERIFY(process.fitLengthScale(seed, {}).hasValue());
        const Likelihood found = process.logMarginalLikelihood(process.lengthScale());
        QVERIFY(found.value >= best - 1e-9);
        QVERIFY(std::abs(found.gradientByLogLengthScale) < 1e-3);
    }
}

void GaussianProcessTest::fittingStopsWhenAsked() {
    GaussianProcess process = randomProcess(20, 4, 8);
    std::stop_source source;
    source.request_stop();
    const auto fitted = process.fitLengthScale(1, source.get_token());
    QVERIFY(!fitted.hasValue());
    QCOMPARE(fitted.error().code, ErrorCode::Cancelled);
    QCOMPARE(process.lengthScale(), 1.7);
}

void GaussianProcessTest::newestAndBestPointsAreKept() {
    constexpr int kAdded = 400;
    GaussianProcess process;
    SearchRandom random(21);
    std::vector<double> targets;
    for (int i = 0; i < kAdded; ++i) {
        targets.push_back(random.uniform());
        process.add(Point{i * 0.01, random.uniform()}, targets.back());
    }
    QCOMPARE(process.size(), 256);
    std::vector<double> newest(targets.end() - 192, targets.end());
    std::vector<double> older(targets.begin(), targets.end() - 192);
    std::sort(older.begin(), older.end(), std::greater<>());
    older.resize(64);
    std::vector<double> kept;
    for (int i = 0; i < process.size(); ++i)
        kept.push_back(process.target(i));
    QVERIFY(std::equal(newest.begin(), newest.end(), kept.end() - 192));
    std::vector<double> keptOld(kept.begin(), kept.end() - 192);
    std::sort(keptOld.begin(), keptOld.end(), std::greater<>());
    QCOMPARE(keptOld, older);
    QCOMPARE(process.target(process.best(1).front()),
             *std::max_element(targets.begin(), targets.end()));
}

void GaussianProcessTest::forgettingLeavesAProcessOfTheRest() {
    GaussianProcessOptions options;
    options.maximumPoints = 5;
    options.newestKept = 3;
    GaussianProcess process(options);
    const std::vector<double> targets = {0.9, 0.1, 0.8, 0.2, 0.3, 0.4, 0.5};
    SearchRandom random(2);
    std::vector<Point> points;
    for (const double target : targets) {
        points.push_back(random.uniformPoint(3));
        process.add(points.back(), target);
    }
    GaussianProcess rest;
    for (const std::size_t kept : {0, 2, 4, 5, 6})
        rest.add(points[kept], targets[kept]);
    QCOMPARE(process.size(), 5);
    const Point place = random.uniformPoint(3);
    QCOMPARE(process.posterior(place).mean, rest.posterior(place).mean);
    QCOMPARE(process.posterior(place).std, rest.posterior(place).std);
}

void GaussianProcessTest::numbersThatAreNotFiniteAreBugs() {
    GaussianProcess process;
    process.add(Point{0.0, 0.0}, 1.0);
    QVERIFY_EXCEPTION_THROWN(process.add(Point{0.0, 1.0}, std::nan("")), EngineBug);
    QVERIFY_EXCEPTION_THROWN(process.add(Point{INFINITY, 1.0}, 0.5), EngineBug);
    QVERIFY_EXCEPTION_THROWN(process.add(Point{1.0}, 0.5), EngineBug);
    QCOMPARE(process.size(), 1);
}

QTEST_APPLESS_MAIN(GaussianProcessTest)
#include "gaussian_process_test.moc"
