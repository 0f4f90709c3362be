// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/compare_results.h"
#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/report/result_json.h"
#include "engine/experiments/report/write_report.h"
#include "engine/experiments/report/writers/escaped_text.h"
#include "engine/experiments/report/writers/pdf.h"
#include "engine/experiments/report/writers/svg.h"
#include "tests/support/file_content.h"
#include "tests/support/made_up_stream.h"
#include "tests/support/temporary_folder.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <sys/resource.h>

#include <csignal>

using namespace engine;
using test_support::MadeUpStream;
using test_support::TemporaryFolder;

namespace {

const std::string kHostile =
    "</pre><script>alert(\"1\")</script>&amp;'\x01\xff{}\\end{tabular}|`*_\n=1";

Estimate about(double value) { return {value, value - 0.05, value + 0.05, 12}; }

/// A result with one of everything, and hostile text wherever text may come from outside.
ExperimentResult sampleResult() {
    ExperimentResult result;
    result.recipe = "main_comparison";
    result.title = "Main " + kHostile;
    result.source = "Table 2";
    result.size = "quick";
    result.verdict = {VerdictKind::NoGain, "No gain " + kHostile, "because"};
    ResultTable table;
    table.id = "main";
    table.title = kHostile;
    table.columns = {"Variant", "Measured", "Note"};
    table.rows = {{{kHostile}, {"1.25× ± .05", about(1.25)}, {"=SUM(A1)"}},
                  {{"a, \"b\""}, {"–"}, {"–"}}};
    result.tables = {table};
    ResultFigure figure;
    figure.id = "speed";
    figure.title = kHostile;
    figure.x.names = {"a", kHostile};
    figure.y.title = "× vanilla";
    figure.y.reference = 1.0;
    figure.bands = {{0.5, "band"}};
    FigureSeries series;
    series.name = kHostile;
    series.points = {{0.0, about(1.2)}, {1.0, about(0.9)}};
    figure.panels = {{kHostile, {series}, {{about(1.0)}}, false, 1.0}};
    result.figures = {figure};
    result.measured = {{"Computer", kHostile}, {"Model", "tiny"}};
    result.notes = {kHostile};
    result.isComplete = false;
    result.origins = {{kHostile, {{kHostile, 1}, {"b", 2}, {"c", 0}}}};
    return result;
}

/// Finishes a stream: an answer of SWIFT to each prompt, whose tokens have these hashes.
void finishWith(const MadeUpStream& stream, const std::vector<std::uint64_t>& hashes) {
    ShardResult result;
    result.runHash = stream.folder.plan().runHash;
    for (const std::uint64_t hash : hashes) {
        ShardAnswer answer;
        answer.variant = "swift";
        answer.prompt = static_cast<int>(result.answers.size());
        answer.tokenHash = hash;
        result.answers.push_back(answer);
    }
    if (const auto finished = stream.folder.finish(result); !finished)
        qFatal("%s", finished.error().message.c_str());
}

/// The problem that an XML reader has with a document; empty for none.
QString xmlProblem(const std::string& text, int* elements = nullptr) {
    QXmlStreamReader reader(QString::fromStdString(text));
    while (!reader.atEnd()) {
        reader.readNext();
        if (elements && reader.isStartElement())
            ++*elements;
    }
    return reader.hasError()
               ? QString("%1 in line %2").arg(reader.errorString()).arg(reader.lineNumber())
               : QString();
}

/// Files cannot grow beyond a size while this lives, as on a disk that is full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        m_signal = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit{bytes, m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }

    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_signal);
    }

    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit m_before{};
    void (*m_signal)(int) = nullptr;
};

/// The fields of a CSV text (RFC 4180).
std::vector<std::vector<std::string>> csvRows(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, {""});
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (isQuoted && letter == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            rows.back().back() += '"';
            ++i;
        } else if (letter == '"') {
            isQuoted = !isQuoted;
        } else if (!isQuoted && letter == ',') {
            rows.back().emplace_back();
        } else if (!isQuoted && letter == '\r') {
            rows.push_back({""});
            ++i;
        } else {
            rows.back().back() += letter;
        }
    }
    rows.pop_back();
    return rows;
}

} // namespace

class ReportWritersTest : public QObject {
    Q_OBJECT

private slots:

    void theHtmlReportIsWellFormedAndNeedsNothingElse() {
        const std::string html = reportHtml(sampleResult(), "{\"a\": \"" + kHostile + "\"}");
        QVERIFY(html.starts_with("<!DOCTYPE html>\n"));
        int elements = 0;
        const QString problem = xmlProblem(html.substr(html.find("<html")), &elements);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        QVERIFY(elements > 60);
        QVERIFY(html.find("<script") == std::string::npos);
        QVERIFY(html.find("prefers-color-scheme:dark") != std::string::npos);
        // Nothing is loaded from anywhere: no address but the name of the SVG language.
        const QRegularExpression address("(src|href|url\\()\\s*=?\\s*[\"']?[a-z]+:|@import|<link");
        QVERIFY(!QString::fromStdString(html).contains(address));
        QVERIFY(html.find("This run is not finished") != std::string::npos);
        QVERIFY(html.find("k2") != std::string::npos);
    }

    void theNamesOfHatchesAreUniqueInAPage() {
        ExperimentResult result = sampleResult();
        result.figures[0].kind = FigureKind::Bars;
        result.figures[0].panels[0].series.push_back(result.figures[0].panels[0].series[0]);
        result.figures[0].panels[0].series[1].name = "second";
        result.figures.push_back(result.figures[0]);
        const QString html = QString::fromStdString(reportHtml(result, ""));
        QSet<QString> names;
        auto matches = QRegularExpression("<pattern id=\"([^\"]+)\"").globalMatch(html);
        int count = 0;
        for (; matches.hasNext(); ++count)
            names.insert(matches.next().captured(1));
        QCOMPARE(count, 2);
        QCOMPARE(names.size(), 2);
    }

    void figuresAreSvgAndPdf() {
        const Drawing drawing = drawFigure(sampleResult().figures[0], {});
        for (const Palette* palette : {&lightPalette(), &darkPalette()}) {
            const QString problem = xmlProblem(svgDocument(drawing, *palette));
            QVERIFY2(problem.isEmpty(), qPrintable(problem));
            const auto pdf = pdfDocument(drawing, *palette);
            QVERIFY2(pdf.hasValue(), pdf ? "" : pdf.error().message.c_str());
            QVERIFY(pdf.value().starts_with("%PDF-"));
            QVERIFY(pdf.value().find("%%EOF") != std::string::npos);
        }
    }

    void aTableIsCsvWithItsIntervals() {
        const auto rows = csvRows(tableCsv(sampleResult().tables[0]));
        QCOMPARE(rows.size(), std::size_t{3});
        QCOMPARE(
            rows[0],
            (std::vector<std::string>{
                "Variant", "Measured", "Measured, low", "Measured, high", "Measured, n", "Note"}));
        QCOMPARE(rows[1][1], std::string("1.25"));
        QCOMPARE(rows[1][2], std::string("1.2"));
        QCOMPARE(rows[1][4], std::string("12"));
        QCOMPARE(rows[1][5], std::string("'=SUM(A1)"));
        QCOMPARE(rows[2][0], std::string("a, \"b\""));
        QCOMPARE(rows[2][1], std::string());
        QCOMPARE(rows[2][4], std::string());
        QCOMPARE(csvField("-1.5"), std::string("-1.5"));
    }

    void aTableIsLatexWhoseTextCannotEndIt() {
        const std::string latex = tableLatex(sampleResult().tables[0]);
        QVERIFY(latex.find("\\begin{tabular}{lrl}") != std::string::npos);
        const std::string end = "\\end{tabular}";
        QCOMPARE(latex.find(end), latex.size() - end.size() - 1);
        QVERIFY(latex.find("1.25$\\times$ $\\pm$ .05") != std::string::npos);
        QCOMPARE(escapedLatex("50 % of a_b & {c}"), std::string("50 \\% of a\\_b \\& \\{c\\}"));
    }

    /// Behind a line's end "[" would begin its option and "*" its other form.
    void aRowOfLatexMayBeginWithABracketOrAStar() {
        ResultTable table;
        table.columns = {"Task"};
        for (const char* task : {"[en-de]", "*", "a \"b\""})
            table.rows.push_back({ResultCell{task}});
        const std::string latex = tableLatex(table);
        const std::string rows = "\\midrule\n{[}en-de{]} \\\\\n{*} \\\\\n";
        QVERIFY2(latex.find(rows) != std::string::npos, latex.c_str());
        // A quotation mark that every encoding of fonts has.
        QVERIFY2(latex.find("a \\symbol{34}b\\symbol{34} \\\\\n") != std::string::npos,
                 latex.c_str());
    }

    void tokensAreLatexThatSaysWhereTheyComeFrom() {
        const std::string text = originsLatex(
            {{"SWIFT, prompt 3 & 4", {{" one", 1}, {"_two", 2}, {"{three}\n", 0}, {"\n", 1}}}});
        const std::string tokens = "\\underline{ one}\\allowbreak{}"
                                   "\\underline{\\_two}$_{2}$\\allowbreak{}"
                                   "\\{three\\}\\par\n\\par\n";
        QVERIFY2(text.find("\\paragraph{SWIFT, prompt 3 \\& 4}\n" + tokens) != std::string::npos,
                 text.c_str());
    }

    void markdownKeepsItsTables() {
        const std::string text = reportMarkdown(sampleResult(), "{\n```\n}");
        QVERIFY(text.find("<script") == std::string::npos);
        QVERIFY(text.find("````json\n") != std::string::npos);
        const QStringList lines = QString::fromStdString(text).split('\n');
        for (const QString& line : lines) {
            if (line.startsWith("| "))
                QCOMPARE(QString(line).remove("\\|").count('|'), 4);
        }
    }

    void draftedTokensAreNoMarkupInMarkdown() {
        ExperimentResult result = sampleResult();
        result.origins = {{"Text", {{"*a*_b_\n`c`", 1}, {"*d*", 0}}}};
        const std::string text = reportMarkdown(result, "");
        QVERIFY2(text.find("<b>\\*a\\*\\_b\\_ \\`c\\`</b>\\*d\\*\n") != std::string::npos,
                 text.c_str());
    }

    void allFilesAreWritten() {
        const TemporaryFolder folder;
        const auto place = folder.path() / "deep" / "report";
        const auto written = writeReport(place, sampleResult(), "{}");
        QVERIFY2(written.hasValue(), written ? "" : written.error().message.c_str());
        for (const char* name : {"report.html",
                                 "report.md",
                                 "main.csv",
                                 "main.tex",
                                 "tokens.tex",
                                 "figures/speed.svg",
                                 "figures/speed.pdf"})
            QVERIFY2(std::filesystem::file_size(place / name) > 50, name);
    }

    void aFullDiskLeavesTheOlderReport() {
        const TemporaryFolder folder;
        QVERIFY(writeReport(folder.path(), sampleResult(), "{}").hasValue());
        const std::string before = support::fileText(folder.path() / "report.html");
        ExperimentResult other = sampleResult();
        other.figures.clear();
        other.title = "Another";
        const std::string html = reportHtml(other, "{}");
        {
            const FullDisk disk(html.size() / 2);
            const auto written = writeReport(folder.path(), other, "{}");
            QVERIFY(!written.hasValue());
            QCOMPARE(written.error().code, ErrorCode::Io);
        }
        QCOMPARE(support::fileText(folder.path() / "report.html"), before);
        QVERIFY(writeReport(folder.path(), other, "{}").hasValue());
        QCOMPARE(support::fileText(folder.path() / "report.html"), html);
    }

    void aResultIsReadBackAsItWas() {
        const std::string text = resultJson(sampleResult());
        const auto back = parseResultJson(text, "result.json");
        QVERIFY2(back.hasValue(), back ? "" : back.error().message.c_str());
        const ExperimentResult& result = back.value();
        QCOMPARE(result.verdict.kind, VerdictKind::NoGain);
        QCOMPARE(*result.tables[0].rows[0][1].value->low, 1.25 - 0.05);
        QCOMPARE(result.figures[0].bands[0].second, std::string("band"));
        QCOMPARE(result.figures[0].panels[0].reference, std::optional<double>(1.0));
        QCOMPARE(result.measured[1].second, std::string("tiny"));
        QCOMPARE(result.origins[0].tokens[1].rank, 2);
        QVERIFY(!result.isComplete);
        QCOMPARE(resultJson(result), text);
    }

    void aDamagedResultIsRefusedInOneSentence_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::newRow("a path as an id") << R"("id": "main")"
                                         << R"("id": "../main")";
        QTest::newRow("an unknown kind") << R"("kind": "dots")"
                                         << R"("kind": "pie")";
        QTest::newRow("an unknown verdict") << R"("kind": "no_gain")"
                                            << R"("kind": "")";
        QTest::newRow("a category that is none") << R"("x": 1.0)"
                                                 << R"("x": 7.0)";
        QTest::newRow("a number as a text") << R"("title": )"
                                            << R"("title": 3, "note": )";
        QTest::newRow("a newer format") << R"("version": 1)"
                                        << R"("version": 2)";
        QTest::newRow("another file") << R"("swift-experiment-result")"
                                      << R"("swift-experiment-plan")";
        QTest::newRow("one column less") << R"("columns": [)"
                                         << R"("columns": [ "more", )";
    }

    void aDamagedResultIsRefusedInOneSentence() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QString text = QString::fromStdString(resultJson(sampleResult()));
        const auto at = text.indexOf(from);
        QVERIFY(at >= 0);
        text.replace(at, from.size(), to);
        const auto read = parseResultJson(text.toStdString(), "result.json");
        QVERIFY(!read.hasValue());
        QVERIFY(read.error().message.starts_with("result.json"));
    }

    void aResultThatIsCutShortIsRefused() {
        const std::string text = resultJson(sampleResult());
        for (std::size_t length = 0; length + 2 < text.size(); length += 97)
            QVERIFY(!parseResultJson(std::string_view(text).substr(0, length), "cut").hasValue());
        const TemporaryFolder folder;
        QCOMPARE(readResultFile(folder.path() / "none.json").error().code, ErrorCode::NotFound);
    }

    /// 1.25 ± .05 against 1.5 ± .05 has moved, against 1.3 ± .05 it has not.
    void twoResultsAreSetSideBySide() {
        const ExperimentResult before = sampleResult();
        ExperimentResult after = before;
        after.tables[0].rows[0][1] = {"1.30×", about(1.3)};
        auto compared = compareResults(before, after);
        QVERIFY(compared.hasValue());
        QCOMPARE(compared.value().verdict.headline,
                 std::string("None of 1 numbers moved beyond its interval."));
        after.tables[0].rows[0][1] = {"1.50×", about(1.5)};
        after.tables[0].rows[1][0].text = "renamed";
        compared = compareResults(before, after);
        QCOMPARE(compared.value().verdict.headline,
                 std::string("1 of 1 numbers moved beyond their intervals."));
        const auto& row = compared.value().tables.at(0).rows.at(0);
        QCOMPARE(row.at(4).text, std::string("1.200"));
        QCOMPARE(row.at(5).text, std::string("▲ higher"));
        QCOMPARE(compared.value().notes.size(), std::size_t{2});
        after = before; // a speedup that was refused leaves the rest of its row
        after.tables[0].columns.push_back("M");
        after.tables[0].rows[0].push_back({"3.20", about(3.2)});
        after.tables[0].rows[1].push_back({"–"});
        ExperimentResult refused = after;
        refused.tables[0].rows[0][1] = {"– (+8.0 %)"};
        compared = compareResults(refused, after);
        QVERIFY(compared.value().notes.empty());
        QCOMPARE(compared.value().tables.at(0).rows.at(0).at(1).text, std::string("M"));
        after.recipe = "another";
        QCOMPARE(compareResults(before, after).error().code, ErrorCode::InvalidInput);
    }

    void aComparisonTellsItsLargestMoveOnceAndTheFactsOfBoth() {
        ExperimentResult before = sampleResult();
        before.tables[0].columns.push_back("M");
        before.tables[0].rows[0].push_back({"3.20", about(3.2)});
        before.tables[0].rows[1].push_back({"–"});
        ExperimentResult after = before;
        after.tables[0].rows[0][1] = {"2.50×", about(2.5)};
        after.tables[0].rows[0][3] = {"3.60", about(3.6)};
        after.measured.emplace_back("Seed", "2");
        const auto compared = compareResults(before, after);
        QVERIFY(compared.hasValue());
        const std::string& cause = compared.value().verdict.cause;
        QVERIFY2(cause.find("1.25× ± .05 became 2.50×.") != std::string::npos, cause.c_str());
        QVERIFY2(cause.find("Most of all") == std::string::npos, cause.c_str());
        QCOMPARE(compared.value().measured.back().first, std::string("Seed"));
        QCOMPARE(compared.value().measured.back().second, std::string("B: 2"));
    }

    void whatAnEarlierReportHadAloneIsRemovedAndNothingElse() {
        const TemporaryFolder folder;
        Recipe recipe;
        recipe.tables = {{.id = "main", .title = "Main", .rows = "variant", .columns = {"M"}}};
        recipe.figures = {
            {.id = "speed", .title = "Speed", .kind = "dots", .x = "variant", .y = {"speedup"}}};
        ExperimentResult result = sampleResult();
        QVERIFY(writeReport(folder.path(), result, "{}"));
        folder.write("notes.txt", "mine");
        folder.write("other.csv", "mine");
        QVERIFY(removeOutdated(folder.path(), recipe, result));
        for (const char* file : {"main.csv", "main.tex", "tokens.tex", "figures/speed.svg"})
            QVERIFY2(std::filesystem::exists(folder.path() / file), file);
        result.figures.clear();
        result.tables.clear();
        result.origins.clear();
        QVERIFY(removeOutdated(folder.path(), recipe, result));
        for (const char* file :
             {"main.csv", "main.tex", "tokens.tex", "figures/speed.svg", "figures/speed.pdf"})
            QVERIFY2(!std::filesystem::exists(folder.path() / file), file);
        for (const char* file : {"notes.txt", "other.csv", "report.html", "report.md"})
            QVERIFY2(std::filesystem::exists(folder.path() / file), file);
    }

    void theTokensOfRunsThatWereAskedTheSameAreCompared() {
        const TemporaryFolder folder;
        const MadeUpStream before(folder.path() / "a", {"story"}, 3);
        const MadeUpStream after(folder.path() / "b", {"story"}, 3);
        const MadeUpStream other(folder.path() / "c", {"code"}, 3);
        const auto told = [&](const char* place) {
            return compareTokens(folder.path() / "a", folder.path() / place);
        };
        finishWith(before, {1, 2, 3});
        QVERIFY(!told("b").isEqual);
        QCOMPARE(
            told("b").sentences,
            std::vector<std::string>{"The tokens are not compared: no answer is in both runs."});
        finishWith(after, {1, 2, 3});
        QCOMPARE(told("b").isEqual, std::optional(true));
        QCOMPARE(told("b/result.json").sentences,
                 std::vector<std::string>{"The tokens of A and B are the same (3 of 3 answers)."});
        finishWith(after, {1, 7, 3});
        QCOMPARE(told("b").isEqual, std::optional(false));
        QCOMPARE(told("b").sentences,
                 (std::vector<std::string>{"The tokens of A and B differ (in 1 of 3 answers).",
                                           "Prompt 2 (Story): other tokens by SWIFT."}));
        finishWith(other, {1, 2, 3});
        {
            const MadeUpStream cut(folder.path() / "d", {"story"}, 3);
            std::string plan = support::fileText(folder.path() / "d/plan.json");
            const std::string all = "\"prompts\":[0,1,2]";
            QVERIFY(plan.find(all) != std::string::npos);
            plan.replace(plan.find(all), all.size(), "\"prompts\":[0,1]");
            folder.write("d/plan.json", plan);
            QCOMPARE(told("d").sentences,
                     std::vector<std::string>{
                         "The tokens are not compared: the runs are cut into other parts."});
        }
        for (const char* place : {"c", "none"}) {
            QVERIFY(!told(place).isEqual);
            QCOMPARE(told(place).sentences.size(), std::size_t{1});
            QVERIFY(told(place).sentences[0].starts_with("The tokens are not compared: "));
        }
    }

    void ofManyPromptsWithOtherTokensTheFirstAreNamed() {
        const TemporaryFolder folder;
        const MadeUpStream before(folder.path() / "a", {"story"}, 20);
        const MadeUpStream after(folder.path() / "b", {"story"}, 20);
        finishWith(before, std::vector<std::uint64_t>(20, 1));
        finishWith(after, std::vector<std::uint64_t>(20, 2));
        const auto told = compareTokens(folder.path() / "a", folder.path() / "b");
        QCOMPARE(told.sentences.size(), std::size_t{1 + 12 + 1});
        QCOMPARE(told.sentences[12], std::string("Prompt 12 (Story): other tokens by SWIFT."));
        QCOMPARE(told.sentences[13], std::string("Prompts that differ besides: 8."));
    }
};

QTEST_APPLESS_MAIN(ReportWritersTest)
#include "report_writers_test.moc"
