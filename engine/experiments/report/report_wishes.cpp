// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/report_wishes.h"

#include "engine/experiments/report/json_fields.h"

#include <nlohmann/json.hpp>

#include <array>

namespace engine {

namespace {

using WishJson = nlohmann::ordered_json;

constexpr std::array kKinds = {"dots", "bars", "lines", "stack", "matrix", "layer_grids"};
constexpr std::array kQuestions = {
    "speedup", "own_set", "best", "ablation", "lossless", "shares", "tokens", "stream", "search"};

TableWish readTable(const JsonValue& value, std::string_view where, std::optional<Error>& problem) {
    JsonFields fields(value, where, problem);
    TableWish wish;
    for (const char* name : {"id", "title", "metrics"})
        fields.need(name);
    fields.read("id", wish.id);
    fields.read("title", wish.title);
    fields.read("rows", wish.rows);
    fields.read("columns", wish.columns);
    fields.read("metrics", wish.metrics);
    fields.read("note", wish.note);
    fields.finish();
    if (wish.rows.empty() || wish.metrics.empty())
        fields.complain(value, "has no rows or no metrics");
    return wish;
}

FigureWish
readFigure(const JsonValue& value, std::string_view where, std::optional<Error>& problem) {
    JsonFields fields(value, where, problem);
    FigureWish wish;
    for (const char* name : {"id", "title", "kind"})
        fields.need(name);
    fields.read("id", wish.id);
    fields.read("title", wish.title);
    fields.read("kind", wish.kind, kKinds);
    fields.read("metrics", wish.metrics);
    fields.read("x", wish.x);
    fields.read("series", wish.series);
    fields.read("panels", wish.panels);
    fields.read("summary", wish.hasSummary);
    fields.read("bands", wish.bands);
    fields.read("only", wish.only);
    fields.read("note", wish.note);
    fields.finish();
    if (wish.metrics.empty())
        fields.complain(value, "has no metrics");
    return wish;
}

PaperValue
readPaperValue(const JsonValue& value, std::string_view where, std::optional<Error>& problem) {
    JsonFields fields(value, where, problem);
    PaperValue found;
    fields.need("figure");
    fields.need("value");
    fields.read("figure", found.figure);
    fields.read("panel", found.panel);
    fields.read("category", found.category);
    fields.read("value", found.value);
    fields.finish();
    return found;
}

} // namespace

Result<ReportWishes> readReportWishes(const JsonValue& value, std::string_view where) {
    std::optional<Error> problem;
    JsonFields fields(value, where, problem);
    ReportWishes wishes;
    fields.read("subject", wishes.subject);
    fields.read("question", wishes.question, kQuestions);
    for (const JsonValue& item : fields.items("tables"))
        wishes.tables.push_back(readTable(item, where, problem));
    for (const JsonValue& item : fields.items("figures"))
        wishes.figures.push_back(readFigure(item, where, problem));
    fields.read("paper_label", wishes.paperLabel);
    for (const JsonValue& item : fields.items("paper"))
        wishes.paper.push_back(readPaperValue(item, where, problem));
    fields.finish();
    if (problem)
        return *problem;
    return wishes;
}

std::string reportWishesJson(const ReportWishes& wishes) {
    WishJson root = {{"subject", wishes.subject},
                     {"question", kQuestions.at(static_cast<std::size_t>(wishes.question))},
                     {"tables", WishJson::array()},
                     {"figures", WishJson::array()},
                     {"paper_label", wishes.paperLabel},
                     {"paper", WishJson::array()}};
    for (const TableWish& wish : wishes.tables)
        root["tables"].push_back({{"id", wish.id},
                                  {"title", wish.title},
                                  {"rows", wish.rows},
                                  {"columns", wish.columns},
                                  {"metrics", wish.metrics},
                                  {"note", wish.note}});
    for (const FigureWish& wish : wishes.figures)
        root["figures"].push_back({{"id", wish.id},
                                   {"title", wish.title},
                                   {"kind", kKinds.at(static_cast<std::size_t>(wish.kind))},
                                   {"metrics", wish.metrics},
                                   {"x", wish.x},
                                   {"series", wish.series},
                                   {"panels", wish.panels},
                                   {"summary", wish.hasSummary},
                                   {"bands", wish.bands},
                                   {"only", wish.only},
                                   {"note", wish.note}});
    for (const PaperValue& value : wishes.paper)
        root["paper"].push_back({{"figure", value.figure},
                                 {"panel", value.panel},
                                 {"category", value.category},
                                 {"value", value.value}});
    return root.dump(1);
}

} // namespace engine
