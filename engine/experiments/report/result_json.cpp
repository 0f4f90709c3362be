// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/result_json.h"

#include "engine/experiments/json/json_file.h"
#include "engine/loading/files/byte_reader.h"

#include <array>

namespace engine {

// The members of every type by their names in JSON. They are not in an anonymous namespace, because
// the templates of member_json.h have to find them.

/// A name and a text that belong together.
struct NamedText {
    std::string name;
    std::string text;
};

/// Where a band of a figure begins.
struct NamedBand {
    double at = 0.0;
    std::string name;
};

inline constexpr std::array kFigureKindNames = {
    "dots", "bars", "lines", "stack", "matrix", "layer_grids"};
inline constexpr std::array kVerdictKindNames = {"gain", "no_gain", "finding", "refused"};

/// An enumerator by its name. An unknown name becomes the number behind the last one, which
/// checkResult() refuses.
template <typename V, typename Enum, typename Names>
void visitName(V& visit, const char* member, Enum& value, const Names& names) {
    const auto index = static_cast<std::size_t>(value);
    std::string name = index < names.size() ? names[index] : "";
    visit(member, name);
    if constexpr (std::is_same_v<V, MemberReader>)
        value = static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// A list of pairs as a list of objects.
template <typename Named, typename V, typename First, typename Second>
void visitPairs(V& visit, const char* member, std::vector<std::pair<First, Second>>& pairs) {
    std::vector<Named> named;
    for (const auto& [first, second] : pairs)
        named.push_back({first, second});
    visit(member, named);
    if constexpr (std::is_same_v<V, MemberReader>) {
        pairs.clear();
        for (auto& [first, second] : named)
            pairs.emplace_back(std::move(first), std::move(second));
    }
}

template <typename V> void visitMembers(V& visit, NamedText& r) {
    visit("name", r.name);
    visit("text", r.text);
}

template <typename V> void visitMembers(V& visit, NamedBand& r) {
    visit("at", r.at);
    visit("name", r.name);
}

template <typename V> void visitMembers(V& visit, Estimate& r) {
    visit("value", r.value);
    visit("low", r.low);
    visit("high", r.high);
    visit("count", r.count);
}

template <typename V> void visitMembers(V& visit, ResultCell& r) {
    visit("text", r.text);
    visit("value", r.value);
}

template <typename V> void visitMembers(V& visit, ResultTable& r) {
    visit("id", r.id);
    visit("title", r.title);
    visit("columns", r.columns);
    visit("rows", r.rows);
    visit("note", r.note);
}

template <typename V> void visitMembers(V& visit, FigureSeries::Point& r) {
    visit("x", r.x);
    visit("y", r.y);
    visit("behind_gap", r.isBehindGap);
    visit("until", r.until);
}

template <typename V> void visitMembers(V& visit, FigureSeries& r) {
    visit("name", r.name);
    visit("points", r.points);
    visit("is_paper", r.isPaper);
    visit("is_emphasised", r.isEmphasised);
}

template <typename V> void visitMembers(V& visit, FigurePanel& r) {
    visit("title", r.title);
    visit("series", r.series);
    visit("cells", r.cells);
    visit("is_summary", r.isSummary);
    visit("reference", r.reference);
    visit("group", r.group);
}

template <typename V> void visitMembers(V& visit, FigureAxis& r) {
    visit("title", r.title);
    visit("names", r.names);
    visit("reference", r.reference);
    visit("is_logarithmic", r.isLogarithmic);
}

template <typename V> void visitMembers(V& visit, ResultFigure& r) {
    visit("id", r.id);
    visit("title", r.title);
    visitName(visit, "kind", r.kind, kFigureKindNames);
    visit("x", r.x);
    visit("y", r.y);
    visit("panels", r.panels);
    visitPairs<NamedBand>(visit, "bands", r.bands);
    visit("overlay_label", r.overlayLabel);
    visit("note", r.note);
}

template <typename V> void visitMembers(V& visit, ExperimentVerdict& r) {
    visitName(visit, "kind", r.kind, kVerdictKindNames);
    visit("headline", r.headline);
    visit("cause", r.cause);
}

template <typename V> void visitMembers(V& visit, OriginText::Token& r) {
    visit("text", r.text);
    visit("rank", r.rank);
}

template <typename V> void visitMembers(V& visit, OriginText& r) {
    visit("title", r.title);
    visit("tokens", r.tokens);
}

template <typename V> void visitMembers(V& visit, ExperimentResult& r) {
    visit("recipe", r.recipe);
    visit("title", r.title);
    visit("source", r.source);
    visit("size", r.size);
    visit("verdict", r.verdict);
    visit("tables", r.tables);
    visit("figures", r.figures);
    visitPairs<NamedText>(visit, "measured", r.measured);
    visit("remarks", r.notes);
    visit("is_complete", r.isComplete);
    visit("origins", r.origins);
}

namespace {

constexpr JsonFileKind kResultKind = {
    .format = "swift-experiment-result",
    .version = 1,
    .what = "result of an experiment",
    .hint = "Make the result anew with swift-run experiment --merge --out FOLDER.",
    .limits = {.maxBytes = 256U << 20U, .maxDepth = 16, .maxNodes = 20'000'000},
    .indent = 1};

bool isFileName(const std::string& id) {
    return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

Error refuse(const std::string& where, const std::string& what) {
    return {ErrorCode::CorruptFile, fmt::format("{}: {}.", where, what), kResultKind.hint};
}

/// Whether every point lies in a category of its axis.
bool hasOnlyKnownCategories(const ResultFigure& figure) {
    const auto count = static_cast<double>(figure.x.names.size());
    for (const FigurePanel& panel : figure.panels) {
        for (const FigureSeries& series : panel.series) {
            for (const FigureSeries::Point& point : series.points) {
                if (!std::isfinite(point.x) || (count > 0.0 && (point.x < 0.0 || point.x >= count)))
                    return false;
            }
        }
    }
    return true;
}

bool hasRightCells(const ResultFigure& figure) {
    const bool isMatrix = figure.kind == FigureKind::Matrix;
    for (const FigurePanel& panel : figure.panels) {
        if (isMatrix && panel.cells.size() != figure.y.names.size())
            return false;
        if (figure.kind == FigureKind::LayerGrids && panel.cells.size() != 2)
            return false;
        for (const auto& row : panel.cells) {
            if (row.size() != (isMatrix ? figure.x.names.size() : panel.cells[0].size()))
                return false;
        }
    }
    return true;
}

Result<void> checkResult(const ExperimentResult& result, const std::string& where) {
    if (static_cast<std::size_t>(result.verdict.kind) >= kVerdictKindNames.size())
        return refuse(where, "the verdict is of an unknown kind");
    for (const ResultTable& table : result.tables) {
        if (!isFileName(table.id))
            return refuse(where, "the id of a table has other characters than letters and digits");
        for (const auto& row : table.rows) {
            if (row.size() != table.columns.size())
                return refuse(where,
                              "a row of the table " + table.id + " is not as long as its head");
        }
    }
    for (const ResultFigure& figure : result.figures) {
        if (!isFileName(figure.id))
            return refuse(where, "the id of a figure has other characters than letters and digits");
        if (static_cast<std::size_t>(figure.kind) >= kFigureKindNames.size())
            return refuse(where, "the figure " + figure.id + " is of an unknown kind");
        if (!hasOnlyKnownCategories(figure) || !hasRightCells(figure))
            return refuse(where, "the figure " + figure.id + " does not fit its axes");
    }
    return {};
}

} // namespace

std::string resultJson(const ExperimentResult& result) { return jsonFile(kResultKind, result); }

Result<ExperimentResult> parseResultJson(std::string_view text, const std::string& where) {
    ENGINE_TRY(ExperimentResult result, parseJsonFile<ExperimentResult>(kResultKind, text, where));
    ENGINE_TRY_DO(checkResult(result, where));
    return result;
}

Result<ExperimentResult> readResultFile(const std::filesystem::path& path) {
    ENGINE_TRY(const std::string text, readTextFile(path, kResultKind.limits.maxBytes));
    return parseResultJson(text, path.string());
}

} // namespace engine
