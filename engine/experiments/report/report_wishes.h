// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "engine/loading/json/json_document.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

// What a recipe wants to see in its report: plain values, read from the recipe's member "report".
//
// A grouping is "variant", "task", "seed", "all", or the name of a value that the recipe gives its
// variants ("gamma"). A metric is one of analysis/metrics.h ("speedup"); a figure also takes
// those of analysis/figures.h ("jaccard").

/// A table: one row for each combination of the row groupings. The columns are the metrics or, with
/// a column grouping, one metric in each of its groups.
struct TableWish {
    std::string id;
    std::string title;
    std::vector<std::string> rows = {"variant"};
    std::string columns = {}; ///< a grouping; empty: the metrics are the columns
    std::vector<std::string> metrics;
    std::string note = {};
};

/// A figure. What `x` and `series` mean follows from its kind:
/// Dots, Bars: x is the grouping of the categories, series a second grouping (or none).
/// Lines: x is "prompt", "time" or a value of the variants; one line for each series and metric.
/// Stack: x is the grouping of the bars, the metrics are their segments.
/// Matrix: rows are the groups of `series`, columns those of x.
/// LayerGrids: one grid for each panel, of the set found last; with x = "plan" one for each set.
struct FigureWish {
    std::string id;
    std::string title;
    FigureKind kind = FigureKind::Dots;
    std::vector<std::string> metrics = {"speedup"};
    std::string x = "variant";
    std::string series = {};
    std::string panels = {};            ///< a grouping; empty: one panel
    bool hasSummary = false;            ///< a last panel of all groups together
    std::string bands = {};             ///< of lines over prompts: "task"
    std::vector<std::string> only = {}; ///< the variants shown; empty: all
    std::string note = {};
};

/// What the verdict answers.
enum class VerdictQuestion {
    Speedup,  ///< does the subject gain over vanilla, and if not, why not
    OwnSet,   ///< is each task's own set the fastest one on it (a matrix)
    Best,     ///< which variant is the fastest
    Ablation, ///< how much the subject loses without each of its parts
    Lossless, ///< are all answers vanilla's, token for token
    Shares,   ///< where the subject's time goes
    Tokens,   ///< how many tokens a pass of the model gives
    Stream,   ///< how speed and acceptance change along a stream
    Search,   ///< what the search cost and found
};

/// A figure that a paper prints, for the overlay.
struct PaperValue {
    std::string figure;
    std::string panel = {};    ///< the title of the panel; empty: the first
    std::string category = {}; ///< the name on the x axis, or a number
    double value = 0.0;
};

struct ReportWishes {
    std::string subject = {}; ///< the variant that the report is about; empty: the fastest one
    VerdictQuestion question = VerdictQuestion::Speedup;
    std::vector<TableWish> tables;
    std::vector<FigureWish> figures;
    std::string paperLabel = {}; ///< "paper, LLaMA-2-13B, RTX A6000"
    std::vector<PaperValue> paper = {};
};

/// Reads a recipe's member "report". `where` begins the messages (a path).
/// Errors: CorruptFile for a member that is unknown, missing or of another type.
Result<ReportWishes> readReportWishes(const JsonValue& value, std::string_view where);

/// The same as JSON text, indented by one space a level.
std::string reportWishesJson(const ReportWishes& wishes);

} // namespace engine
