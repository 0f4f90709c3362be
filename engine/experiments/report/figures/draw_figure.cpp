// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/draw_figure.h"

#include "engine/experiments/report/figures/painter.h"
#include "engine/experiments/report/film/set_film.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace engine {

namespace {

/// Calls `use` with every value of a figure.
template <typename Use> void forEachValue(const ResultFigure& figure, const Use& use) {
    for (const FigurePanel& panel : figure.panels) {
        if (figure.kind == FigureKind::Matrix) {
            for (const auto& row : panel.cells)
                std::for_each(row.begin(), row.end(), use);
            continue;
        }
        for (const FigureSeries& series : panel.series) {
            for (const FigureSeries::Point& point : series.points)
                use(point.y);
        }
    }
}

/// The n that all values of a figure have that have one; none if they differ, 0 if none has one.
std::optional<int> commonCount(const ResultFigure& figure) {
    std::optional<int> common = 0;
    forEachValue(figure, [&](const Estimate& value) {
        if (value.count <= 0 || !common)
            return;
        if (*common == 0)
            common = value.count;
        else if (*common != value.count)
            common.reset();
    });
    return common;
}

/// The n of single values, such as the overlaps of sets, says nothing.
std::string titleWithCount(const std::string& title, std::optional<int> common) {
    if (common.value_or(0) <= 1)
        return title;
    return fmt::format("{}{}n = {}", title, title.empty() ? "" : ", ", *common);
}

/// A sentence that says what is seen: what the figure is, and its largest and smallest value.
std::string summaryOf(const ResultFigure& figure) {
    if (isFilm(figure))
        return fmt::format(
            "{}: {} changes of the set of skipped sublayers.", figure.title, figure.panels.size());
    if (figure.kind == FigureKind::LayerGrids)
        return fmt::format("{}: {} sets of skipped sublayers.", figure.title, figure.panels.size());
    const ResultTable table = figureTable(figure);
    const ResultCell* least = nullptr;
    const ResultCell* most = nullptr;
    for (const auto& row : table.rows) {
        for (const ResultCell& cell : row) {
            if (!cell.value || !isDrawable(cell.value->value))
                continue;
            if (!least || cell.value->value < least->value->value)
                least = &cell;
            if (!most || cell.value->value > most->value->value)
                most = &cell;
        }
    }
    if (!most)
        return figure.title + ": no values.";
    return fmt::format(
        "{}: {} from {} to {}.", figure.title, figure.y.title, least->text, most->text);
}

ResultCell valueCell(const Estimate& value, bool showsCount) {
    if (!isDrawable(value.value))
        return {"–"};
    std::string details;
    if (value.low && value.high)
        details = fmt::format("{:.3g} to {:.3g}", *value.low, *value.high);
    if (showsCount && value.count > 0)
        details += fmt::format("{}n = {}", details.empty() ? "" : ", ", value.count);
    const std::string text = fmt::format("{:.3g}", value.value);
    return {details.empty() ? text : fmt::format("{} ({})", text, details), value};
}

/// Of a paper's value of no single place: the band along which it holds, or all.
std::string placeText(const ResultFigure& figure, const FigureSeries::Point& point) {
    for (std::size_t i = 0; point.until && i < figure.bands.size(); ++i) {
        if (figure.bands[i].first == point.x &&
            (i + 1 == figure.bands.size() || figure.bands[i + 1].first == *point.until))
            return figure.bands[i].second;
    }
    if (point.until)
        return "all";
    const auto index = static_cast<std::size_t>(std::max(point.x, 0.0));
    return index < figure.x.names.size() ? figure.x.names[index] : fmt::format("{:.6g}", point.x);
}

void addMatrixRows(const ResultFigure& figure, ResultTable& table) {
    const bool hasTitles = figure.panels.size() > 1;
    if (hasTitles)
        table.columns.emplace_back("Panel");
    const std::optional<int> common = commonCount(figure);
    table.columns.push_back(titleWithCount(figure.y.title, common));
    table.columns.insert(table.columns.end(), figure.x.names.begin(), figure.x.names.end());
    for (const FigurePanel& panel : figure.panels) {
        for (std::size_t i = 0; i < panel.cells.size() && i < figure.y.names.size(); ++i) {
            std::vector<ResultCell> row;
            if (hasTitles)
                row.push_back({panel.title, {}});
            row.push_back({figure.y.names[i], {}});
            for (const Estimate& cell : panel.cells[i])
                row.push_back(cell.count > 0 ? valueCell(cell, !common) : ResultCell{"–", {}});
            row.resize(table.columns.size());
            table.rows.push_back(std::move(row));
        }
    }
}

/// The layers of a kind of sublayer that a grid shows as skipped.
ResultCell skippedCell(const FigurePanel& panel, std::size_t kind) {
    std::string layers;
    for (std::size_t i = 0; kind < panel.cells.size() && i < panel.cells[kind].size(); ++i) {
        if (panel.cells[kind][i].value > 0.5)
            layers += (layers.empty() ? "" : " ") + fmt::to_string(i);
    }
    return {layers.empty() ? "none" : layers, {}};
}

void addGridRows(const ResultFigure& figure, ResultTable& table) {
    table.columns = {"Set", "Attention skipped", "MLP skipped", "Note"};
    for (const FigurePanel& panel : figure.panels)
        table.rows.push_back({{panel.title, {}},
                              skippedCell(panel, 0),
                              skippedCell(panel, 1),
                              {panel.series.empty() ? "" : panel.series.front().name, {}}});
}

void addFilmRows(const ResultFigure& figure, ResultTable& table) {
    table.columns = {"Search", "Set", "Seconds", "Matchness", "Attention skipped", "MLP skipped"};
    for (const FigurePanel& panel : figure.panels) {
        const FigureSeries::Point& change = panel.series.front().points.front();
        table.rows.push_back({{panel.group, {}},
                              {panel.title, {}},
                              {fmt::format("{:.3f}", change.x), Estimate{change.x}},
                              change.y.count > 0 ? ResultCell{fmt::format("{:.3f}", change.y.value),
                                                              Estimate{change.y.value}}
                                                 : ResultCell{"–", {}},
                              skippedCell(panel, 0),
                              skippedCell(panel, 1)});
    }
}

} // namespace

Drawing drawFigure(const ResultFigure& figure, const FigureCanvas& canvas) {
    if (figure.y.reference && !isDrawable(*figure.y.reference)) {
        ResultFigure without = figure;
        without.y.reference.reset();
        return drawFigure(without, canvas);
    }
    Drawing drawing;
    Painter painter(canvas, drawing);
    if (!figure.panels.empty()) {
        switch (figure.kind) {
        case FigureKind::Dots:
            if (figure.x.names.empty()) // along a number
                drawLines(figure, canvas, painter);
            else
                drawCategories(figure, canvas, painter);
            break;
        case FigureKind::Bars:
        case FigureKind::Stack:
            drawCategories(figure, canvas, painter);
            break;
        case FigureKind::Lines:
            drawLines(figure, canvas, painter);
            break;
        case FigureKind::Matrix:
            drawMatrix(figure, canvas, painter);
            break;
        case FigureKind::LayerGrids:
            if (isFilm(figure))
                drawLayerGrids(filmStrip(figure, canvas.mostPictures), canvas, painter);
            else
                drawLayerGrids(figure, canvas, painter);
            break;
        }
    }
    drawing.summary = summaryOf(figure);
    return drawing;
}

ResultTable figureTable(const ResultFigure& figure) {
    ResultTable table{figure.id, figure.title, {}, {}, figure.note};
    if (figure.kind == FigureKind::Matrix) {
        addMatrixRows(figure, table);
        return table;
    }
    if (isFilm(figure)) {
        addFilmRows(figure, table);
        return table;
    }
    if (figure.kind == FigureKind::LayerGrids) {
        addGridRows(figure, table);
        return table;
    }
    const std::optional<int> common = commonCount(figure);
    table.columns = {"Panel",
                     "Series",
                     figure.x.title.empty() ? "Name" : figure.x.title,
                     titleWithCount(figure.y.title, common)};
    for (const FigurePanel& panel : figure.panels) {
        for (const FigureSeries& series : panel.series) {
            for (const FigureSeries::Point& point : series.points)
                table.rows.push_back({{panel.title, {}},
                                      {series.isPaper && series.name != figure.overlayLabel
                                           ? series.name + ", " + figure.overlayLabel
                                           : series.name,
                                       {}},
                                      {placeText(figure, point), {}},
                                      valueCell(point.y, !common)});
        }
    }
    return table;
}

} // namespace engine
