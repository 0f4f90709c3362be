// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace engine {

namespace {

FigureKind kindOf(const std::string& name) {
    if (name == "bars")
        return FigureKind::Bars;
    if (name == "lines")
        return FigureKind::Lines;
    if (name == "stack")
        return FigureKind::Stack;
    if (name == "matrix")
        return FigureKind::Matrix;
    return name == "layer_grids" ? FigureKind::LayerGrids : FigureKind::Dots;
}

bool isOverVanilla(const FigureWish& wish) {
    return !wish.y.empty() && measureInfo(wish.y.front()).isOverVanilla;
}

/// The variant that the verdict is about; null if several were made of it.
const ReportVariant* subjectOf(const RunData& data, const Recipe& recipe) {
    const std::string& name = recipe.verdict.variant;
    const ReportVariant* found = nullptr;
    for (const auto& variant : data.variants()) {
        if (variant->name != name && !(variant->planned && variant->planned->base == name))
            continue;
        if (found)
            return nullptr;
        found = variant.get();
    }
    return found;
}

bool isSubject(const RunData& data, const Recipe& recipe, const std::string& variant) {
    const ReportVariant* subject = subjectOf(data, recipe);
    return subject && subject->name == variant;
}

/// Of lines that are variants, that of the subject.
void emphasiseSubject(const RunData& data,
                      const Recipe& recipe,
                      const FigureWish& wish,
                      ResultFigure& figure) {
    const ReportVariant* subject = subjectOf(data, recipe);
    if (wish.series != "variant" || !subject)
        return;
    for (FigurePanel& panel : figure.panels) {
        for (FigureSeries& line : panel.series)
            line.isEmphasised =
                line.name == subject->label || line.name.starts_with(subject->label + ", ");
    }
}

/// The panels of dots and bars: behind those of the tasks stands one for all tasks together.
std::vector<FigureGroup>
panelsOf(const RunData& data, const FigureWish& wish, const std::string& stage) {
    std::vector<FigureGroup> panels = figureGroups(data, wish, wish.panels, stage);
    if (wish.panels == "task" && panels.size() > 1)
        panels.push_back({"All tasks", {}, {}, {}, true});
    return panels;
}

/// The parts of a stack, by their short names.
std::vector<FigureGroup> partsOf(const FigureWish& wish) {
    std::vector<FigureGroup> parts;
    for (const std::string& measure : wish.y)
        parts.push_back({std::string(measureInfo(measure).heading), measure, {}, measure});
    return parts;
}

/// Points of categories: one for each category that has a value.
void fillCategories(const RunData& data,
                    const Recipe& recipe,
                    const FigureWish& wish,
                    ResultFigure& figure) {
    const std::string stage = data.stageOf(wish.stage);
    const std::vector<FigureGroup> categories = figureGroups(data, wish, wish.x, stage);
    for (const FigureGroup& category : categories)
        figure.x.names.push_back(category.label);
    const bool isStack = figure.kind == FigureKind::Stack;
    const std::vector<FigureGroup> series =
        isStack ? partsOf(wish) : figureGroups(data, wish, wish.series, stage);
    for (const FigureGroup& panel : panelsOf(data, wish, stage)) {
        FigurePanel made{panel.label, {}, {}, panel.isSummary};
        for (const FigureGroup& one : series) {
            for (const std::string& measure : wish.y) {
                if ((!one.measure.empty() && one.measure != measure) ||
                    (!panel.measure.empty() && panel.measure != measure))
                    continue;
                FigureSeries plain{one.label.empty() ? measureLabel(measure) : one.label, {}};
                FigureSeries emphasised = plain;
                emphasised.isEmphasised = true;
                for (std::size_t i = 0; i < categories.size(); ++i) {
                    const auto value =
                        drawnValue(measure,
                                   selectAll(data, wish, stage, {&panel, &one, &categories[i]}),
                                   figure);
                    const bool isTheSubject =
                        (wish.x == "variant" && isSubject(data, recipe, categories[i].group)) ||
                        (wish.series == "variant" && isSubject(data, recipe, one.group));
                    if (value)
                        (isTheSubject && !isStack ? emphasised : plain)
                            .points.push_back({static_cast<double>(i), *value});
                }
                for (FigureSeries& found : std::vector{plain, emphasised}) {
                    if (!found.points.empty())
                        made.series.push_back(std::move(found));
                }
            }
        }
        if (!made.series.empty())
            figure.panels.push_back(std::move(made));
    }
}

/// The panel of a paper's value; null if the figure has none. A value of all tasks belongs to the
/// panel of all of them, or to the only one.
FigurePanel* panelOf(const RunData& data,
                     const FigureWish& wish,
                     ResultFigure& figure,
                     const OverlayValue& value) {
    const std::string task = wish.x == "task" ? std::string() : value.task;
    const auto isItsOwn = [&](const FigurePanel& panel) {
        if (wish.panels == "task")
            return task.empty() ? panel.isSummary || figure.panels.size() == 1
                                : !panel.isSummary && panel.title == data.label("task", task);
        if (wish.panels == "variant")
            return panel.title ==
                   data.label(wish.x.starts_with("setting:") ? "base" : "variant", value.variant);
        return wish.panels != "measure" || panel.title == measureLabel(value.measure);
    };
    const auto found = std::find_if(figure.panels.begin(), figure.panels.end(), isItsOwn);
    return found == figure.panels.end() ? nullptr : &*found;
}

/// Where a paper's value stands on the x axis: at one place, or all along it until another.
struct PaperPlace {
    double x = 0.0;
    std::optional<double> until = {};
};

/// A value of no single place belongs to all of ours, or to those of its task.
std::optional<PaperPlace> spanOf(const RunData& data,
                                 const FigureWish& wish,
                                 const ResultFigure& figure,
                                 const std::string& task) {
    std::optional<PaperPlace> all;
    for (const FigurePanel& panel : figure.panels) {
        for (const FigureSeries& series : panel.series) {
            for (const FigureSeries::Point& point : series.points) {
                if (series.isPaper)
                    continue;
                if (!all)
                    all = PaperPlace{point.x, point.x};
                all->x = std::min(all->x, point.x);
                all->until = std::max(*all->until, point.x);
            }
        }
    }
    if (!all || task.empty() || wish.panels == "task" ||
        data.groups(data.stageOf(wish.stage), "task", wish.variants) ==
            std::vector<std::string>{task})
        return all;
    const std::string label = data.label("task", task);
    for (std::size_t i = 0; i < figure.bands.size(); ++i) {
        if (figure.bands[i].second == label)
            return PaperPlace{figure.bands[i].first,
                              i + 1 < figure.bands.size() ? figure.bands[i + 1].first
                                                          : *all->until};
    }
    return std::nullopt;
}

std::optional<PaperPlace> placeOnAxis(const RunData& data,
                                      const FigureWish& wish,
                                      const ResultFigure& figure,
                                      const OverlayValue& value) {
    if (figure.x.names.empty()) { // along numbers
        if (value.x)
            return PaperPlace{*value.x, {}};
        return spanOf(data, wish, figure, value.task);
    }
    std::string label;
    if (wish.x == "variant") {
        const ReportVariant* variant = data.variant(value.variant);
        label = variant ? variant->label : std::string();
    } else if (wish.x == "task") {
        if (value.task.empty() && figure.kind == FigureKind::Stack) // of all tasks together
            return PaperPlace{0.0, static_cast<double>(figure.x.names.size() - 1)};
        label = data.label("task", value.task);
    }
    const auto found = std::find(figure.x.names.begin(), figure.x.names.end(), label);
    if (label.empty() || found == figure.x.names.end())
        return std::nullopt;
    return PaperPlace{static_cast<double>(found - figure.x.names.begin()), {}};
}

/// A paper's value stands in the row of its variant, at the part of a stack, or with the line of
/// its measure, if there are such.
std::string paperName(const FigureWish& wish,
                      const ResultFigure& figure,
                      const RecipeOverlay& overlay,
                      const OverlayValue& value,
                      const ReportVariant* variant) {
    if (figure.kind == FigureKind::Stack)
        return std::string(measureInfo(value.measure).heading);
    if (wish.series == "variant" && variant)
        return variant->label;
    return wish.series == "measure" ? measureLabel(value.measure) : overlay.label;
}

void addOverlays(const RunData& data,
                 const Recipe& recipe,
                 const FigureWish& wish,
                 ResultFigure& figure) {
    for (const RecipeOverlay& overlay : recipe.overlays) {
        for (const OverlayValue& value : overlay.values) {
            if (std::find(wish.y.begin(), wish.y.end(), value.measure) == wish.y.end())
                continue;
            const ReportVariant* variant = data.variant(value.variant);
            const auto place = placeOnAxis(data, wish, figure, value);
            FigurePanel* panel = panelOf(data, wish, figure, value);
            if (!place || !panel)
                continue;
            // Along the axis it is beside ours only, and where the figure tells its task.
            const bool isSeen =
                place->until ? variant || value.variant.empty()
                             : value.task.empty() || wish.panels == "task" || wish.x == "task";
            if (!isSeen)
                continue;
            const std::string name = paperName(wish, figure, overlay, value, variant);
            auto series =
                std::find_if(panel->series.begin(), panel->series.end(), [&](const auto& known) {
                    return known.isPaper && known.name == name;
                });
            if (series == panel->series.end())
                series = panel->series.insert(series, {name, {}, true, false});
            series->points.push_back({place->x, {value.value, {}, {}, 0}, false, place->until});
            figure.overlayLabel = overlay.label;
        }
    }
}

} // namespace

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0)
            text += i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
    return text;
}

std::optional<Estimate>
drawnValue(std::string_view measure, const Selection& selection, ResultFigure& figure) {
    const auto value = measured(measure, selection);
    if (!value && refusedFor(measure, selection))
        ++figure.refusedPoints;
    return value;
}

std::vector<FigureGroup> figureGroups(const RunData& data,
                                      const FigureWish& wish,
                                      const std::string& grouping,
                                      const std::string& stage) {
    if (grouping.empty())
        return {FigureGroup{}};
    std::vector<FigureGroup> groups;
    if (grouping == "measure") {
        for (const std::string& measure : wish.y)
            groups.push_back({measureLabel(measure), measure, {}, measure});
        return groups;
    }
    // Along a setting, the variants that differ only by it are one.
    if (grouping == "variant" && wish.x.starts_with("setting:")) {
        for (const std::string& group : data.groups(stage, "base", wish.variants)) {
            if (!group.starts_with("vanilla"))
                groups.push_back({data.label("base", group), group, {{"base", group}}});
        }
        return groups;
    }
    for (const std::string& group : data.groups(stage, grouping, wish.variants)) {
        // The line at 1.0 is vanilla; elsewhere it is a category of its own, but never a series.
        if (grouping == "variant" && data.variant(group)->isVanilla &&
            (isOverVanilla(wish) || wish.x != "variant" || wish.kind == "stack"))
            continue;
        groups.push_back({data.label(grouping, group), group, {{grouping, group}}});
    }
    return groups;
}

Selection selectAll(const RunData& data,
                    const FigureWish& wish,
                    const std::string& stage,
                    std::initializer_list<const FigureGroup*> groups) {
    std::vector<Filter> filters;
    bool namesVariant = false;
    for (const FigureGroup* group : groups) {
        filters.insert(filters.end(), group->filters.begin(), group->filters.end());
        for (const Filter& filter : group->filters)
            namesVariant = namesVariant || filter.first == "variant";
    }
    Selection found = data.select(stage, filters, wish.variants);
    // Vanilla's own answers would drown the others unless it is asked for by name.
    const auto isVanilla = [](const auto* item) { return item->place.variant->isVanilla; };
    if (!namesVariant)
        std::erase_if(found.runs, isVanilla);
    return found;
}

ResultFigure makeFigure(const RunData& data, const Recipe& recipe, const FigureWish& wish) {
    ResultFigure figure;
    figure.id = wish.id;
    figure.title = wish.title;
    figure.kind = kindOf(wish.kind);
    figure.note = wish.note;
    if (!wish.y.empty()) {
        const MeasureInfo& info = measureInfo(wish.y.front());
        figure.y.title = info.title;
        const bool hasSpeed = std::any_of(wish.y.begin(), wish.y.end(), [](const auto& measure) {
            return measureInfo(measure).isOverVanilla;
        });
        if (info.isOverVanilla || (hasSpeed && figure.kind == FigureKind::Lines))
            figure.y.reference = 1.0;
        if (wish.y.size() > 1 && figure.kind == FigureKind::Lines)
            figure.y.title.clear(); // the lines say what they are
    }
    switch (figure.kind) {
    case FigureKind::Lines:
        fillLines(data, wish, figure);
        emphasiseSubject(data, recipe, wish, figure);
        break;
    case FigureKind::Matrix:
        fillMatrix(data, wish, figure);
        break;
    case FigureKind::LayerGrids:
        fillLayerGrids(data, wish, figure);
        break;
    case FigureKind::Dots:
        if (wish.x == "time" || wish.x == "prompt") {
            fillScatter(data, wish, figure);
            emphasiseSubject(data, recipe, wish, figure);
            break;
        }
        [[fallthrough]];
    case FigureKind::Bars:
    case FigureKind::Stack:
        fillCategories(data, recipe, wish, figure);
        break;
    }
    if (figure.kind != FigureKind::Matrix && figure.kind != FigureKind::LayerGrids)
        addOverlays(data, recipe, wish, figure);
    if (figure.refusedPoints > 0)
        figure.note += fmt::format("{}{} left out: vanilla moved by more than {:.0f} % beside {}. "
                                   "Repeat on a quiet machine.",
                                   figure.note.empty() ? "" : " ",
                                   figure.refusedPoints == 1
                                       ? "One speedup is"
                                       : fmt::format("{} speedups are", figure.refusedPoints),
                                   kBaselineLimit * 100.0,
                                   figure.refusedPoints == 1 ? "it" : "them");
    return figure;
}

} // namespace engine
