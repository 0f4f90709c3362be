// SPDX-License-Identifier: Apache-2.0
// Names in reports: those of the user's data are not ours to rewrite, and rows are told apart by
// them.
#include "engine/experiments/report/compare_results.h"
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

/// The first cells of a table.
std::vector<std::string> headsOf(const ResultTable& table) {
    std::vector<std::string> heads;
    for (const auto& row : table.rows)
        heads.push_back(row.front().text);
    return heads;
}

/// The heads of a table with a row for each of these tasks.
std::vector<std::string> labelsOf(const std::vector<std::string>& tasks) {
    SampleRun run;
    run.add(tasks, 1, {kSwift});
    run.recipe.tables = {tableOf("task", {"M"}, {"swift"})};
    return headsOf(run.result().tables.at(0));
}

/// A result with a row for each name and number.
ExperimentResult resultOf(const std::vector<std::pair<std::string, double>>& rows) {
    ExperimentResult result;
    result.recipe = "sample";
    ResultTable table;
    table.id = "main";
    table.title = "Main";
    table.columns = {"Task", "M"};
    for (const auto& [name, value] : rows)
        table.rows.push_back(
            {{name}, {fmt::format("{:.2f}", value), Estimate{value, value - 0.1, value + 0.1, 9}}});
    result.tables = {table};
    return result;
}

} // namespace

class ReportNamesTest : public QObject {
    Q_OBJECT

private slots:

    void tasksAreCalledWhatTheDataCallsThem() {
        QCOMPARE(
            labelsOf({"no_context", "a@b", "del", "space=1 x", "long_context_qa"}),
            (std::vector<std::string>{"No context", "A@b", "Del", "Space=1 x", "Long context qa"}));
    }

    void tasksThatWouldReadAlikeKeepTheirNames() {
        QCOMPARE(labelsOf({"a_b", "a b", "c_d"}), (std::vector<std::string>{"a_b", "a b", "C d"}));
    }

    void aTaskInTheNameOfAVariantIsNotRewritten() {
        SampleRun run;
        SampleVariant variant = kSwift;
        variant.name = "swift of del";
        variant.setTask = "del";
        run.add({"del", "code"}, 1, {variant});
        run.recipe.tables = {tableOf("variant", {"M"}, {"swift of del"})};
        QCOMPARE(headsOf(run.result().tables.at(0)), std::vector<std::string>{"SWIFT of del"});
    }

    void variantsThatWouldReadAlikeKeepTheirNames() {
        SampleRun run;
        SampleVariant first = kSwift;
        first.name = "my_way";
        SampleVariant second = kSwift;
        second.name = "my way";
        run.add({"math"}, 1, {first, second});
        run.recipe.tables = {tableOf("variant", {"M"}, {"my_way", "my way"})};
        QCOMPARE(headsOf(run.result().tables.at(0)),
                 (std::vector<std::string>{"my_way", "my way"}));
    }

    /// As the results of earlier versions have them.
    void rowsOfOneNameAreComparedInTheirOrder() {
        const auto compared = compareResults(resultOf({{"A b", 2.0}, {"A b", 4.0}, {"C", 3.0}}),
                                             resultOf({{"A b", 2.0}, {"C", 3.0}, {"A b", 5.0}}));
        QVERIFY(compared.hasValue());
        std::vector<std::string> ratios;
        for (const auto& row : compared.value().tables.at(0).rows)
            ratios.push_back(row.at(4).text);
        QCOMPARE(ratios, (std::vector<std::string>{"1.000", "1.250", "1.000"}));
        QVERIFY(compared.value().notes.empty());
    }

    /// As "Draft" of two measures.
    void columnsOfOneHeadingAreComparedInTheirOrder() {
        ExperimentResult before = resultOf({{"A", 2.0}});
        ResultTable& table = before.tables.at(0);
        table.columns.push_back(table.columns.back());
        table.rows[0].push_back({"4", Estimate{4.0, 3.0, 5.0, 9}});
        ExperimentResult after = before;
        after.tables[0].rows[0].back() = {"5", Estimate{5.0, 4.0, 6.0, 9}};
        const auto compared = compareResults(before, after);
        QVERIFY(compared.hasValue());
        const auto& rows = compared.value().tables.at(0).rows;
        QCOMPARE(rows.size(), std::size_t{2});
        QCOMPARE(rows[0].at(4).text, std::string("1.000"));
        QCOMPARE(rows[1].at(4).text, std::string("1.250"));
    }

    void whatOneResultAloneHasIsNamed() {
        const ExperimentResult before = resultOf({{"A", 2.0}});
        ExperimentResult after = before;
        after.tables[0].columns.back() = "Renamed";
        ResultTable more = before.tables[0];
        more.id = "more";
        more.title = "More";
        after.tables.push_back(more);
        const auto compared = compareResults(before, after);
        QVERIFY(compared.hasValue());
        QCOMPARE(compared.value().notes,
                 (std::vector<std::string>{"Only B has the table \"More\".",
                                           fmt::format("Only A has the column \"{}\" of \"Main\".",
                                                       before.tables[0].columns.back()),
                                           "Only B has the column \"Renamed\" of \"Main\"."}));
        QCOMPARE(compareResults(after, before).value().notes.front(),
                 std::string("Only A has the table \"More\"."));
    }

    void rowsThatCannotBeToldApartAreNotCompared() {
        const auto compared = compareResults(resultOf({{"A b", 2.0}, {"A b", 4.0}, {"C", 3.0}}),
                                             resultOf({{"A b", 4.0}, {"C", 3.0}}));
        QVERIFY(compared.hasValue());
        QCOMPARE(headsOf(compared.value().tables.at(0)), std::vector<std::string>{"C"});
        QCOMPARE(
            compared.value().notes,
            std::vector<std::string>{"A has 2 and B has 1 rows \"A b\" of \"Main\", so they are "
                                     "not compared."});
    }
};

QTEST_APPLESS_MAIN(ReportNamesTest)
#include "report_names_test.moc"
