// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/axis_scale.h"
#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/report/figures/palette.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace engine;

namespace {

Estimate about(double value) { return {value, value - 0.05, value + 0.05, 12}; }

/// A figure of a kind with several panels, long names and values on both sides of vanilla.
ResultFigure figureOf(FigureKind kind) {
    ResultFigure figure;
    figure.id = "speed";
    figure.title = "Speed";
    figure.kind = kind;
    figure.y.title = "× vanilla";
    figure.overlayLabel = "paper, LLaMA-2-13B, RTX A6000";
    const std::vector<std::string> names = {"Vanilla", "SWIFT, gamma 128", "Auto"};
    figure.x.names = kind == FigureKind::Lines || kind == FigureKind::LayerGrids
                         ? std::vector<std::string>()
                         : names;
    if (kind == FigureKind::Lines)
        figure.bands = {{0.0, "Summarization"}, {1.5, "Story"}};
    if (kind == FigureKind::Matrix)
        figure.y.names = names;
    if (kind != FigureKind::Stack)
        figure.y.reference = 1.0;
    for (const char* title : {"Summarization", "Math", "All tasks"}) {
        FigurePanel panel;
        panel.title = title;
        panel.isSummary = panel.title == "All tasks";
        for (int s = 0; s < 3; ++s) {
            FigureSeries series;
            series.name = "Series " + std::to_string(s);
            series.isPaper = s == 2 && kind != FigureKind::Stack;
            series.isEmphasised = s == 1;
            for (int i = 0; i < 3; ++i)
                series.points.push_back({static_cast<double>(i), about(0.94 + 0.06 * (i + s))});
            panel.series.push_back(series);
        }
        const std::size_t rows = kind == FigureKind::LayerGrids ? 2 : 3;
        const std::size_t columns = kind == FigureKind::LayerGrids ? 30 : 3;
        for (std::size_t row = 0; row < rows; ++row) {
            panel.cells.emplace_back();
            for (std::size_t column = 0; column < columns; ++column)
                panel.cells.back().push_back(
                    about(0.9 + 0.1 * static_cast<double>((row + column) % 4)));
        }
        figure.panels.push_back(panel);
    }
    return figure;
}

/// The same with a paper's values of its first series that belong to no single place.
ResultFigure withPaperLevels(ResultFigure figure) {
    for (FigurePanel& panel : figure.panels) {
        FigureSeries& paper = panel.series.back();
        paper.isPaper = true;
        paper.name = panel.series.front().name;
        paper.points = {{0.0, {0.3}, false, 2.0}};
        if (figure.kind == FigureKind::Lines)
            paper.points.push_back({0.0, {0.32}, false, 1.5}); // along the first band
    }
    return figure;
}

struct Box {
    double left, top, right, bottom;

    bool overlaps(const Box& other) const {
        constexpr double kTouch = 0.5;
        return left + kTouch < other.right && other.left + kTouch < right &&
               top + kTouch < other.bottom && other.top + kTouch < bottom;
    }
};

Box boxOf(const Mark& text) {
    const double width = reportTextWidth(text.text, text.style);
    const DrawingPoint at = text.points.front();
    const double left = text.anchor == TextAnchor::Start    ? at.x
                        : text.anchor == TextAnchor::Middle ? at.x - width / 2.0
                                                            : at.x - width;
    // Letters without those below the line.
    return {left, at.y - text.style.size * 0.72, left + width, at.y};
}

bool isText(const Mark& mark) { return mark.shape == MarkShape::Text; }

} // namespace

class ReportFiguresTest : public QObject {
    Q_OBJECT

private slots:

    void noTextIsCutOffAndNoneCoversAnother_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("width");
        QTest::addColumn<double>("scale");
        QTest::addColumn<bool>("hasLevels");
        const char* const names[] = {"dots", "bars", "lines", "stack", "matrix", "layer grids"};
        const auto add = [&](int kind, bool hasLevels) {
            for (const double width : {420.0, 720.0, 1200.0}) {
                for (const double scale : {1.0, 1.5})
                    QTest::addRow("%s%s %g wide, text x %g",
                                  names[kind],
                                  hasLevels ? " with a paper's levels" : "",
                                  width,
                                  scale)
                        << kind << width << scale << hasLevels;
            }
        };
        for (int kind = 0; kind < 6; ++kind)
            add(kind, false);
        for (const FigureKind kind : {FigureKind::Lines, FigureKind::Stack})
            add(static_cast<int>(kind), true);
    }

    void noTextIsCutOffAndNoneCoversAnother() {
        QFETCH(int, kind);
        QFETCH(double, width);
        QFETCH(double, scale);
        QFETCH(bool, hasLevels);
        FigureCanvas canvas;
        canvas.width = width;
        canvas.textScale = scale;
        const ResultFigure figure = figureOf(static_cast<FigureKind>(kind));
        const Drawing drawing = drawFigure(hasLevels ? withPaperLevels(figure) : figure, canvas);
        QVERIFY(drawing.height > 20.0);
        std::vector<const Mark*> texts;
        for (const Mark& mark : drawing.marks) {
            if (isText(mark) && mark.turn == 0.0)
                texts.push_back(&mark);
        }
        QVERIFY(texts.size() > 3);
        for (const Mark* text : texts) {
            const Box box = boxOf(*text);
            const bool isInside = box.left >= -1.0 && box.right <= drawing.width + 1.0 &&
                                  box.top >= -1.0 && box.bottom <= drawing.height + 1.0;
            QVERIFY2(isInside, text->text.c_str());
        }
        for (std::size_t i = 0; i < texts.size(); ++i) {
            for (std::size_t k = i + 1; k < texts.size(); ++k) {
                const std::string both = texts[i]->text + " | " + texts[k]->text;
                QVERIFY2(!boxOf(*texts[i]).overlaps(boxOf(*texts[k])), both.c_str());
            }
        }
    }

    void aPapersFiguresAreDashedSquaresThatNothingJoins() {
        ResultFigure figure = figureOf(FigureKind::Lines);
        const auto linesOf = [](const Drawing& drawing, std::size_t corners) {
            return std::count_if(drawing.marks.begin(), drawing.marks.end(), [&](const Mark& mark) {
                return mark.shape == MarkShape::Line && mark.points.size() == corners;
            });
        };
        const Drawing drawing = drawFigure(figure, {});
        QCOMPARE(linesOf(drawing, 3), 6); // two series in three panels, and no third one
        const auto squares =
            std::count_if(drawing.marks.begin(), drawing.marks.end(), [](const Mark& mark) {
                return mark.stroke == Ink::Paper && !mark.dashes.empty() && !mark.fill;
            });
        QCOMPARE(squares, 10); // nine values and the legend's
    }

    void aPapersValueOfNoPlaceIsADashedLineWithItsName() {
        const ResultFigure figure = withPaperLevels(figureOf(FigureKind::Lines));
        const Drawing drawing = drawFigure(figure, {});
        const auto count = [&](const auto& isCounted) {
            return std::count_if(drawing.marks.begin(), drawing.marks.end(), isCounted);
        };
        QCOMPARE(count([](const Mark& mark) {
                     return mark.shape == MarkShape::Line && mark.stroke == Ink::Paper &&
                            !mark.dashes.empty();
                 }),
                 1 + 3 * 2); // the legend's, and two in each panel
        QCOMPARE(count([](const Mark& mark) { return mark.text == "Series 0, paper 0.3"; }), 3);
        const ResultTable table = figureTable(figure);
        QCOMPARE(table.rows.at(6).at(1).text,
                 std::string("Series 0, paper, LLaMA-2-13B, RTX A6000"));
        QCOMPARE(table.rows[6].at(2).text, std::string("all"));
        QCOMPARE(table.rows.at(7).at(2).text, std::string("Summarization"));
    }

    void aPapersShareIsAFrameBelowItsPartOfEachStack() {
        ResultFigure figure = withPaperLevels(figureOf(FigureKind::Stack));
        figure.panels.resize(1);
        const Drawing drawing = drawFigure(figure, {});
        std::vector<const Mark*> parts; // the first one is the legend's
        std::vector<const Mark*> frames;
        for (const Mark& mark : drawing.marks) {
            if (mark.shape == MarkShape::Rectangle && mark.fill == Ink::Part0)
                parts.push_back(&mark);
            if (mark.shape == MarkShape::Rectangle && mark.stroke == Ink::Paper && !mark.fill)
                frames.push_back(&mark);
        }
        QCOMPARE(parts.size(), std::size_t{4});
        QCOMPARE(frames.size(), std::size_t{4});
        const auto widthOf = [](const Mark& mark) { return mark.points[1].x - mark.points[0].x; };
        for (std::size_t i = 1; i < frames.size(); ++i) {
            QCOMPARE(frames[i]->points[0].x, parts[i]->points[0].x);
            QVERIFY(frames[i]->points[0].y > parts[i]->points[1].y);
            const double ours = figure.panels[0].series[0].points[i - 1].y.value;
            QVERIFY(std::abs(widthOf(*frames[i]) / widthOf(*parts[i]) - 0.3 / ours) < 1e-6);
        }
        QCOMPARE(figureTable(figure).rows.back().at(2).text, std::string("all"));
    }

    void aLineEndsBeforeARefusedSpeedAndBeginsAnewBehindIt_data() {
        QTest::addColumn<int>("points");
        QTest::newRow("few points, each with its mark") << 8;
        QTest::newRow("many points, smoothed") << 60;
        QTest::newRow("more points than are drawn") << 5000;
    }

    void aLineEndsBeforeARefusedSpeedAndBeginsAnewBehindIt() {
        QFETCH(const int, points);
        ResultFigure figure = figureOf(FigureKind::Lines);
        figure.panels.resize(1);
        figure.bands.clear();
        FigureSeries line;
        line.name = "SWIFT";
        for (int i = 0; i < points; ++i)
            line.points.push_back({static_cast<double>(i), about(i % 2 == 0 ? 0.9 : 1.1)});
        line.points[static_cast<std::size_t>(points / 2 + 1)].isBehindGap = true;
        figure.panels[0].series = {line};
        const auto inked = [&] {
            const Drawing drawing = drawFigure(figure, {});
            std::vector<DrawingPoint> ends; // of the pieces, one behind the other
            for (const Mark& mark : drawing.marks)
                if (mark.shape == MarkShape::Line && mark.points.size() > 2) {
                    ends.push_back(mark.points.front());
                    ends.push_back(mark.points.back());
                }
            return ends;
        };
        const std::vector<DrawingPoint> broken = inked();
        QCOMPARE(broken.size(), std::size_t{4});
        QVERIFY(broken[1].x < broken[2].x);
        figure.panels[0].series[0].points[static_cast<std::size_t>(points / 2 + 1)].isBehindGap =
            false;
        QCOMPARE(inked().size(), std::size_t{2});
    }

    void theNumberOfADotStandsOffTheLineOfVanilla() {
        ResultFigure figure = figureOf(FigureKind::Dots);
        figure.panels.resize(1);
        figure.panels[0].series.resize(1);
        figure.panels[0].series[0].points = {{0.0, about(0.995)}, {1.0, about(1.005)}};
        const Drawing drawing = drawFigure(figure, {});
        double line = -1.0;
        for (const Mark& mark : drawing.marks) {
            if (mark.shape == MarkShape::Line && mark.stroke == Ink::Text &&
                mark.points.size() == 2 && mark.points[0].x == mark.points[1].x)
                line = std::max(
                    line, mark.points[0].y < mark.points[1].y - 50.0 ? mark.points[0].x : line);
        }
        QVERIFY(line > 0.0);
        int labels = 0;
        for (const Mark& mark : drawing.marks) {
            if (!isText(mark) ||
                (mark.text != "0.99" && mark.text != "1.00" && mark.text != "1.01") ||
                !mark.style.isMono || mark.fill == Ink::Muted)
                continue;
            const Box box = boxOf(mark);
            QVERIFY2(box.right < line || box.left > line, mark.text.c_str());
            ++labels;
        }
        QCOMPARE(labels, 2);
    }

    void slowerCellsOfAMatrixHaveNoFillAndAMark() {
        const Drawing drawing = drawFigure(figureOf(FigureKind::Matrix), {});
        const auto warnings =
            std::count_if(drawing.marks.begin(), drawing.marks.end(), [](const Mark& mark) {
                return mark.shape == MarkShape::Line && mark.stroke == Ink::Warning;
            });
        QCOMPARE(warnings, 1 + 6); // the legend, and two of each panel's cells are at .9
        const auto outlines =
            std::count_if(drawing.marks.begin(), drawing.marks.end(), [](const Mark& mark) {
                return mark.shape == MarkShape::Rectangle && mark.stroke == Ink::Text;
            });
        QCOMPARE(outlines, 1 + 9); // the diagonals
    }

    void rowsAndColumnsOfTheSameNamesHaveADiagonal() {
        ResultFigure figure = figureOf(FigureKind::Matrix);
        figure.y.reference.reset(); // of acceptance, say
        const auto outlines = [&] {
            const Drawing drawing = drawFigure(figure, {});
            return std::count_if(drawing.marks.begin(), drawing.marks.end(), [](const Mark& mark) {
                return mark.shape == MarkShape::Rectangle && mark.stroke == Ink::Text;
            });
        };
        QCOMPARE(outlines(), 1 + 9); // the legend, and three in each panel
        figure.y.names[0] = "Another";
        QCOMPARE(outlines(), 0);
    }

    /// As tokens per layer are: on the scale of shares all would be one shade.
    void smallValuesOfAMatrixCanBeToldApart() {
        ResultFigure figure = figureOf(FigureKind::Matrix);
        figure.y.reference.reset();
        for (FigurePanel& panel : figure.panels)
            for (auto& row : panel.cells)
                for (Estimate& cell : row)
                    cell = {0.031 + (cell.value - 0.9) / 100.0, {}, {}, 1};
        std::set<std::string> numbers;
        std::set<Ink> shades;
        for (const Mark& mark : drawFigure(figure, {}).marks) {
            if (isText(mark) && mark.text.starts_with(".0"))
                numbers.insert(mark.text);
            const bool isCell = mark.shape == MarkShape::Rectangle && mark.fill &&
                                std::abs(mark.points[1].x - mark.points[0].x) > 20.0;
            if (isCell) // not a step of the legend
                shades.insert(*mark.fill);
        }
        QCOMPARE(numbers, (std::set<std::string>{".031", ".032", ".033", ".034"}));
        QVERIFY(shades.size() > 1);
    }

    void valuesThatAreNoNumbersDrawNothingWrong_data() {
        QTest::addColumn<int>("kind");
        for (int kind = 0; kind < 6; ++kind)
            QTest::addRow("%d", kind) << kind;
    }

    void valuesThatAreNoNumbersDrawNothingWrong() {
        QFETCH(int, kind);
        for (const double wild :
             {std::nan(""), std::numeric_limits<double>::infinity(), -1e300, 1e-310, 0.0}) {
            ResultFigure figure = figureOf(static_cast<FigureKind>(kind));
            for (FigurePanel& panel : figure.panels) {
                for (FigureSeries& series : panel.series)
                    series.points[1] = {wild, {wild, wild, -wild, 1}};
                for (auto& row : panel.cells)
                    row[1] = {wild, wild, wild, 1};
            }
            figure.y.reference = wild;
            figure.panels[0].reference = wild;
            const Drawing drawing = drawFigure(figure, {});
            QVERIFY(std::isfinite(drawing.height) && drawing.height < 1e5);
            for (const Mark& mark : drawing.marks) {
                for (const DrawingPoint& point : mark.points)
                    QVERIFY(std::isfinite(point.x) && std::isfinite(point.y));
            }
        }
        ResultFigure empty;
        empty.kind = static_cast<FigureKind>(kind);
        QVERIFY(drawFigure(empty, {}).marks.empty());
        empty.panels.resize(2);
        drawFigure(empty, {});
    }

    void placesAlongAnAxisAreWholeNumbers() {
        ResultFigure figure;
        figure.kind = FigureKind::Lines;
        FigureSeries series;
        for (const double prompt : {13.0, 14.0, 15.0, 16.0})
            series.points.push_back({prompt, about(1.0)});
        figure.panels.emplace_back();
        figure.panels.back().series = {series};
        QStringList words;
        for (const Mark& mark : drawFigure(figure, {}).marks)
            if (isText(mark))
                words << QString::fromStdString(mark.text);
        QVERIFY2(words.contains(QStringLiteral("13")), qPrintable(words.join(u' ')));
        QVERIFY(!words.contains(QStringLiteral("13.0")));
    }

    /// As a recipe may name it for a paper's model.
    void theSmallestNumberMakesNoAxisWithoutEnd() {
        const std::vector<double> values = {std::numeric_limits<double>::denorm_min(), 1e6, 1e7};
        const AxisScale scale(values, 5, true);
        QVERIFY(!scale.ticks().empty());
        QVERIFY(scale.ticks().size() < 100);
    }

    void aLogarithmicAxisHasPlainNumbers() {
        ResultFigure figure = figureOf(FigureKind::Lines);
        figure.bands.clear();
        figure.x.isLogarithmic = true;
        for (FigurePanel& panel : figure.panels) {
            for (FigureSeries& series : panel.series) {
                for (FigureSeries::Point& point : series.points)
                    point.x = point.x == 0.0 ? 0.5 : point.x == 1.0 ? 128.0 : 2000.0;
            }
        }
        QStringList numbers;
        for (const Mark& mark : drawFigure(figure, {}).marks) {
            if (isText(mark) && mark.style.isMono && mark.anchor == TextAnchor::Middle)
                numbers << QString::fromStdString(mark.text);
        }
        QCOMPARE(numbers.mid(0, 3), (QStringList{"0.5", "128", "2000"}));
    }

    void everyFigureHasATableTwinAndASentence() {
        for (int kind = 0; kind < 6; ++kind) {
            const ResultFigure figure = figureOf(static_cast<FigureKind>(kind));
            const ResultTable table = figureTable(figure);
            QVERIFY(!table.rows.empty());
            for (const auto& row : table.rows)
                QCOMPARE(row.size(), table.columns.size());
            QVERIFY(QString::fromStdString(drawFigure(figure, {}).summary).startsWith("Speed: "));
        }
    }

    void theTableOfAFigureSaysHowManyPromptsItsValuesAreOf() {
        for (const FigureKind kind : {FigureKind::Dots, FigureKind::Matrix}) {
            ResultFigure figure = figureOf(kind);
            const std::size_t head = kind == FigureKind::Matrix ? 1 : 3;
            const ResultTable same = figureTable(figure);
            QCOMPARE(same.columns.at(head), std::string("× vanilla, n = 12"));
            for (const auto& row : same.rows)
                QVERIFY(row.back().text.find("n = ") == std::string::npos);
            figure.panels[0].series[0].points[0].y.count = 7;
            figure.panels[0].cells[0][2].count = 7;
            const ResultTable unlike = figureTable(figure);
            QCOMPARE(unlike.columns.at(head), std::string("× vanilla"));
            QVERIFY2(unlike.rows[0].back().text.ends_with(", n = 7)"),
                     unlike.rows[0].back().text.c_str());
            QVERIFY(unlike.rows[1].back().text.ends_with(", n = 12)"));
        }
    }

    /// Text on its ground needs a contrast of 4.5 to be read (WCAG 2, level AA).
    void textIsReadableOnEveryGround() {
        const auto luminance = [](const InkColour& colour) {
            const auto part = [](std::uint8_t value) {
                const double share = value / 255.0;
                return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
            };
            return 0.2126 * part(colour.red) + 0.7152 * part(colour.green) +
                   0.0722 * part(colour.blue);
        };
        const auto contrast = [&](const InkColour& a, const InkColour& b) {
            const double light = std::max(luminance(a), luminance(b));
            const double dark = std::min(luminance(a), luminance(b));
            return (light + 0.05) / (dark + 0.05);
        };
        for (const Palette* palette : {&lightPalette(), &darkPalette()}) {
            for (int step = 0; step < 7; ++step)
                QVERIFY(contrast(palette->at(static_cast<std::size_t>(Ink::Heat0) + step),
                                 palette->at(static_cast<std::size_t>(Ink::HeatText0) + step)) >
                        4.5);
            for (int part = 0; part < 4; ++part)
                QVERIFY(contrast(palette->at(static_cast<std::size_t>(Ink::Part0) + part),
                                 palette->at(static_cast<std::size_t>(Ink::PartText0) + part)) >
                        4.5);
            for (const Ink ink : {Ink::Text, Ink::Muted, Ink::Accent, Ink::Warning, Ink::Success}) {
                QVERIFY(contrast(colourOf(*palette, ink), colourOf(*palette, Ink::Panel)) > 4.5);
                QVERIFY(contrast(colourOf(*palette, ink), colourOf(*palette, Ink::Shade)) > 4.5);
            }
        }
    }
};

QTEST_APPLESS_MAIN(ReportFiguresTest)
#include "report_figures_test.moc"
