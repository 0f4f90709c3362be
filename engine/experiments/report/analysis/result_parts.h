// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/measures/measures.h"

#include <string>
#include <vector>

namespace engine {

// The parts of a result, each made from a wish of the recipe.

ResultTable makeTable(const RunData& data, const TableWish& wish);

/// A figure without data has no panels.
ResultFigure makeFigure(const RunData& data, const Recipe& recipe, const FigureWish& wish);

ExperimentVerdict makeVerdict(const RunData& data, const Recipe& recipe);

/// One text for each variant, prompt and seed whose rounds were kept.
std::vector<OriginText> makeOrigins(const RunData& data);

/// A part of a figure: whose values, and which measure.
struct FigureGroup {
    std::string label;
    std::string group; ///< empty: all
    std::vector<Filter> filters;
    std::string measure = {}; ///< empty: the other groupings say it
    bool isSummary = false;
};

/// The groups of a grouping of a figure ("task", "variant", "measure", "setting:NAME"); one for
/// all if it is empty.
std::vector<FigureGroup> figureGroups(const RunData& data,
                                      const FigureWish& wish,
                                      const std::string& grouping,
                                      const std::string& stage);

/// Fills the panels of a figure of these kinds.
/// Single points along seconds or prompts: every trial of a search, or for a speed one point a
/// series at the seconds that its search took.
void fillScatter(const RunData& data, const FigureWish& wish, ResultFigure& figure);

void fillLines(const RunData& data, const FigureWish& wish, ResultFigure& figure);
void fillMatrix(const RunData& data, const FigureWish& wish, ResultFigure& figure);
void fillLayerGrids(const RunData& data, const FigureWish& wish, ResultFigure& figure);

/// The measure's value in a selection; one that is refused because the baseline moved is counted.
std::optional<Estimate>
drawnValue(std::string_view measure, const Selection& selection, ResultFigure& figure);

/// What can be selected by all these filters.
Selection selectAll(const RunData& data,
                    const FigureWish& wish,
                    const std::string& stage,
                    std::initializer_list<const FigureGroup*> groups);

/// "the first of 3, 4 and 5" lists: "a", "a and b", "a, b and c".
std::string joined(const std::vector<std::string>& words);

} // namespace engine
