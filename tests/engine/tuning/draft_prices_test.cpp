// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/result/draft_prices.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/tiny_adapter.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

DraftPrices pricesOf(double draft, double two, double three, double four) {
    return {.plainMs = 10.0, .draft = draft, .rows = {two, three, four}, .rounds = 9};
}

/// E of drafts with the same acceptance at every depth.
double written(double acceptance, int drafted) {
    double sum = 0.0;
    for (int depth = 0; depth <= drafted; ++depth)
        sum += std::pow(acceptance, depth);
    return sum;
}

} // namespace

/// What drafting costs, and from which acceptance on it pays.
class DraftPricesTest : public QObject {
    Q_OBJECT

private slots:

    void aRoundCostsItsDraftsAndItsCheck() {
        const DraftPrices prices = pricesOf(0.055, 1.12, 1.2, 1.3);
        QCOMPARE(prices.round(1), 0.055 + 1.12);
        QCOMPARE(prices.round(3), 3 * 0.055 + 1.3);
    }

    void atTheBreakEvenARoundWritesWhatItCosts_data() {
        QTest::addColumn<double>("draft");
        QTest::addColumn<QList<double>>("rows");
        QTest::addColumn<int>("drafted");
        QTest::newRow("rows that are dear: short drafts first")
            << 0.055 << QList<double>{1.12, 1.5, 2.0} << 1;
        QTest::newRow("rows that are cheap: long drafts first")
            << 0.01 << QList<double>{1.5, 1.51, 1.52} << 3;
        QTest::newRow("between") << 0.05 << QList<double>{1.3, 1.32, 1.9} << 2;
    }

    void atTheBreakEvenARoundWritesWhatItCosts() {
        QFETCH(const double, draft);
        QFETCH(const QList<double>, rows);
        QFETCH(const int, drafted);
        const DraftPrices prices = pricesOf(draft, rows[0], rows[1], rows[2]);
        const auto even = breakEvenOf(prices);
        QVERIFY(even.has_value());
        QCOMPARE(even->drafted, drafted);
        QVERIFY(std::abs(written(even->acceptance, drafted) - prices.round(drafted)) < 1e-9);
        for (const int other : {1, 2, 3}) // below it no length pays
            QVERIFY(written(even->acceptance - 1e-6, other) < prices.round(other));
    }

    void whereARoundCostsTooMuchNothingPays() {
        QVERIFY(!breakEvenOf(pricesOf(1.0, 1.5, 2.5, 3.5)).has_value());
        QCOMPARE(breakEvenOf(pricesOf(0.5, 1.5, 3.0, 4.0))->acceptance, 1.0);
    }

    void freeDraftsPayFromTheFirst() {
        QVERIFY(breakEvenOf(pricesOf(0.0, 1.0, 1.0, 1.0))->acceptance < 1e-9);
    }

    void aPassOfMoreRowsThatIsCheaperIsNotBelieved() {
        QVERIFY(areCredible(pricesOf(0.05, 1.1, 1.2, 1.3)));
        QVERIFY(areCredible(pricesOf(0.05, 1.0, 1.0, 0.98))); // rows may cost nothing
        QVERIFY(!areCredible(pricesOf(0.05, 0.7, 1.3, 1.6)));
        QVERIFY(!areCredible(pricesOf(0.05, 1.5, 1.2, 1.6)));
        QVERIFY(!areCredible(pricesOf(0.05, 1.1, 1.6, 1.3)));
        QVERIFY(!areCredible(pricesOf(0.0, 1.1, 1.2, 1.3)));
    }

    void aClockThatStandsStillTellsNothing() {
        const auto model = support::layeredModel(2, 7);
        const auto draft = support::makeDrafting(
            *model, support::makeAdapter(model->config(), support::AdapterKind::Random, 1));
        const auto prices = measurePrices(*model, *draft, [] { return 7.0; }, {});
        QVERIFY(!prices.hasValue());
        QCOMPARE(prices.error().code, ErrorCode::Unsupported);
    }

    /// Each look at the clock takes a millisecond: then three drafted tokens take as long as a
    /// pass.
    void pricesAreThoseOfTheClock() {
        const auto model = support::layeredModel(2, 7);
        const auto draft = support::makeDrafting(
            *model, support::makeAdapter(model->config(), support::AdapterKind::Random, 1));
        double ms = 0.0;
        const auto prices = measurePrices(*model, *draft, [&] { return ms += 1.0; }, {});
        QVERIFY2(prices.hasValue(), prices ? "" : prices.error().message.c_str());
        QCOMPARE(prices.value().plainMs, 1.0);
        QCOMPARE(prices.value().draft, 1.0 / 3.0);
        QCOMPARE(prices.value().rows, (std::array{1.0, 1.0, 1.0}));
        QCOMPARE(prices.value().rounds, 30);
    }

    void aSlowModelIsMeasuredLessOften() {
        const auto model = support::layeredModel(2, 7);
        const auto draft = support::makeDrafting(
            *model, support::makeAdapter(model->config(), support::AdapterKind::Random, 1));
        double ms = 0.0;
        const auto prices = measurePrices(*model, *draft, [&] { return ms += 100.0; }, {});
        QVERIFY(prices.hasValue());
        QCOMPARE(prices.value().rounds, 5);
    }

    void aStopEndsIt() {
        const auto model = support::layeredModel(2, 7);
        const auto draft = support::makeDrafting(
            *model, support::makeAdapter(model->config(), support::AdapterKind::Random, 1));
        std::stop_source source;
        source.request_stop();
        const auto stopped = measurePrices(
            *model, *draft, [] { return 0.0; }, source.get_token());
        QVERIFY(!stopped.hasValue());
        QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    }

    void anAdapterOfThatSizeCanBeMeasured() {
        const auto model = support::layeredModel(2, 7);
        const DraftSizes sizes =
            support::makeAdapter(model->config(), support::AdapterKind::Random, 1).sizes;
        const DraftAdapter adapter = adapterToMeasure(sizes, 10);
        QCOMPARE(adapter.headIds.size(), std::size_t{10});
        const auto draft = makeDraftModel(*model, adapter);
        QVERIFY2(draft.hasValue(), draft ? "" : draft.error().message.c_str());
        double ms = 0.0;
        QVERIFY(measurePrices(*model, *draft.value(), [&] { return ms += 1.0; }, {}).hasValue());
    }
};

QTEST_GUILESS_MAIN(DraftPricesTest)
#include "draft_prices_test.moc"
