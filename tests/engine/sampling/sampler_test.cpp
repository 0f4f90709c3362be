// SPDX-License-Identifier: Apache-2.0
#include "engine/base/counter_random.h"
#include "engine/sampling/sampler.h"
#include "tests/support/golden_tensors.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace engine;

class SamplerTest : public QObject {
    Q_OBJECT

private slots:
    void argmaxTakesTheLowestOfEqualIds();
    void greedyNeedsNoSeed();
    void distributionsMatchTheGoldenData_data();
    void distributionsMatchTheGoldenData();
    void drawsFollowTheDistribution_data();
    void drawsFollowTheDistribution();
    void theSmallestTemperaturesTakeTheBest();
    void sameSeedAndPositionGiveTheSameToken();
    void positionsAndSeedsAreIndependent();
    void optionsOutsideTheirRangeAreRefused_data();
    void optionsOutsideTheirRangeAreRefused();
};

void SamplerTest::argmaxTakesTheLowestOfEqualIds() {
    const std::vector<double> logits = {1.0, 3.0, 3.0, 2.0};
    QCOMPARE(argmax(logits), 1);
}

void SamplerTest::greedyNeedsNoSeed() {
    const std::vector<double> logits = {0.1, 0.2, 5.0};
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        QCOMPARE(Sampler({.seed = seed}).choose(logits, 0), 2);
}

void SamplerTest::distributionsMatchTheGoldenData_data() {
    QTest::addColumn<int>("vector");
    QTest::addColumn<int>("setting");
    if (!support::hasGoldenData())
        return;
    const QJsonObject golden = support::readJsonObject(support::goldenPath("sampling/golden.json"));
    for (const QJsonValue vector : golden["vectors"].toArray())
        for (const QJsonValue result : vector["results"].toArray()) {
            const int index = vector["vector"].toInt();
            const int setting = result["setting"].toInt();
            QTest::addRow("vector %d, setting %d", index, setting) << index << setting;
        }
}

void SamplerTest::distributionsMatchTheGoldenData() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    QFETCH(int, vector);
    QFETCH(int, setting);
    static const support::GoldenTensors tensors(
        support::goldenPath("sampling/sampling.safetensors"));
    static const QJsonArray settings =
        support::readJsonObject(support::goldenPath("sampling/golden.json"))["settings"].toArray();
    const QJsonObject options = settings[setting].toObject();
    const Sampler sampler({.temperature = options["temperature"].toDouble(),
                           .topK = options["top_k"].toInt(),
                           .topP = options["top_p"].toDouble()});
    const Distribution found =
        sampler.distribution(tensors.numbers(QString("%1.logits").arg(vector)));
    const QString prefix = QString("%1.%2.").arg(vector).arg(setting);
    QCOMPARE(found.ids, tensors.integers(prefix + "ids"));
    const std::vector<double> expected = tensors.numbers(prefix + "p");
    for (std::size_t i = 0; i < expected.size(); ++i)
        QVERIFY2(std::abs(found.probabilities[i] - expected[i]) <= 1e-12,
                 qPrintable(QString("id %1: %2 instead of %3")
                                .arg(found.ids[i])
                                .arg(found.probabilities[i], 0, 'g', 17)
                                .arg(expected[i], 0, 'g', 17)));
}

void SamplerTest::drawsFollowTheDistribution_data() {
    QTest::addColumn<double>("temperature");
    QTest::addColumn<int>("topK");
    QTest::addColumn<double>("topP");
    QTest::newRow("plain") << 1.0 << 0 << 1.0;
    QTest::newRow("cool, top-k") << 0.7 << 12 << 1.0;
    QTest::newRow("warm, top-p") << 1.4 << 0 << 0.9;
}

void SamplerTest::drawsFollowTheDistribution() {
    QFETCH(double, temperature);
    QFETCH(int, topK);
    QFETCH(double, topP);
    const Sampler sampler(
        {.temperature = temperature, .topK = topK, .topP = topP, .seed = 20240917});
    std::vector<double> logits(32);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = 2.0 * std::sin(static_cast<double>(i) * 1.7);
    const Distribution law = sampler.distribution(logits);
    constexpr int kDraws = 200'000;
    std::vector<int> counts(logits.size(), 0);
    for (int position = 0; position < kDraws; ++position)
        ++counts[static_cast<std::size_t>(sampler.choose(logits, position))];
    double chiSquared = 0.0;
    int drawn = 0;
    for (std::size_t i = 0; i < law.ids.size(); ++i) {
        const double expected = law.probabilities[i] * kDraws;
        const int count = counts[static_cast<std::size_t>(law.ids[i])];
        chiSquared += (count - expected) * (count - expected) / expected;
        drawn += count;
    }
    QCOMPARE(drawn, kDraws); // nothing outside the law
    // 31 degrees of freedom: beyond 84.2 with probability 8e-7.
    QVERIFY2(chiSquared < 84.2, qPrintable(QString::number(chiSquared)));
}

void SamplerTest::theSmallestTemperaturesTakeTheBest() {
    const std::vector<double> logits = {-40.0, 25.0, 24.999, 3.0};
    for (const double temperature : {1e-6, 1e-300, 5e-324}) {
        const Sampler sampler({.temperature = temperature, .topP = 0.9, .seed = 3});
        QCOMPARE(sampler.distribution(logits).ids, (std::vector<TokenId>{1}));
        QCOMPARE(sampler.choose(logits, 0), 1);
    }
}

void SamplerTest::sameSeedAndPositionGiveTheSameToken() {
    const Sampler sampler({.temperature = 1.0, .seed = 7});
    const std::vector<double> logits = {0.3, 0.1, 0.2, 0.4, 0.0};
    std::vector<TokenId> forwards;
    std::vector<TokenId> backwards;
    for (int position = 0; position < 100; ++position)
        forwards.push_back(sampler.choose(logits, position));
    for (int position = 99; position >= 0; --position)
        backwards.insert(backwards.begin(), sampler.choose(logits, position));
    QCOMPARE(forwards, backwards);
}

void SamplerTest::positionsAndSeedsAreIndependent() {
    // Correlation of the noise across neighbouring keys; 4 sigma of 1 / sqrt(n).
    constexpr int kCount = 20'000;
    const auto correlation = [](auto&& other) {
        double sum = 0.0;
        for (int i = 0; i < kCount; ++i)
            sum += (counterUniform(1, static_cast<std::uint64_t>(i), 5) - 0.5) * (other(i) - 0.5);
        return sum / kCount * 12.0;
    };
    const double limit = 4.0 / std::sqrt(kCount);
    const auto at = [](int i) { return static_cast<std::uint64_t>(i); };
    QVERIFY(std::abs(correlation([&](int i) { return counterUniform(2, at(i), 5); })) < limit);
    QVERIFY(std::abs(correlation([&](int i) { return counterUniform(1, at(i + 1), 5); })) < limit);
    QVERIFY(std::abs(correlation([&](int i) { return counterUniform(1, at(i), 6); })) < limit);
}

void SamplerTest::optionsOutsideTheirRangeAreRefused_data() {
    QTest::addColumn<double>("temperature");
    QTest::addColumn<int>("topK");
    QTest::addColumn<double>("topP");
    QTest::addColumn<QString>("named");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QTest::newRow("top-p 0") << 1.0 << 0 << 0.0 << "Top-p";
    QTest::newRow("top-p above 1") << 1.0 << 0 << 1.1 << "Top-p";
    QTest::newRow("top-p no number") << 1.0 << 0 << nan << "Top-p";
    QTest::newRow("top-k below 0") << 1.0 << -1 << 1.0 << "Top-k";
    QTest::newRow("temperature below 0") << -0.1 << 0 << 1.0 << "temperature";
    QTest::newRow("temperature no number") << nan << 0 << 1.0 << "temperature";
}

void SamplerTest::optionsOutsideTheirRangeAreRefused() {
    QFETCH(double, temperature);
    QFETCH(int, topK);
    QFETCH(double, topP);
    QFETCH(QString, named);
    const auto checked =
        SamplingOptions{.temperature = temperature, .topK = topK, .topP = topP}.validate();
    QVERIFY(!checked);
    QVERIFY(QString::fromStdString(checked.error().message).contains(named));
}

QTEST_GUILESS_MAIN(SamplerTest)
#include "sampler_test.moc"
