// SPDX-License-Identifier: Apache-2.0
#include "engine/search/bayesian/gaussian_process.h"
#include "tests/support/golden_tensors.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

constexpr double kTolerance = 1e-8;
constexpr double kKappa = 2.5;

std::vector<double> numbersOf(const QJsonValue& array) {
    std::vector<double> numbers;
    for (const QJsonValue number : array.toArray())
        numbers.push_back(number.toDouble());
    return numbers;
}

bool isNear(double found, double wanted) {
    if (std::abs(found - wanted) <= kTolerance)
        return true;
    qWarning("found %.17g instead of %.17g", found, wanted);
    return false;
}

QJsonArray allCases() {
    return support::readJsonObject(support::goldenPath("search/gp.json"))["cases"].toArray();
}

GaussianProcess processOf(const QJsonObject& golden) {
    GaussianProcessOptions options;
    const std::vector<double> bounds = numbersOf(golden["optimised"].toObject()["bounds"]);
    options.shortestLength = bounds[0];
    options.longestLength = bounds[1];
    GaussianProcess process(options);
    const std::vector<double> targets = numbersOf(golden["y"]);
    const QJsonArray points = golden["X"].toArray();
    for (int i = 0; i < points.size(); ++i)
        process.add(numbersOf(points[i]), targets[static_cast<std::size_t>(i)]);
    return process;
}

/// Compares mean, std and upper confidence bound at all queries.
bool matchesPosterior(const GaussianProcess& process,
                      const QJsonArray& queries,
                      const QJsonObject& wanted) {
    for (int i = 0; i < queries.size(); ++i) {
        const std::vector<double> query = numbersOf(queries[i]);
        std::vector<double> gradient(query.size());
        const Posterior found = process.posterior(query);
        if (!isNear(found.mean, wanted["mean"][i].toDouble()) ||
            !isNear(found.std, wanted["std"][i].toDouble()) ||
            !isNear(process.ucb(query, kKappa, gradient), wanted["ucb"][i].toDouble()))
            return false;
    }
    return true;
}

} // namespace

class GaussianProcessGoldenTest : public QObject {
    Q_OBJECT

private slots:
    void posteriorsMatchAtFixedLengthScales_data();
    void posteriorsMatchAtFixedLengthScales();

    void likelihoodsAndGradientsMatch_data() { posteriorsMatchAtFixedLengthScales_data(); }

    void likelihoodsAndGradientsMatch();

    void fittedLengthScalesAreAsLikely_data() { posteriorsMatchAtFixedLengthScales_data(); }

    void fittedLengthScalesAreAsLikely();
};

void GaussianProcessGoldenTest::posteriorsMatchAtFixedLengthScales_data() {
    QTest::addColumn<QJsonObject>("golden");
    if (!support::hasGoldenData())
        return;
    const QJsonArray cases = allCases();
    for (int i = 0; i < cases.size(); ++i)
        QTest::addRow("case %d, %s", i, qPrintable(cases[i]["kind"].toString()))
            << cases[i].toObject();
}

void GaussianProcessGoldenTest::posteriorsMatchAtFixedLengthScales() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    QFETCH(QJsonObject, golden);
    GaussianProcess process = processOf(golden);
    QVERIFY(!golden["fixed"].toArray().isEmpty());
    for (const QJsonValue fixed : golden["fixed"].toArray()) {
        process.setLengthScale(fixed["length_scale"].toDouble());
        QVERIFY(matchesPosterior(process, golden["Z"].toArray(), fixed.toObject()));
    }
}

void GaussianProcessGoldenTest::likelihoodsAndGradientsMatch() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    QFETCH(QJsonObject, golden);
    const GaussianProcess process = processOf(golden);
    QVERIFY(!golden["lml"].toArray().isEmpty());
    for (const QJsonValue wanted : golden["lml"].toArray()) {
        const Likelihood found = process.logMarginalLikelihood(wanted["length_scale"].toDouble());
        QVERIFY(isNear(found.value, wanted["value"].toDouble()));
        QVERIFY(isNear(found.gradientByLogLengthScale,
                       wanted["gradient_by_log_length_scale"].toDouble()));
    }
}

void GaussianProcessGoldenTest::fittedLengthScalesAreAsLikely() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    QFETCH(QJsonObject, golden);
    const QJsonObject optimised = golden["optimised"].toObject();
    const double bestKnown =
        std::max(optimised["lml"].toDouble(), golden["grid_best"].toObject()["lml"].toDouble());
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        GaussianProcess process = processOf(golden);
        QVERIFY(process.fitLengthScale(seed, {}).hasValue());
        const double found = process.logMarginalLikelihood(process.lengthScale()).value;
        QVERIFY2(found >= bestKnown - 1e-4,
                 qPrintable(QString("%1 instead of %2").arg(found).arg(bestKnown)));
        if (optimised["lml_drop_at_10_percent_off"].toDouble() > 1e-3)
            QVERIFY(std::abs(process.lengthScale() / optimised["length_scale"].toDouble() - 1.0) <
                    0.02);
    }
    GaussianProcess process = processOf(golden);
    process.setLengthScale(optimised["length_scale"].toDouble());
    QVERIFY(matchesPosterior(process, golden["Z"].toArray(), optimised));
}

QTEST_APPLESS_MAIN(GaussianProcessGoldenTest)
#include "gaussian_process_golden_test.moc"
