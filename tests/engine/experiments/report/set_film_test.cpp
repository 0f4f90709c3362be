// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/film/set_film.h"
#include "engine/experiments/report/result_json.h"
#include "engine/experiments/report/write_report.h"
#include "engine/experiments/report/writers/svg.h"
#include "tests/support/file_content.h"
#include "tests/support/temporary_folder.h"

#include <QTest>
#include <QXmlStreamReader>

using namespace engine;
using test_support::TemporaryFolder;

namespace {

constexpr int kLayers = 4;

ShardPlan planOf(double at, std::vector<int> attention, double score = 0.0) {
    ShardPlan plan;
    plan.attention = std::move(attention);
    plan.score = score;
    plan.at = at;
    return plan;
}

/// The sets of two searches, whose second one begins later.
ResultFigure someFilm() {
    const std::vector<ShardPlan> plans = {
        planOf(1.0, {1}, 0.5), planOf(4.0, {1, 2}, 0.75), planOf(2.5, {3})};
    ResultFigure figure;
    figure.id = "film";
    figure.title = "The set at each change";
    fillFilm(figure,
             std::vector<FilmChange>{{"Code <b>", 0, &plans[0], kLayers},
                                     {"Code <b>", 0, &plans[1], kLayers},
                                     {"Story", 0, &plans[2], kLayers}});
    return figure;
}

int partsOf(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

QString xmlFault(const std::string& text) {
    QXmlStreamReader reader(QString::fromStdString(text));
    while (!reader.atEnd())
        reader.readNext();
    return reader.hasError() ? reader.errorString() : QString();
}

} // namespace

class SetFilmTest : public QObject {
    Q_OBJECT

private slots:

    void everyTrackShowsTheSetThatItHasAtTheMoment() {
        const ResultFigure figure = someFilm();
        QVERIFY(isFilm(figure));
        const SetFilm film = setFilm(figure);
        QCOMPARE(film.tracks.size(), std::size_t{2});
        QCOMPARE(film.moments.size(), std::size_t{3});
        QCOMPARE(film.moments[1].at, 2.5);
        const ResultFigure first = filmMoment(figure, film, 0);
        QCOMPARE(first.panels[0].title, std::string("Code <b>: Set 1, 1.0 s"));
        QCOMPARE(first.panels[0].series[0].name, std::string("1 of 8 skipped, matchness 0.50"));
        QCOMPARE(first.panels[1].title, std::string("Story: no set yet"));
        QCOMPARE(first.panels[1].cells[0][3].value, 0.0);
        const ResultFigure last = filmMoment(figure, film, 2);
        QCOMPARE(last.panels[0].title, std::string("Code <b>: Set 2, 4.0 s"));
        QCOMPARE(last.panels[1].cells[0][3].value, 1.0);
        QVERIFY(!isFilm(last));
    }

    void allMomentsAreDrawnInOneSize() {
        const std::vector<Drawing> frames = filmFrames(someFilm(), {.width = 500.0});
        QCOMPARE(frames.size(), std::size_t{3});
        for (const Drawing& frame : frames) {
            QCOMPARE(frame.width, frames[0].width);
            QCOMPARE(frame.height, frames[0].height);
            QCOMPARE(frame.marks.size(), frames[0].marks.size());
        }
    }

    void theTableHasEveryChangeWithItsTimeAndItsScore() {
        const ResultTable table = figureTable(someFilm());
        QCOMPARE(table.rows.size(), std::size_t{3});
        QCOMPARE(table.rows[1][2].value->value, 4.0);
        QCOMPARE(table.rows[1][3].value->value, 0.75);
        QCOMPARE(table.rows[1][4].text, std::string("1 2"));
        QVERIFY(!table.rows[2][3].value);
    }

    void partsOfARunHaveTracksOfTheirOwn() {
        const ShardPlan plan = planOf(1.0, {1});
        ResultFigure figure;
        fillFilm(figure,
                 std::vector<FilmChange>{{"Code", 3, &plan, kLayers}, {"Code", 5, &plan, kLayers}});
        QCOMPARE(figure.panels[0].group, std::string("Code, part 1"));
        QCOMPARE(figure.panels[1].group, std::string("Code, part 2"));
        QCOMPARE(figure.panels[1].title, std::string("Set 1, 1.0 s"));
    }

    void aLongSearchKeepsItsFirstAndItsLastSetAndSaysThatSomeAreLeftOut() {
        std::vector<ShardPlan> plans;
        for (std::size_t i = 0; i <= 2 * kMostFilmChanges; ++i)
            plans.push_back(planOf(static_cast<double>(i), {1}));
        std::vector<FilmChange> changes;
        for (const ShardPlan& plan : plans)
            changes.push_back({"Code", 0, &plan, 1});
        ResultFigure figure;
        fillFilm(figure, changes);
        QCOMPARE(figure.panels.size(), kMostFilmChanges);
        QCOMPARE(figure.panels.front().title, std::string("Set 1, 0.0 s"));
        QCOMPARE(figure.panels.back().title, std::string("Set 2001, 2000.0 s"));
        QCOMPARE(figure.note, std::string("1000 of 2001 changes are shown."));
        QCOMPARE(filmFrames(figure, {}).size(), kMostFilmFrames);
    }

    /// A result may come from anywhere.
    void aFilmOfTooManyTracksIsCut() {
        const ShardPlan plan = planOf(1.0, {0});
        std::vector<FilmChange> changes;
        for (int i = 0; i < 100; ++i)
            changes.push_back({"Task " + std::to_string(i), 0, &plan, 1});
        ResultFigure figure;
        fillFilm(figure, changes);
        const SetFilm film = setFilm(figure);
        QCOMPARE(film.tracks.size(), std::size_t{32});
        QCOMPARE(filmMoment(figure, film, 0).panels.size(), std::size_t{32});
    }

    void theFilmIsAnSvgThatPlaysWithoutAnyScript() {
        const std::vector<Drawing> frames = filmFrames(someFilm(), {});
        const std::string text = filmSvgDocument(frames, {500, 3000}, lightPalette());
        QCOMPARE(xmlFault(text), QString());
        QVERIFY(text.find("<script") == std::string::npos);
        QVERIFY(text.find("Code &lt;b&gt;") != std::string::npos);
        QCOMPARE(partsOf(text, "<g class="), 3);
        QVERIFY(text.find("animation-delay:-4.000s") != std::string::npos); // of the first one
        QVERIFY(text.find("animation-delay:-3.000s") != std::string::npos); // of the last one
        QVERIFY(text.find("prefers-reduced-motion:reduce") != std::string::npos);
        // What all frames have in common is written once.
        QCOMPARE(partsOf(text, ">attention skipped<"), 1);
    }

    void aFilmOfOneChangeIsAPicture() {
        ResultFigure figure = someFilm();
        figure.panels.resize(1);
        const std::string text =
            filmSvgDocument(filmFrames(figure, {}), {500, 3000}, lightPalette());
        QCOMPARE(xmlFault(text), QString());
        QVERIFY(text.find("@keyframes") == std::string::npos);
    }

    void theReportHasTheFilmInItselfAndAsAFile() {
        ExperimentResult result;
        result.figures = {someFilm()};
        const std::string html = reportHtml(result, "");
        QCOMPARE(xmlFault(html.substr(html.find("<html"))), QString());
        QVERIFY(html.find("Pause the film") != std::string::npos);
        QCOMPARE(partsOf(html, "@keyframes"), 2);
        QVERIFY(reportMarkdown(result, "").find("(figures/film.film.svg)") != std::string::npos);
        const TemporaryFolder folder;
        QVERIFY(writeReport(folder.path(), result, "{}").hasValue());
        const std::string file = support::fileText(folder.path() / "figures" / "film.film.svg");
        QVERIFY(file.find("@keyframes") != std::string::npos);
        QVERIFY(std::filesystem::exists(folder.path() / "figures" / "film.svg"));
    }

    void aFilmIsReadBackAsItWas() {
        ExperimentResult result;
        result.figures = {someFilm()};
        const auto back = parseResultJson(resultJson(result), "result.json");
        QVERIFY2(back.hasValue(), back ? "" : back.error().message.c_str());
        QVERIFY(isFilm(back.value().figures[0]));
        QCOMPARE(back.value().figures[0].panels[2].group, std::string("Story"));
    }
};

QTEST_APPLESS_MAIN(SetFilmTest)
#include "set_film_test.moc"
