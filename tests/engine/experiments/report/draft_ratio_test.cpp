// SPDX-License-Identifier: Apache-2.0
// Where drafts have no r, a report shows no c = 1 - r and says why.
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

const std::string kWhy = "r is the share of the layers that drafts leave out";

/// The table of a run whose answers of `swift` have this r.
ResultTable tableWith(std::optional<double> ratio) {
    SampleRun run;
    run.add({"math"}, 2, {kSwift});
    for (ShardAnswer& answer : run.shards[0].answers)
        if (answer.variant == "swift")
            answer.draftRatio = ratio;
    run.recipe.tables = {
        tableOf("variant", {"c_measured", "c_by_ratio", "expected_by_ratio"}, {"swift"})};
    return run.result().tables.at(0);
}

} // namespace

class DraftRatioTest : public QObject {
    Q_OBJECT

private slots:
    void draftsWithARatioHaveBothCosts();
    void draftsWithoutARatioHaveTheMeasuredCostAlone();
};

void DraftRatioTest::draftsWithARatioHaveBothCosts() {
    const ResultTable table = tableWith(0.1);
    QCOMPARE(table.rows.size(), std::size_t{1});
    QCOMPARE(table.rows[0][1].text, std::string(".50"));
    QCOMPARE(table.rows[0][2].text, std::string(".90"));
    QVERIFY(table.note.find(kWhy) == std::string::npos);
}

/// As those of auto. Above 1 was written of them before they had none.
void DraftRatioTest::draftsWithoutARatioHaveTheMeasuredCostAlone() {
    for (const std::optional<double> ratio : {std::optional<double>(), {1.07}}) {
        const ResultTable table = tableWith(ratio);
        QCOMPARE(table.rows[0][1].text, std::string(".50"));
        QCOMPARE(table.rows[0][2].text, std::string("–"));
        QCOMPARE(table.rows[0][3].text, std::string("–"));
        QVERIFY(table.note.find(kWhy) != std::string::npos);
    }
}

QTEST_GUILESS_MAIN(DraftRatioTest)
#include "draft_ratio_test.moc"
